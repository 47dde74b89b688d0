/** The commands that erase and export, against the whole service. */
import { describe, expect, it } from 'vitest';
import { queryAll, queryPages } from '../../service/aws/dynamodb/query.ts';
import { type Item, keys } from '../../service/aws/dynamodb/table.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { recordOf, settled, submit } from '../whole/workflow/creations.ts';
import { useOperatedService } from './admin-run.ts';

const operated = useOperatedService();

/** Everything in the partition of an account. */
async function itemsOf(account: AccountId): Promise<Item[]> {
  const items: Item[] = [];
  const query = {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': keys.account(account).pk },
  };
  for await (const { Items } of queryPages(operated.service.operator.table, query))
    items.push(...(Items ?? []));
  return items;
}

describe('creations erase', () => {
  it('erases what has ended, names what has not, and ends with 1 then', async () => {
    const { service } = operated;
    const client = await service.client();
    const id = await submit(service, client.key, { prompt: 'a secret castle' });
    await settled(service, id);
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const open = await submit(service, client.key, { prompt: 'a secret lake' });
    service.machine.faults.clear();
    const absent = '019aa5a0-1000-7000-8000-00000000000a';
    expect(await operated.run('creations', 'erase', id)).toEqual({
      data: [{ id, outcome: 'erased' }],
    });
    const { code, out } = await operated.admin('--json', 'creations', 'erase', id, open, absent);
    expect([code, JSON.parse(out)]).toEqual([
      1,
      {
        data: [
          { id, outcome: 'erased' },
          { id: open, outcome: 'open' },
          { id: absent, outcome: 'absent' },
        ],
      },
    ]);
    expect(await recordOf(service, id)).toMatchObject({ prompt: null, erasedBy: 'operator' });
    expect(await recordOf(service, open)).toMatchObject({ prompt: 'a secret lake' });
    expect(await operated.run('creations', 'show', id)).toMatchObject({
      prompt: null,
      erased_by: 'operator',
    });
  });
});

describe('accounts erase', () => {
  it('takes everything but the books, is refused without the name, and can be run again', async () => {
    const { service } = operated;
    const client = await service.client({ name: 'Castle Ltd', perUserMonthlyCap: '5' });
    const { id: account } = client.account;
    await operated.run('people', 'invite', account, '--email', 'owner@castle.test', '--role', 'owner');
    const made = await submit(service, client.key, {
      prompt: 'a secret castle',
      user: 'secret-user',
      webhook_url: `${service.machine.inboxUrl}?secret-address`,
    });
    await settled(service, made);
    await service.send('/events', { key: client.key });
    const { body } = await service.send('/uploads', {
      key: client.key,
      body: { content_type: 'image/png', bytes: 1_000 },
    });
    expect(body).toHaveProperty('image_url');
    const erase = ['accounts', 'erase', account, '--confirm'];
    expect(await operated.refused(...erase, 'Castle')).toMatch(
      /must be the name of the account, "Castle Ltd"/,
    );
    expect(await operated.run(...erase, 'Castle Ltd')).toMatchObject({
      account,
      creations: 1,
      open: 0,
      uploads: 1,
      run_again_after: expect.stringMatching(/Z$/) as string,
    });
    const items = await itemsOf(account);
    expect(items.map(({ sk }) => String(sk).split('#')[0]).sort()).toEqual([
      'ACCOUNT',
      'ADDED_KEYS',
      'KEY',
      'LEDGER',
      'LEDGER',
      'REFERENCE',
    ]);
    expect(JSON.stringify(items)).not.toMatch(/castle|secret-user|secret-address/i);
    expect((await service.send('/balance', { key: client.key })).status).toBe(403);
    service.jump(1_000);
    expect(await operated.run(...erase, '(erased)')).toMatchObject({ open: 0, run_again_after: null });
    expect((await operated.run('accounts', 'show', account))['balance']).toBe(24.99);
    expect(await service.audit()).toEqual([]);
    const actions = await queryAll(service.operator.table, keys.service().pk, 'ACTION#');
    expect(JSON.stringify(actions)).not.toMatch(/castle/i);
    expect(actions.filter(({ target }) => target === account)).toMatchObject([
      { action: 'eraseAccount', outcome: 'done' },
      { action: 'eraseAccount', outcome: 'done' },
    ]);
  });

  it('names a creation that is still open, and takes it in a later run', async () => {
    const { service } = operated;
    const client = await service.client({ name: 'Late' });
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const open = await submit(service, client.key, { prompt: 'a secret lake' });
    const erase = ['accounts', 'erase', client.account.id, '--confirm', 'Late'];
    const { code, out } = await operated.admin('--json', ...erase);
    expect([code, JSON.parse(out)]).toMatchObject([1, { open: 1 }]);
    service.machine.faults.clear();
    await service.machine.advance(1_200);
    await service.ended(open);
    expect(await operated.run(...erase)).toMatchObject({ creations: 1, open: 0, run_again_after: null });
    expect(await recordOf(service, open)).toMatchObject({ prompt: null });
    expect(await service.audit()).toEqual([]);
  });
});

describe('people erase', () => {
  it('takes a person out of accounts, invitations and the log, and refuses the last owner', async () => {
    const { service, client } = operated;
    const { id } = client.account;
    await operated.run('people', 'invite', id, '--email', 'anna@castle.test', '--role', 'viewer');
    expect(await operated.run('people', 'erase', 'Anna@Castle.test')).toEqual({
      accounts: 0,
      invitations: 1,
      actions: 0,
      user: 'none',
    });
    expect(await operated.run('people', 'list', id)).toEqual({ data: [] });
    expect(JSON.stringify(await itemsOf(id))).not.toContain('anna');
    expect(await operated.refused('people', 'erase', 'nobody')).toMatch(/is no address/);
  });
});
