/** The commands that erase and export, against the whole service. */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { getItem, putItem } from '../../service/aws/dynamodb/send.ts';
import { queryAll, queryPages } from '../../service/aws/dynamodb/query.ts';
import { type Item, keys, refusalPartition } from '../../service/aws/dynamodb/table.ts';
import { createMailStore } from '../../service/notices/mail-store.ts';
import { createActionLog } from '../../service/operated/action-store.ts';
import { createAccountEdits, externalKey } from '../../service/operator/account-edit-store.ts';
import { newInvitation, personIdOf } from '../../service/portal/people.ts';
import type { AccountId, PersonId } from '../../service/values/ids.ts';
import { recordOf, settled, submit } from '../whole/workflow/creations.ts';
import type { Client } from '../fixtures/service.ts';
import { jsonObject } from '../fixtures/values.ts';
import { useOperatedService } from './admin-run.ts';

const operated = useOperatedService();

/** Everything in the partitions of an account. */
async function itemsOf(account: AccountId): Promise<Item[]> {
  const items: Item[] = [];
  for (const pk of [keys.account(account).pk, refusalPartition(account)]) {
    const query = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': pk } };
    for await (const { Items } of queryPages(operated.service.operator.table, query))
      items.push(...(Items ?? []));
  }
  return items;
}

/** A request that is refused, and so stands in the log of the account. */
async function refuse({ key }: Pick<Client, 'key'>, prompt: string): Promise<void> {
  expect((await operated.service.send('/images/generate', { key, body: { prompt, n: 1 } })).status).toBe(400);
}

/** Somebody who was invited and has signed in. */
async function joined(email: string, role: 'viewer' | 'owner', account: AccountId): Promise<void> {
  const { people, clock } = operated.service.operator;
  const invitation = newInvitation({ accountId: account, email, role, invitedBy: 'operator' }, clock.now());
  await people.invite(invitation, Infinity);
  const person = { id: personIdOf('test', email), issuer: 'test', subject: email, email };
  expect(await people.accept(invitation, person, new Date(clock.now()).toISOString())).toBe(true);
}

