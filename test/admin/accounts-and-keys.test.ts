/** The commands `accounts` and `keys` against the whole service. */
import { describe, expect, it } from 'vitest';
import { accountView } from '../../admin/commands/accounts.ts';
import { resultsChange } from '../../admin/commands/results.ts';
import { useOperatedService } from './admin-run.ts';

const operated = useOperatedService();

describe('an account', () => {
  const set = (...options: string[]): Promise<unknown> =>
    operated.run('accounts', 'set', operated.client.account.id, ...options);
  const stored = () => operated.service.account(operated.client.account.id);

  it('gets another name by `accounts set --name`', async () => {
    expect(await set('--name', 'Atelier Zoë')).toMatchObject({ name: 'Atelier Zoë' });
  });

  it('chooses signed addresses and their minutes, and takes both back', async () => {
    const signed = { results: 'signed', results_minutes: 10_080 };
    expect(await set('--results', 'signed', '--results-minutes', '10080')).toMatchObject(signed);
    expect(await stored()).toMatchObject({ results: 'signed', resultsMinutes: 10_080 });
    const back = { results: 'unguessable', results_minutes: 60 };
    expect(await set('--results', 'unguessable', '--results-minutes', '')).toMatchObject(back);
    expect(await stored()).toHaveProperty('results', 'unguessable');
    expect(await stored()).not.toHaveProperty('resultsMinutes');
    expect(await set('--results', '')).toMatchObject(back);
    expect(await stored()).not.toHaveProperty('results');
  });

  it('is shown with the addresses that its results get, by its choice and by the setting of the service', async () => {
    const { results: _none, ...account } = await stored();
    const shown = (signing: string, results?: 'signed' | 'unguessable'): unknown =>
      accountView({ ...account, ...(results && { results }) }, { signing })['results'];
    expect(['off', 'unguessable', 'signed'].map((signing) => shown(signing))).toEqual([
      ...['unguessable', 'unguessable', 'signed'],
    ]);
    expect(shown('unguessable', 'signed')).toBe('signed');
    expect(shown('signed', 'unguessable')).toBe('signed');
  });

  it('cannot choose what the service does not have', () => {
    expect(() => resultsChange({ results: 'signed' }, 'off')).toThrow(
      '--results: must be unguessable: this service has no keys that sign addresses until its setting `resultKeys` is true.',
    );
    expect(() => resultsChange({ results: 'unguessable' }, 'signed')).toThrow(
      '--results: must be signed: this service signs the addresses of all accounts.',
    );
    expect(resultsChange({ resultsMinutes: '1' }, 'signed')).toEqual({ resultsMinutes: 1 });
  });

  it('hides every model that several commands hide at the same time', async () => {
    const hidden = async (): Promise<readonly string[]> => (await stored()).policy.hiddenModels.toSorted();
    const models = ['sandbox-pro', 'sandbox-sketch', 'sandbox-standard'];
    await Promise.all(models.map((model) => set('--hide-model', model)));
    expect(await hidden()).toEqual(models);
    await set('--show-model', 'sandbox-pro');
    expect(await hidden()).toEqual(['sandbox-sketch', 'sandbox-standard']);
  });

  it.each([
    [['--providers', ''], '--providers: a name is missing; write none for no provider at all.'],
    [['--providers', 'sandbox,'], '--providers: a name is missing; write none for no provider at all.'],
    [['--results', 'secret'], '--results: must be one of unguessable, signed.'],
    [['--results-minutes', '0'], '--results-minutes: "0" is no whole number from 1 to 10080.'],
    [['--name', ' '], '--name: must not be empty.'],
    [['--name', 'x'.repeat(101)], '--name: must have at most 100 characters.'],
    [['--name', 'a\u001b[2Jb'], '--name: must not contain control characters.'],
    [
      ['--credit-line', '999999999'],
      '--credit-line: what an account can spend must not exceed 1000000000.00 USD.',
    ],
  ])('stays as it is after the wrong options %j', async (options, sentence) => {
    const before = await stored();
    expect(await operated.refused('accounts', 'set', before.id, ...options)).toBe(sentence);
    expect(await stored()).toEqual(before);
  });

  it('may use no provider after `--providers none`', async () => {
    expect(await set('--providers', 'none')).toMatchObject({ providers: [] });
  });

  it('is not made at all when its opening balance cannot be written', async () => {
    const names = async (): Promise<unknown[]> =>
      (await operated.service.operator.accounts.list()).map(({ name }) => name);
    operated.service.machine.faults.set({
      call: 'dynamodb:TransactWriteItems',
      caller: 'operator',
      error: 'AccessDenied',
    });
    await operated.refused('accounts', 'create', '--name', 'half', '--balance', '5');
    expect(await names()).not.toContain('half');
    const made = await operated.run('accounts', 'create', '--name', 'half', '--balance', '5');
    expect(made).toMatchObject({ balance: 5 });
    expect(await names()).toContain('half');
  });

  it('is not created without a name or with more than the largest amount', async () => {
    expect(await operated.refused('accounts', 'create', '--name', '')).toBe('--name: must not be empty.');
    const amounts = ['--balance', '600000000', '--credit-line', '400000001'];
    expect(await operated.refused('accounts', 'create', '--name', 'much', ...amounts)).toMatch(
      /must not exceed 1000000000\.00 USD\.$/,
    );
  });
});

