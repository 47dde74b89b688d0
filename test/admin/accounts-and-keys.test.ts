/** The commands `accounts` and `keys` against the whole service. */
import { describe, expect, it } from 'vitest';
import type { AccountId } from '../../core/ids.ts';
import { useOperatedService } from './operated-service.ts';

const operated = useOperatedService();

const hiddenOf = async (id: AccountId): Promise<readonly string[]> =>
  (await operated.service.account(id)).policy.hiddenModels.toSorted();

describe('an account', () => {
  it('gets another name by `accounts set --name`', async () => {
    expect(
      await operated.run('accounts', 'set', operated.client.account.id, '--name', 'Atelier Zoë'),
    ).toMatchObject({
      name: 'Atelier Zoë',
    });
  });

  it('hides every model that several commands hide at the same time', async () => {
    const hide = (model: string): Promise<unknown> =>
      operated.run('accounts', 'set', operated.client.account.id, '--hide-model', model);
    await Promise.all([hide('sandbox-pro'), hide('sandbox-sketch'), hide('sandbox-standard')]);
    expect(await hiddenOf(operated.client.account.id)).toEqual([
      'sandbox-pro',
      'sandbox-sketch',
      'sandbox-standard',
    ]);
    await operated.run('accounts', 'set', operated.client.account.id, '--show-model', 'sandbox-pro');
    expect(await hiddenOf(operated.client.account.id)).toEqual(['sandbox-sketch', 'sandbox-standard']);
  });

  it.each([
    [['--providers', ''], '--providers: a name is missing; write none for no provider at all.'],
    [['--providers', 'sandbox,'], '--providers: a name is missing; write none for no provider at all.'],
    [['--name', ' '], '--name: must not be empty.'],
    [['--name', 'x'.repeat(101)], '--name: must have at most 100 characters.'],
    [['--name', 'a\u001b[2Jb'], '--name: must not contain control characters.'],
    [
      ['--credit-line', '999999999'],
      '--credit-line: what an account can spend must not exceed 1000000000.00 USD.',
    ],
  ])('stays as it is after the wrong options %j', async (options, sentence) => {
    const before = await operated.service.account(operated.client.account.id);
    expect(await operated.refused('accounts', 'set', operated.client.account.id, ...options)).toBe(sentence);
    expect(await operated.service.account(operated.client.account.id)).toEqual(before);
  });

  it('may use no provider after `--providers none`', async () => {
    expect(
      await operated.run('accounts', 'set', operated.client.account.id, '--providers', 'none'),
    ).toMatchObject({
      providers: [],
    });
  });

  it('is named in the error when only its opening balance failed, so that nobody creates a second account', async () => {
    operated.service.machine.faults.set({
      call: 'dynamodb:TransactWriteItems',
      caller: 'operator',
      error: 'AccessDenied',
    });
    const sentence = await operated.refused('accounts', 'create', '--name', 'half', '--balance', '5');
    const [, id = ''] =
      /^The account (\w{10}) was created, but its balance or credit line may be missing: /.exec(sentence) ??
      [];
    expect(
      await operated.run('wallet', 'top-up', id, '--amount', '5', '--reference', 'opening balance'),
    ).toMatchObject({ balance: 5, already_applied: false });
  });

  it('is not created without a name or with more than the largest amount', async () => {
    expect(await operated.refused('accounts', 'create', '--name', '')).toBe('--name: must not be empty.');
    const amounts = ['--balance', '600000000', '--credit-line', '400000001'];
    expect(await operated.refused('accounts', 'create', '--name', 'much', ...amounts)).toMatch(
      /must not exceed 1000000000\.00 USD\.$/,
    );
  });
});

describe('a key', () => {
  it('gets another cap or none, and the next request follows it', async () => {
    const generate = async (): Promise<number> =>
      (
        await operated.service.send('/images/generate', {
          key: operated.client.key,
          body: { model: 'sandbox-sketch', prompt: 'a lake' },
        })
      ).status;
    const set = (cap: string): Promise<unknown> =>
      operated.run(
        'keys',
        'set',
        operated.client.account.id,
        operated.client.record.id,
        '--monthly-cap',
        cap,
      );
    expect(await set('0.001')).toMatchObject({ id: operated.client.record.id, monthly_cap: 0.001 });
    expect(await generate()).toBe(402);
    expect(await set('none')).toMatchObject({ monthly_cap: null });
    expect(await generate()).toBe(202);
    expect(
      await operated.refused('keys', 'set', operated.client.account.id, 'Absent', '--monthly-cap', '1'),
    ).toMatch(/^The account has no key Absent: /);
    expect(await operated.refused('keys', 'create', operated.client.account.id, '--name', '')).toBe(
      '--name: must not be empty.',
    );
  });

  it('is revoked although other transactions conflict with the write, and the command says so', async () => {
    operated.service.machine.faults.set({
      call: 'dynamodb:UpdateItem',
      caller: 'operator',
      error: 'TransactionConflict',
      match: 'revokedAt',
      times: 15,
    });
    const { code, complaint } = await operated.admin(
      'keys',
      'revoke',
      operated.client.account.id,
      operated.client.record.id,
    );
    expect(operated.service.machine.faults.list()).toEqual([]);
    expect(code).toBe(0);
    expect(complaint).toContain(`The key ${operated.client.record.id} is revoked from its next request on.`);
    expect((await operated.service.send('/balance', { key: operated.client.key })).status).toBe(401);
  });

  it('is revoked although the table loses its answers', async () => {
    operated.service.machine.faults.set({
      call: 'dynamodb:UpdateItem',
      caller: 'operator',
      error: 'Timeout',
      when: 'after',
      match: 'revokedAt',
      times: 4,
    });
    expect(
      (await operated.admin('keys', 'revoke', operated.client.account.id, operated.client.record.id)).code,
    ).toBe(0);
    expect(operated.service.machine.faults.list()).toEqual([]);
    expect((await operated.service.send('/balance', { key: operated.client.key })).status).toBe(401);
  });

  it('stops working when its account is suspended, although the table is busy', async () => {
    operated.service.machine.faults.set({
      call: 'dynamodb:UpdateItem',
      caller: 'operator',
      error: 'TransactionConflict',
      match: 'suspended',
      times: 15,
    });
    const { code, complaint } = await operated.admin(
      'accounts',
      'set',
      operated.client.account.id,
      '--condition',
      'suspended',
    );
    expect(operated.service.machine.faults.list()).toEqual([]);
    expect([code, complaint]).toEqual([
      0,
      expect.stringContaining(
        `The account ${operated.client.account.id} is suspended from its next request on.`,
      ),
    ]);
    expect((await operated.service.send('/balance', { key: operated.client.key })).status).toBe(403);
  });
});