describe('the external id of an erased account', () => {
  const placeOf = async (name: string) => getItem(operated.service.operator.table, externalKey(name));

  it.each(['goes with it', 'stays when another account has it'])('%s', async (ends) => {
    const { service } = operated;
    const { table } = service.operator;
    const name = `customer who ${ends}`;
    const [own, other] = [await service.client(), await service.client()];
    expect(await createAccountEdits(table).edit(own.account, { externalId: name }, {})).toBe(true);
    const isOwn = ends === 'goes with it';
    if (!isOwn) await putItem(table, { ...externalKey(name), account: other.account.id });
    await operated.run('accounts', 'erase', own.account.id, '--confirm', own.account.name);
    expect(await placeOf(name)).toEqual(
      isOwn ? undefined : { ...externalKey(name), account: other.account.id },
    );
    expect(await service.account(own.account.id)).not.toHaveProperty('externalId');
  });
});

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
    await refuse(client, 'a secret castle');
    const upload = { content_type: 'image/png', bytes: 1_000 };
    expect((await service.send('/uploads', { key: client.key, body: upload })).status).toBe(201);
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
    const kinds = items.map(({ sk }) => String(sk).split('#')[0]).filter((kind) => kind !== 'RATE');
    expect(kinds.sort()).toEqual(['ACCOUNT', 'ADDED_KEYS', 'KEY', 'LEDGER', 'LEDGER', 'REFERENCE']);
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

  it('keeps the token of an end user until the refund of its open creation has come', async () => {
    const { service } = operated;
    const client = await service.client({ name: 'Pages' });
    const asked = { key: client.key, body: { user: 'alice', spend_limit: 1 } };
    const { token } = (await service.send('/user-tokens', asked)).body as { token: string };
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const open = await submit(service, token, { prompt: 'a secret lake [sandbox:fail]' });
    const erase = ['accounts', 'erase', client.account.id, '--confirm', 'Pages'];
    expect((await operated.admin('--json', ...erase)).code).toBe(1);
    service.machine.faults.clear();
    await service.machine.advance(1_200);
    await service.ended(open);
    const tokens = (): Promise<unknown[]> =>
      queryAll(service.operator.table, keys.account(client.account.id).pk, 'USER_TOKEN#');
    expect(await tokens()).toMatchObject([{ user: 'alice', leftMicros: 1_000_000 }]);
    expect(await operated.run(...erase)).toMatchObject({ creations: 1, open: 0 });
    expect(await tokens()).toEqual([]);
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

describe('the e-mails of a person', () => {
  /** A member who has chosen e-mails. */
  async function reading(account: AccountId): Promise<PersonId> {
    const person = personIdOf('test', 'reader@castle.test');
    await joined('reader@castle.test', 'viewer', account);
    const choice = { kinds: ['wallet.low'], address: 'reader@castle.test', portalUrl: '/' } as const;
    expect(await createMailStore(operated.service.operator.table).choose(account, person, choice)).toBe(true);
    return person;
  }

  it.each([
    ['accounts erase', (account: string) => ['accounts', 'erase', account, '--confirm', 'test']],
    ['people erase', () => ['people', 'erase', 'reader@castle.test']],
    ['people remove', (account: string) => ['people', 'remove', account, 'reader@castle.test']],
  ])('end at SNS with %s', async (_name, wordsFor) => {
    const { service, client } = operated;
    const { id } = client.account;
    const person = await reading(id);
    const deleted: unknown[] = [];
    service.machine.interceptAws((call, serve) => {
      if (call.operation === 'DeleteTopic') deleted.push(call.input['TopicArn']);
      return serve();
    });
    onTestFinished(() => service.machine.interceptAws((_call, serve) => serve()));
    await operated.run(...wordsFor(id));
    expect(deleted).toEqual([expect.stringMatching(new RegExp(`^arn:.*-mail-${id}-${person}$`))]);
    expect(JSON.stringify(await itemsOf(id))).not.toContain('reader@castle.test');
  });

  it('are named to the operator when SNS does not end them', async () => {
    const { service, client } = operated;
    const { id } = client.account;
    const person = await reading(id);
    service.machine.faults.set({ call: 'sns:DeleteTopic', error: 'AccessDenied', every: 1 });
    expect(await operated.refused('people', 'remove', id, 'reader@castle.test')).toContain(
      `is removed, and gets no more e-mails. SNS still has the topic that ends in ${id}-${person}`,
    );
    expect(await service.operator.people.listMembers(id)).toEqual([]);
  });
});

describe('people erase', () => {
  it('takes a person out of accounts, invitations, the log and the list of people', async () => {
    const { service, client } = operated;
    const { id } = client.account;
    const { table, people, clock } = service.operator;
    const other = await service.client();
    for (const account of [id, other.account.id])
      for (const [email, role] of [
        ['anna@castle.test', 'viewer'],
        ['bert@castle.test', 'owner'],
      ] as const)
        await joined(email, role, account);
    await operated.run('people', 'invite', id, '--email', 'anna+new@castle.test', '--role', 'viewer');
    const at = new Date(clock.now()).toISOString();
    const about = {
      scope: id,
      at,
      personId: 'x' as PersonId,
      action: 'invitePerson',
      outcome: 'done',
    } as const;
    const log = createActionLog(table);
    await log.begin({ ...about, id: `${at}#1`, email: 'anna@castle.test' });
    await log.begin({
      ...about,
      id: `${at}#2`,
      email: 'bert@castle.test',
      note: 'anna@castle.test as viewer',
    });
    expect(await operated.run('people', 'erase', 'Anna@Castle.test')).toEqual({
      accounts: 2,
      invitations: 0,
      actions: 2,
      user: 'none',
    });
    expect((await people.listMembers(id)).map(({ email }) => email)).toEqual(['bert@castle.test']);
    expect(JSON.stringify(await itemsOf(id))).not.toContain('anna@castle.test');
    expect(await people.findPerson(personIdOf('test', 'anna@castle.test'))).toBeUndefined();
    expect(await operated.refused('people', 'erase', 'bert@castle.test')).toMatch(
      /is the last owner of the account/,
    );
    expect(await people.listMembers(id)).toHaveLength(1);
    expect(await operated.refused('people', 'erase', 'nobody')).toMatch(/is no address/);
  });
});

describe('accounts export', () => {
  it('writes rows, creations and images, without secrets, and refuses the folder of another account', async () => {
    const { service, client } = operated;
    const folder = await mkdtemp(join(tmpdir(), 'darkroom-export-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const id = await submit(service, client.key, {
      prompt: 'a castle',
      webhook_url: service.machine.inboxUrl,
    });
    await settled(service, id);
    await refuse(client, 'a refused castle');
    const run = ['accounts', 'export', client.account.id, '--to', folder];
    expect(await operated.run(...run)).toMatchObject({ account: client.account.id, creations: 1, images: 1 });
    const lines = async (file: string): Promise<Record<string, unknown>[]> =>
      (await readFile(join(folder, file), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => jsonObject(line));
    expect(await lines('creations.jsonl')).toMatchObject([{ id, prompt: 'a castle' }]);
    const rows = await lines('account.jsonl');
    const kinds = new Set(rows.map(({ sk }) => String(sk).split('#')[0]));
    expect([...kinds]).toEqual(expect.arrayContaining(['ACCOUNT', 'KEY', 'LEDGER', 'DELIVERY', 'REFUSED']));
    expect(JSON.stringify(rows)).toContain('a refused castle');
    expect(JSON.stringify(rows)).not.toMatch(/webhookSecrets|"hash"/);
    const [picture] = await readdir(join(folder, 'images'));
    const { results } = await recordOf(service, id);
    expect(picture).toBe(results[0]?.key.split('/')[1]);
    expect((await stat(join(folder, 'images', picture ?? ''))).size).toBe(results[0]?.bytes);
    expect(await operated.run(...run)).toMatchObject({ images: 1 });
    const other = await service.client();
    expect(await operated.refused('accounts', 'export', other.account.id, '--to', folder)).toMatch(
      /has the export of the account/,
    );
  });
});