describe('the limits of a key', () => {
  it('Every limit is set at creation, shown, changed alone, and removed by none or an empty value', async () => {
    const { id } = operated.client.account;
    const expires = '2099-01-31T18:00:00+02:00';
    const made = await operated.run(
      ...['keys', 'create', id, '--name', 'limited', '--daily-cap', '2', '--monthly-cap', '5'],
      ...['--total-cap', '100', '--per-user-monthly-cap', '0.5'],
      ...['--models', 'sandbox-sketch,sandbox-pro', '--expires', expires],
    );
    const limits = {
      daily_cap: 2,
      spent_today: 0,
      monthly_cap: 5,
      spent_this_month: 0,
      total_cap: 100,
      spent_total: 0,
      per_user_monthly_cap: 0.5,
      models: ['sandbox-sketch', 'sandbox-pro'],
      expires_at: '2099-01-31T16:00:00.000Z',
    };
    expect(made).toMatchObject(limits);
    const key = (made as { id: string }).id;
    expect(await operated.run('keys', 'show', id, key)).toMatchObject(limits);
    const change = ['--daily-cap', 'none', '--models', '', '--total-cap', '7'];
    expect(await operated.run('keys', 'set', id, key, ...change)).toMatchObject({
      ...limits,
      daily_cap: null,
      models: null,
      total_cap: 7,
    });
    const none = ['monthly-cap', 'total-cap', 'per-user-monthly-cap', 'expires'];
    expect(
      await operated.run('keys', 'set', id, key, ...none.flatMap((name) => [`--${name}`, 'none'])),
    ).toMatchObject({ monthly_cap: null, total_cap: null, per_user_monthly_cap: null, expires_at: null });
  });

  it.each([
    [[], 'Nothing to change: name at least one option (see --help).'],
    [['--daily-cap', '-1'], '--daily-cap: must be at least 0.'],
    [['--models', 'sandbox-sketch,'], '--models: a name is missing; write none for all models.'],
    [['--models', 'absent'], 'There is no model absent in the catalog.'],
    [['--expires', '2020-01-01T00:00:00Z'], '--expires: must be in the future.'],
    [['--expires', '2099-02-31T00:00:00Z'], /^--expires: "2099-02-31T00:00:00Z" is no moment of RFC 3339/],
    [['--expires', 'tomorrow'], /^--expires: "tomorrow" is no moment of RFC 3339/],
  ])('Wrong limits %j are refused in one sentence', async (options, sentence) => {
    const { account, record } = operated.client;
    expect(await operated.refused('keys', 'set', account.id, record.id, ...options)).toMatch(sentence);
  });

  it('The creations of one user are listed alone', async () => {
    const { account, key } = operated.client;
    const body = { model: 'sandbox-sketch', prompt: 'a lake', user: 'customer-7' };
    await operated.service.send('/images/generate', { key, body });
    await operated.service.send('/images/generate', { key, body: { ...body, user: 'customer-8' } });
    const { data } = (await operated.run('creations', 'list', account.id, '--user', 'customer-7')) as {
      data: { id: string }[];
    };
    expect(data).toHaveLength(1);
    expect(await operated.run('creations', 'show', data[0]?.id ?? '')).toMatchObject({ user: 'customer-7' });
  });
});

describe('a key', () => {
  it('gets another cap or none, and the next request follows it', async () => {
    const { account, key, record } = operated.client;
    const body = { model: 'sandbox-sketch', prompt: 'a lake' };
    const generate = async (): Promise<number> =>
      (await operated.service.send('/images/generate', { key, body })).status;
    const set = (cap: string): Promise<unknown> =>
      operated.run('keys', 'set', account.id, record.id, '--monthly-cap', cap);
    expect(await set('0.001')).toMatchObject({ id: record.id, monthly_cap: 0.001 });
    expect(await generate()).toBe(402);
    expect(await set('none')).toMatchObject({ monthly_cap: null });
    expect(await generate()).toBe(202);
    expect(await operated.refused('keys', 'set', account.id, 'Absent', '--monthly-cap', '1')).toMatch(
      /^The account has no key Absent: /,
    );
    expect(await operated.refused('keys', 'create', account.id, '--name', '')).toBe(
      '--name: must not be empty.',
    );
  });

  it.each([
    ['is revoked although other transactions conflict', 'TransactionConflict', 'before', 15, 'revokedAt'],
    ['is revoked although the table loses its answers', 'Timeout', 'after', 4, 'revokedAt'],
    [
      'stops working with its account although the table is busy',
      'TransactionConflict',
      'before',
      15,
      'suspended',
    ],
  ] as const)('%s, and the command says so', async (_what, error, when, times, match) => {
    const { account, key, record } = operated.client;
    const { faults } = operated.service.machine;
    faults.set({ call: 'dynamodb:UpdateItem', caller: 'operator', error, when, match, times });
    const isKey = match === 'revokedAt';
    const { code, complaint } = await (isKey
      ? operated.admin('keys', 'revoke', account.id, record.id)
      : operated.admin('accounts', 'set', account.id, '--condition', match));
    expect([faults.list(), code]).toEqual([[], 0]);
    // A repeat that meets its own first write says nothing.
    if (when === 'before')
      expect(complaint).toContain(
        isKey
          ? `The key ${record.id} is revoked from its next request on.`
          : `The account ${account.id} is suspended from its next request on.`,
      );
    expect((await operated.service.send('/balance', { key })).status).toBe(isKey ? 401 : 403);
  });
});
