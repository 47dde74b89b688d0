/** How the settings of concurrency are divided among the functions. */
import { describe, expect, it } from 'vitest';
import { reservedConcurrency } from '../../lib/concurrency-settings.ts';
import { parseSettings, SettingsError, type SettingsInput } from '../../lib/settings.ts';
import { resolved, nameOf, resourcesOf, template } from './template.ts';
import { heldLimit } from '../../lib/admission.ts';
import {
  creatingActions,
  leastBootstrapVersion,
  rolesOfTheStack,
} from '../../admin/preflight/questions/deployment.ts';
import { quotasFor } from '../../admin/preflight/quotas/quotas.ts';

const divided = (concurrency: SettingsInput['concurrency']): Readonly<Record<string, number>> =>
  Object.fromEntries(reservedConcurrency(parseSettings('lib/config/test.ts', { concurrency }).concurrency));

const pools = [
  ['api', 4, ['GenerateImage', 'GetCreation', 'CreateUpload', 'CancelCreation']],
  ['refunds', 1, ['RefundCharge']],
  ['deliveries', 1, ['DeliverWebhook']],
  ['reconciler', 1, ['Reconcile']],
  ['rendering', 3, ['RenderImageSmall', 'RenderImageLarge', 'RenderImage']],
] as const;

describe('the setting concurrency', () => {
  it('The setting concurrency reserves nothing unless a number is given', () => {
    expect(divided({})).toEqual({});
    expect(divided({ api: 'shared', rendering: 'shared' })).toEqual({});
  });

  it('A number for the API or for rendering is divided by the shares of the functions', () => {
    expect(divided({ api: 200 })).toEqual({
      GenerateImage: 91,
      GetCreation: 89,
      CreateUpload: 10,
      CancelCreation: 10,
    });
    expect(divided({ rendering: 1_000 })).toEqual({
      RenderImageSmall: 500,
      RenderImageLarge: 300,
      RenderImage: 200,
    });
  });

  it.each(pools)(
    'Every number of %s from %i on is divided without a rest, and no function gets none',
    (pool, least, names) => {
      for (const total of [least, least + 1, 7, 19, 20, 21, 99, 333, 1_000, 10_000]) {
        const parts = divided({ [pool]: total });
        expect(Object.keys(parts).sort()).toEqual([...names].sort());
        expect(Math.min(...Object.values(parts))).toBeGreaterThan(0);
        expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBe(total);
      }
    },
  );

  it.each(pools)('The functions of %s exist in the stack', (_pool, _least, names) => {
    const known = resolved.functions.map(({ id }) => nameOf(id));
    expect(known).toEqual(expect.arrayContaining([...names]));
  });

  it.each<[object, string]>([
    [{ api: 3 }, 'concurrency.api: must be a whole number from 4 to 10000, or "shared" (is 3)'],
    [{ rendering: 2 }, 'concurrency.rendering: must be a whole number from 3 to 10000, or "shared" (is 2)'],
    [{ refunds: 0 }, 'concurrency.refunds: must be a whole number from 1 to 10000, or "shared" (is 0)'],
    [
      { deliveries: 1.5 },
      'concurrency.deliveries: must be a whole number from 1 to 10000, or "shared" (is 1.5)',
    ],
    [
      { reconciler: 'all' },
      'concurrency.reconciler: must be a whole number from 1 to 10000, or "shared" (is "all")',
    ],
    [{ rendering: 10_001 }, 'must be a whole number from 3 to 10000, or "shared" (is 10001)'],
    [{ renderers: 5 }, 'concurrency.renderers: there is no such setting'],
  ])('The setting %o is refused with one line', (concurrency, line) => {
    const parse = (): unknown => parseSettings('lib/config/test.ts', { concurrency });
    expect(parse).toThrow(SettingsError);
    expect(parse).toThrow(line);
  });
});

const limitOf = (places: number | 'shared', input: Parameters<typeof parseSettings>[1] = {}): string =>
  heldLimit(places, parseSettings('lib/config/staging.ts', input));

describe('how many requests of an account are held at a door', () => {
  it.each([
    [100, '25'],
    [50, '12'],
    [8, '2'],
    // Never fewer than two.
    [1, '2'],
    // The item of the slots must stay small.
    [10_000, '500'],
  ])('An account may hold a quarter of %d places: %s', (places, limit) => {
    expect(limitOf(places)).toBe(limit);
  });

  it('A door that shares its executions counts 100 slots, or the executions of the AWS account if these are fewer', () => {
    expect(limitOf('shared')).toBe('25');
    expect(limitOf('shared', { alarms: { concurrentExecutions: 40 } })).toBe('10');
  });

  it('The setting is a percentage', () => {
    expect(limitOf(100, { heldSharePercent: 100 })).toBe('100');
    expect(() => limitOf(100, { heldSharePercent: 0 })).toThrow(
      'lib/config/staging.ts: heldSharePercent: must be a whole number from 1 to 100 (is 0)',
    );
  });
});

const { Resources = {}, Rules = {} } = template.toJSON() as {
  Resources?: Readonly<Record<string, { readonly Type: string }>>;
  Rules?: Readonly<Record<string, unknown>>;
};

describe('The preflight', () => {
  it('knows the version of the bootstrap stack that the template demands', () => {
    // The rule lists the versions that are too old, as texts.
    const tooOld = [...JSON.stringify(Rules['CheckBootstrapVersion']).matchAll(/"(\d+)"/g)].map(
      ([, digits]) => Number(digits),
    );
    expect(leastBootstrapVersion).toBe(Math.max(...tooOld) + 1);
  });

  it('asks for the right to create in every service that the template uses', () => {
    const services = Object.values(Resources).map(({ Type }) => Type.split('::').slice(0, 2).join('::'));
    // CloudFormation itself serves the custom resources, and the CDK's own metadata make nothing.
    const asked = [...new Set(services)].filter(
      (service) => !/^(Custom::|AWS::CDK|AWS::CloudFormation)/.test(service),
    );
    expect(asked.filter((service) => !(service in creatingActions))).toEqual([]);
    expect(Object.keys(creatingActions)).toEqual(expect.arrayContaining(asked));
  });

  it('wants room for all roles of the stack', () => {
    const roles = resourcesOf('AWS::IAM::Role').length;
    expect(rolesOfTheStack).toBeGreaterThanOrEqual(roles);
    expect(rolesOfTheStack).toBeLessThan(2 * roles);
  });
});

describe('The quotas for a load', () => {
  it.each([10, 1_000])(
    'have a throttle that the settings take, at %i creations a second of 60 s',
    (perSecond) => {
      const { gatewayRequestsPerSecond: ratePerSecond, gatewayBurst: burst } = quotasFor({
        perSecond,
        seconds: 60,
        kind: 'job',
        isPolled: true,
      });
      const throttling = { ratePerSecond, burst };
      expect(parseSettings('lib/config/crowd.ts', { throttling }).throttling).toEqual(throttling);
    },
  );
});
