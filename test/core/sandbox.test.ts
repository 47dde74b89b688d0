import { describe, expect, it } from 'vitest';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { accountFromItem } from '../../adapters/dynamodb/mapping.ts';
import type { Account } from '../../core/account.ts';
import { enabledRoutes, isVisible } from '../../core/catalog.ts';
import { asOffered, directiveProblems, type SandboxSetting } from '../../core/sandbox.ts';
import { anAccount } from '../fixtures/records.ts';
import { without } from '../fixtures/values.ts';
import stored from '../fixtures/releases/9c400ea/table.json' with { type: 'json' };
import { everything, model } from './catalog-fixture.ts';

const marked = anAccount();
const unmarked: Account = without(anAccount(), 'sandbox');

describe('the offer of the sandbox', () => {
  it.each<[SandboxSetting, boolean, boolean]>([
    ['off', false, false],
    ['marked', true, false],
    ['on', true, true],
  ])('The setting %s offers it to a marked account: %j, and to another account: %j', (setting, ...offers) => {
    const isOffered = [marked, unmarked].map(
      (account) => asOffered(account, setting).policy.withoutSandbox === undefined,
    );
    expect(isOffered).toEqual(offers);
  });

  it('An account without the sandbox sees no model that only the sandbox renders', () => {
    const policy = { ...everything, withoutSandbox: true } as const;
    expect(isVisible(model('sandbox-pro'), policy)).toBe(false);
    expect(isVisible(model('gpt-image-2'), policy)).toBe(true);
  });

  it('A model with other routes, too, loses only its routes of the sandbox', () => {
    const [route] = model('sandbox-pro').routes;
    if (!route) throw new Error('the model has a route');
    const mixed = { ...model('sandbox-pro'), routes: [{ ...route, provider: 'fal' as const }, route] };
    const policy = { ...everything, withoutSandbox: true } as const;
    expect(isVisible(mixed, policy)).toBe(true);
    expect(
      enabledRoutes(mixed, policy, { enabledProviders: ['fal'] }).map(({ provider }) => provider),
    ).toEqual(['fal']);
  });

  it('An account that an older release wrote has no mark', () => {
    const old = stored.items.find(({ sk }) => sk.S === 'ACCOUNT');
    const account = accountFromItem(unmarshall(old as unknown as Parameters<typeof unmarshall>[0]));
    expect(account).not.toHaveProperty('sandbox');
    expect(asOffered(account, 'marked').policy).toEqual({ ...account.policy, withoutSandbox: true });
  });
});

describe('the directives of a prompt', () => {
  const sandbox = [{ provider: 'fal' as const }, { provider: 'sandbox' as const }];

  it.each(['hang', 'crash', 'delay=9m', 'async=3s', 'hang=sandbox', 'delay'])(
    'The directive %s needs a marked account, anywhere in the prompt',
    (directive) => {
      const prompt = `a [sandbox:fail] lake [sandbox:${directive}] at dawn`;
      expect(directiveProblems(prompt, sandbox, unmarked)).toMatchObject([
        { field: 'prompt', code: 'invalid_value' },
      ]);
      expect(directiveProblems(prompt, sandbox, marked)).toEqual([]);
    },
  );

  it('A prompt that no route of the sandbox may get is free', () => {
    expect(directiveProblems('[sandbox:hang]', [{ provider: 'fal' }], unmarked)).toEqual([]);
  });

  it('A prompt without such a directive is free', () => {
    for (const prompt of [null, '', 'hang', '[sandbox:fail]', '[sandbox:hangs]', '[Sandbox:hang]'])
      expect(directiveProblems(prompt, sandbox, unmarked)).toEqual([]);
  });
});
