/** The commands that make, change and revoke keys of the operator API. */
import { describe, expect, it } from 'vitest';
import {
  isNetwork,
  mayComeFrom,
  newOperatorKey,
  parseOperatorKey,
} from '../../service/operated/operator-key.ts';
import { fakeClock } from '../api/fakes.ts';
import { useOperatedService } from './admin-run.ts';

const operated = useOperatedService();

const create = (...options: readonly string[]): ReturnType<typeof operated.run> =>
  operated.run('operator-keys', 'create', '--name', 'shop', '--scopes', 'accounts:read', ...options);

describe('operator keys', () => {
  it('A key is shown once, listed without its text, changed and revoked', async () => {
    const made = await create('--from', '203.0.113.0/24', '2001:db8::/32', '--daily-credit-cap', '500');
    expect(made).toMatchObject({
      key: expect.stringMatching(/^dk_op_[0-9A-Za-z]{40}$/) as string,
      scopes: ['accounts:read'],
      from: ['203.0.113.0/24', '2001:db8::/32'],
      daily_credit_cap: 500,
      credited_today: 0,
      post_rate: 120,
      get_rate: 600,
      revoked_at: null,
    });
    const days = (Date.parse(String(made['expires_at'])) - operated.service.machine.clock.now()) / 86_400_000;
    expect(Math.round(days)).toBe(365);
    const id = String(made['id']);
    const { out } = await operated.admin('--json', 'operator-keys', 'list');
    expect(out).toContain(id);
    expect(out).not.toContain(String(made['key']));
    const changed = await operated.run(
      ...['operator-keys', 'set', id, '--from', 'none', '--daily-credit-cap', 'none', '--post-rate', '5'],
    );
    expect(changed).toMatchObject({ from: null, daily_credit_cap: null, post_rate: 5 });
    const first = await operated.run('operator-keys', 'revoke', id);
    expect(first['revoked_at']).toMatch(/Z$/);
    expect((await operated.run('operator-keys', 'revoke', id))['revoked_at']).toBe(first['revoked_at']);
  });

  it.each([
    [['--scopes', 'wallet'], '--scopes: must be one of accounts:read, '],
    [['--scopes', 'accounts:read', '--from', '203.0.113.7'], '--from: "203.0.113.7" is no network, such as '],
    [['--scopes', 'accounts:read', '--daily-credit-cap', '-1'], '--daily-credit-cap: must be at least 0.'],
    [['--scopes', 'accounts:read', '--expires', '2020-01-01T00:00:00Z'], '--expires: must be in the future.'],
    [
      [
        '--scopes',
        'accounts:read',
        '--from',
        ...Array.from({ length: 11 }, (_, place) => `10.0.${place}.0/24`),
      ],
      '--from: at most 10 networks.',
    ],
  ])('The options %j are refused with a sentence', async (options, sentence) => {
    const said = await operated.refused('operator-keys', 'create', '--name', 'shop', ...options);
    expect(said).toContain(sentence);
  });

  it('A command for a key that is not there says so', async () => {
    const absent = 'There is no operator key Absent0001: `operator-keys list` shows them.';
    expect(await operated.refused('operator-keys', 'revoke', 'Absent0001')).toBe(absent);
    expect(await operated.refused('operator-keys', 'set', 'Absent0001', '--get-rate', '1')).toBe(absent);
  });

  it('A key with one wrong character is no key, and its networks are those of both families', () => {
    const services = { clock: fakeClock(), randomBytes: (count: number) => new Uint8Array(count).fill(7) };
    const { key, record } = newOperatorKey({ name: 'shop', scopes: [] }, services);
    expect(parseOperatorKey(key)).toEqual({ id: record.id, hash: record.hash });
    expect(parseOperatorKey(`${key.slice(0, -1)}_`)).toBeUndefined();
    expect(parseOperatorKey(key.replace('dk_op_7', 'dk_op_8'))).toBeUndefined();
    const from = ['203.0.113.0/24', '2001:db8::/32'];
    const addresses = [
      '203.0.113.9',
      '::ffff:203.0.113.9',
      '2001:db8::1',
      '203.0.114.1',
      '2001:db9::1',
      'text',
    ];
    expect(addresses.map((address) => mayComeFrom({ from }, address))).toEqual([
      ...[true, true, true, false, false, false],
    ]);
    expect(['1.2.3.4/33', '1.2.3.4', 'a/8', '::/0'].map(isNetwork)).toEqual([false, false, false, true]);
  });
});
