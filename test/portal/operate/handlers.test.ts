/** The operator's pages: the rules of the command, each action in two logs, and figures over all accounts. */
import { randomBytes } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { withAccount } from '../../../service/api/request-id.ts';
import { refusalPartition } from '../../../service/aws/dynamodb/table.ts';
import { createProviderStore } from '../../../service/catalog/provider-store.ts';
import type { RouteOutcome } from '../../../service/contract/route-outcome.ts';
import { creationToItem } from '../../../service/creations/creation-items.ts';
import type { CreationRecord, RouteAttempt } from '../../../service/creations/creation.ts';
import { newOperatorKey } from '../../../service/operated/operator-key.ts';
import { createOperatorKeyStore } from '../../../service/operated/operator-key-store.ts';
import { newPaymentId } from '../../../service/payments/payment.ts';
import { type AccountId, type CreationId, uuidV7 } from '../../../service/values/ids.ts';
import { asMicros } from '../../../service/values/money.ts';
import { fakeClock } from '../../api/fakes.ts';
import { aCompletedCreation, aCreation, anAccount, now } from '../../fixtures/records.ts';
import { createHealthStore } from '../../../service/render/health-store.ts';
import { fillAccount } from '../filled-account.ts';
import { inBetween, loseAnswerOf } from '../portal-fixture.ts';
import {
  type Answered,
  fieldsOf,
  openWholePortal,
  type SignedIn,
  type WholePortal,
} from '../whole-portal.ts';

let portal: WholePortal;
let account: AccountId;
let operator: SignedIn;

beforeEach(async () => {
  portal = openWholePortal();
  account = await portal.openAccount('Acc0unt001');
  operator = await portal.signIn('op@service.test', undefined, 'operator');
});

const topUp = (body: object): Promise<Answered> =>
  portal.ask('topUpAccount', { as: operator, id: account, body });
const change = (body: object): Promise<Answered> =>
  portal.ask('changeAccount', { as: operator, id: account, body });

describe('accounts', () => {
  it('An account is opened with its balance and credit line in the ledger, and with the default limits', async () => {
    const opened = await portal.ask('openAccount', {
      as: operator,
      body: { name: 'Studio Two', balance: 5, credit_line: 2.5, limits: { post_rate: 7 } },
    });
    expect([opened.status, opened.body.available, opened.body.balance]).toEqual([201, 7.5, 5]);
    expect(opened.body.limits).toMatchObject({ post_rate: 7, get_rate: 600 });
    const rows = await portal.wallet.ledger(opened.body.id as AccountId);
    expect(rows.map(({ kind, amountMicros }) => [kind, amountMicros]).sort()).toEqual([
      ['credit_line', 2_500_000],
      ['top_up', 5_000_000],
    ]);
    expect(
      fieldsOf(
        await portal.ask('openAccount', {
          as: operator,
          body: {
            name: '',
            balance: -1,
            credit_line: 'x',
            limits: { post_rate: 1.5, rate: 1 },
            condition: 'active',
          },
        }),
      ),
    ).toEqual(['balance', 'condition', 'credit_line', 'limits.post_rate', 'limits.rate', 'name']);
    const large = { name: 'a', balance: 1e9, credit_line: 1 };
    expect(fieldsOf(await portal.ask('openAccount', { as: operator, body: large }))).toEqual(['balance']);
  });

  it('An account is opened once and whole when the answer of the table is lost', async () => {
    loseAnswerOf(portal, 'ACCOUNT"');
    const body = { name: 'Lost', balance: 5, credit_line: 1 };
    const opened = await portal.ask('openAccount', { as: operator, body });
    expect([opened.status, opened.body.available]).toEqual([201, 6]);
    const { data } = (await portal.ask('listAccounts', { as: operator, query: {} })).body;
    expect(data.filter(({ name }) => name === 'Lost')).toHaveLength(1);
    expect(await portal.wallet.ledger(opened.body.id as AccountId)).toHaveLength(2);
  });

  it('The list comes in pages, the oldest first', async () => {
    for (const [index, name] of ['Bcc0unt002', 'Ccc0unt003'].entries())
      await portal.openAccount(name, { createdAt: `2026-11-0${index + 2}T00:00:00.000Z` });
    const list = (query: Readonly<Record<string, string>>): Promise<Answered> =>
      portal.ask('listAccounts', { as: operator, query });
    const first = await list({ limit: '2' });
    expect(first.body.data.map(({ id }) => id)).toEqual(['Acc0unt001', 'Bcc0unt002']);
    const second = await list({ limit: '2', cursor: first.body.next_cursor ?? '' });
    expect([second.body.data.map(({ id }) => id), second.body.next_cursor]).toEqual([['Ccc0unt003'], null]);
    expect(fieldsOf(await list({ limit: '0', cursor: 'made up' }))).toEqual(['cursor', 'limit']);
  });

  it('A change holds at once and is in both logs, in the account’s as the operator', async () => {
    const body = { name: 'New', condition: 'suspended', credit_line: 1, limits: { max_concurrent: 3 } };
    const changed = await change(body);
    expect(changed.body).toMatchObject({
      name: 'New',
      condition: 'suspended',
      credit_line: 1,
      available: 26,
    });
    expect(changed.body.limits.max_concurrent).toBe(3);
    const owner = await portal.signIn('owner@studio.test', account, 'owner');
    const [row] = (await portal.ask('listActions', { as: owner })).body.data;
    expect(row).toMatchObject({ action: 'changeAccount', email: 'the operator', outcome: 'done' });
    expect(JSON.stringify([...portal.memory.all()])).toContain('op@service.test');
    expect(fieldsOf(await change({}))).toEqual(['body']);
    expect(fieldsOf(await change({ condition: 'gone', limits: { deadline_seconds: 721 } }))).toEqual([
      'condition',
      'limits.deadline_seconds',
    ]);
    expect((await portal.ask('showAccount', { as: operator, id: 'Absent0001' })).status).toBe(404);
  });

  it('Of two who move the credit line at once one is refused', async () => {
    const [late, first] = await inBetween(
      portal,
      'ACCOUNT"',
      () => change({ credit_line: 5 }),
      () => change({ credit_line: 7 }),
    );
    expect([late.status, first.status]).toEqual([409, 200]);
    expect((await portal.accounts.read(account))?.creditLineMicros).toBe(7_000_000);
  });

  it('Of two who change one value from what they both saw the second is refused, and others lose nothing', async () => {
    const { version } = (await portal.ask('showAccount', { as: operator, id: account })).body;
    const limits = (max_concurrent: number): object => ({ limits: { max_concurrent }, version });
    const [late, first] = await inBetween(
      portal,
      'ACCOUNT"',
      () => change(limits(5)),
      () => change(limits(7)),
    );
    expect([late.status, late.body.error.details.reason, first.status]).toEqual([
      409,
      'changed_meanwhile',
      200,
    ]);
    expect((await change({ name: 'Late', version })).status).toBe(409);
    loseAnswerOf(portal, 'ACCOUNT"');
    const next = await change({ name: 'Next', version: first.body.version });
    expect(next.body).toMatchObject({ name: 'Next', limits: { max_concurrent: 7 } });
    expect(fieldsOf(await change({ version: next.body.version }))).toEqual(['body']);
  });

  it('Who opens the pictures and for how long is chosen once of two at the same time, and taken back', async () => {
    const { version } = (await portal.ask('showAccount', { as: operator, id: account })).body;
    const [late, first] = await inBetween(
      portal,
      'ACCOUNT"',
      () => change({ results: 'unguessable', version }),
      () => change({ results: 'signed', results_minutes: 90, version }),
    );
    expect([late.status, first.status]).toEqual([409, 200]);
    expect(first.body).toMatchObject({ results: 'signed', results_minutes: 90 });
    expect((await change({ name: 'Late', version })).status).toBe(409);
    loseAnswerOf(portal, 'ACCOUNT"');
    const none = { results: null, results_minutes: null };
    const back = await change({ ...none, version: first.body.version });
    expect([back.status, back.body, back.body.version]).toMatchObject([200, none, version]);
    expect(await portal.accounts.read(account)).not.toHaveProperty('results');
    expect(fieldsOf(await change({ results: 'secret', results_minutes: 10_081 }))).toEqual([
      'results',
      'results_minutes',
    ]);
    portal = openWholePortal('off');
    await portal.openAccount(account);
    operator = await portal.signIn('op@service.test', undefined, 'operator');
    expect(fieldsOf(await change({ results: 'signed' }))).toEqual(['results']);
    expect((await change({ results: 'unguessable' })).body).toMatchObject({ results_of_service: 'off' });
  });

  it('A reference counts once, also after a lost answer', async () => {
    loseAnswerOf(portal, 'LEDGER#');
    const first = await topUp({ amount: 10, reference: 'invoice 7' });
    expect([first.status, first.body.available, first.body.already_applied]).toEqual([200, 35, false]);
    const again = await topUp({ amount: 10, reference: 'invoice 7' });
    expect([again.body.available, again.body.already_applied]).toEqual([35, true]);
    const other = await topUp({ amount: 11, reference: 'invoice 7' });
    expect([other.status, other.body.error.details.reason]).toEqual([409, 'reference_taken']);
    expect(fieldsOf(await topUp({ amount: 0, reference: ' ' }))).toEqual(['amount', 'reference']);
    expect(fieldsOf(await topUp({ amount: 1e9, reference: 'b' }))).toEqual(['amount']);
  });
});

describe('the search', () => {
  const search = async (q: string): Promise<string[]> => {
    const { status, body } = await portal.ask('findAnything', { as: operator, query: { q } });
    expect(status).toBe(200);
    return body.data.map((found) => `${found.kind} ${found.name} ${found.account_name}`);
  };

  it('Ids, beginnings of keys, names, external ids and addresses lead to the thing and its account', async () => {
    const studio = await fillAccount(portal, 'studio');
    await fillAccount(portal, 'rival');
    await portal.table.client.send(
      new PutCommand({
        TableName: portal.table.name,
        Item: { pk: 'EXTERNAL#customer-7', sk: 'EXTERNAL', account: studio.id },
      }),
    );
    const name = studio.id;
    expect(await search(studio.creation.toUpperCase())).toEqual([
      `creation sandbox-standard, completed ${name}`,
    ]);
    expect(await search(` ${studio.id} `)).toEqual([`account ${name} ${name}`]);
    expect(await search('customer-7')).toEqual([`account ${name} ${name}`]);
    expect(await search(`dk_live_${studio.id}${studio.key}`)).toEqual([`key key of studio ${name}`]);
    expect(await search(`dk_live_${studio.id}`)).toEqual([`key key of studio ${name}`]);
    expect(await search(`dk_live_${studio.id}Absent`)).toEqual([]);
    expect(await search('STUDIO')).toEqual([`account ${name} ${name}`]);
    expect(await search('Owner@Studio.test')).toEqual([`person owner@studio.test ${name}`]);
    expect(await search('invited@studio.test')).toEqual([`invitation invited@studio.test ${name}`]);
    for (const absent of ['nothing of the kind', 'Absent0001', 'nobody@studio.test', 'ntc_1'])
      expect(await search(absent)).toEqual([]);
    expect(fieldsOf(await portal.ask('findAnything', { as: operator, query: { q: ' ' } }))).toEqual(['q']);
  });

  it('A request leads to what it made, or to its row in the log of refused requests', async () => {
    const [studio, rival] = [await fillAccount(portal, 'studio'), await fillAccount(portal, 'rival')];
    const developer = await portal.signIn('dev@studio.test', studio.id, 'developer');
    const body = { model: 'sandbox-sketch', prompt: 'a lake' };
    expect((await portal.ask('createCreation', { as: developer, body })).status).toBe(202);
    const made = withAccount('request', studio.id, now);
    expect(await search(made)).toEqual([`creation sandbox-sketch, queued ${studio.id}`]);
    const refused = withAccount('request', rival.id, now);
    const at = new Date(now + 900).toISOString();
    const key = { pk: refusalPartition(rival.id), sk: `REFUSED#${at}#${refused}` };
    const Item = { ...key, at, status: 400, code: 'ERR_INVALID_REQUEST', requestId: refused };
    await portal.table.client.send(new PutCommand({ TableName: portal.table.name, Item }));
    expect(await search(refused)).toEqual([`request 400 ERR_INVALID_REQUEST ${rival.id}`]);
    expect(await search(withAccount('other', rival.id, now))).toEqual([]);
    expect(await search(withAccount('request', rival.id, now - 120_000))).toEqual([]);
  });

  it('A payment leads to its account', async () => {
    const id = newPaymentId(account, now, randomBytes(16));
    await portal.stripePayments.beginCheckout({
      ...{ id, accountId: account, kind: 'checkout', state: 'open', month: '2026_11', livemode: false },
      ...{ amountMicros: asMicros(5_000_000), reversedMicros: asMicros(0), version: 1 },
      at: new Date(now).toISOString(),
    });
    expect(await search(id)).toEqual([`payment checkout, open ${account}`]);
  });

  it('If there are more accounts than it searches, the answer says that it is not complete', async () => {
    for (let number = 0; number < 500; number += 1)
      await portal.accounts.create(
        anAccount({ id: `Many${String(number).padStart(6, '0')}` as AccountId, name: `shop ${number}` }),
      );
    const of = async (q: string): Promise<unknown> =>
      (await portal.ask('findAnything', { as: operator, query: { q } })).body.has_all;
    expect([await of('shop 7'), await of('nobody@studio.test'), await of('Many000007')]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe('the tabs of an account', () => {
  it('Each list is that of the account in the path, and shows nothing of another account', async () => {
    const [studio, rival] = [await fillAccount(portal, 'studio'), await fillAccount(portal, 'rival')];
    // The session of the operator is one of an account as well, whose lists these are not.
    await portal.signIn('both@service.test', rival.id, 'owner');
    const both = await portal.signIn('both@service.test', rival.id, 'operator');
    const lists = {
      listAccountCreations: studio.creation,
      listAccountKeys: studio.key,
      listAccountPeople: studio.member.personId,
      listAccountDeliveries: studio.delivery,
      listAccountLedger: 'opening',
      listAccountRequests: studio.creation,
    } as const;
    for (const [name, shown] of Object.entries(lists) as [keyof typeof lists, string][]) {
      const answer = await portal.ask(name, { as: both, id: studio.id });
      expect([name, answer.status]).toEqual([name, 200]);
      expect(answer.text).toContain(shown);
      for (const foreign of [rival.creation, rival.key, rival.member.personId, rival.delivery])
        expect(answer.text).not.toContain(foreign);
      expect((await portal.ask(name, { as: operator, id: 'Absent0001' })).status).toBe(404);
    }
    const rows = await portal.ask('listAccountCreations', {
      as: operator,
      id: studio.id,
      query: { status: 'completed', limit: '1' },
    });
    expect(rows.body.data.map(({ id }) => id)).toEqual([studio.creation]);
  });

  it('A creation names its account, its request and its providers, which its client never sees', async () => {
    const studio = await fillAccount(portal, 'studio');
    const developer = await portal.signIn('dev@studio.test', studio.id, 'developer');
    const body = { model: 'sandbox-sketch', prompt: 'a lake' };
    const { id } = (await portal.ask('createCreation', { as: developer, body })).body;
    const shown = await portal.ask('showOperatedCreation', { as: operator, id });
    expect(shown.body).toMatchObject({
      id,
      account: studio.id,
      request_id: `request.${studio.id}.${Math.floor(now / 1_000).toString(36)}`,
      attempts: [],
    });
    const own = await portal.ask('getPortalCreation', { as: developer, id });
    expect(own.text).not.toMatch(/"attempts":\[|"request_id"|"account"/);
    const absent = '019aa5a0-1000-7000-8000-0000000000ff';
    expect((await portal.ask('showOperatedCreation', { as: operator, id: absent })).status).toBe(404);
  });
});

async function store(change: Partial<CreationRecord>, millis: number): Promise<void> {
  const id = uuidV7(now + millis, randomBytes(16)) as CreationId;
  const item = creationToItem(aCompletedCreation({ id, accountId: account, ...change }));
  await portal.table.client.send(new PutCommand({ TableName: portal.table.name, Item: item }));
}

describe('the health of the service', () => {
  it('A webhook that failed and waits is listed, and one that has not been tried or is tried first is not', async () => {
    const webhook = { url: 'https://a.test/hook', status: 'pending' } as const;
    for (const [attempts, waitMillis] of [
      [0, 60_000],
      // Ten seconds of the attempt and a minute: the first attempt began just now.
      [1, 70_000],
      [2, 60_000],
    ] as const) {
      const nextAt = now + waitMillis;
      const id = uuidV7(now, randomBytes(16)) as CreationId;
      const item = creationToItem(
        aCompletedCreation({ id, accountId: account, webhook: { ...webhook, attempts, nextAt } }),
      );
      const waiting = { ...item, openShard: `WEBHOOK#${Number.parseInt(id.slice(-1), 16) % 4}` };
      await portal.table.client.send(new PutCommand({ TableName: portal.table.name, Item: waiting }));
    }
    const { data } = (await portal.ask('listFailingWebhooks', { as: operator })).body;
    expect(data).toMatchObject([{ account, account_name: account, host: 'a.test', attempts: 2 }]);
  });

  it('The attempts of the newest creations are counted, and what a vendor declined is no failure of it', async () => {
    const attempt = (outcome: RouteOutcome, seconds: number) => ({
      provider: 'sandbox',
      providerModel: 'standard',
      startedAt: new Date(now).toISOString(),
      endedAt: new Date(now + seconds * 1000).toISOString(),
      resultKey: 'r',
      outcome,
      ...(outcome === 'rendered' && { providerCostMicros: asMicros(10_000 * seconds - 20_000) }),
    });
    await store({ attempts: [attempt('rendered', 2)] }, 1);
    await store({ attempts: [attempt('rendered', 4)] }, 2);
    await store({ attempts: [attempt('no_answer', 9), attempt('rendered', 6)] }, 3);
    await store({ attempts: [attempt('PromptRejected', 1)] }, 4);
    const { endedAt: _end, outcome: _outcome, ...atWork } = attempt('rendered', 0);
    await store({ attempts: [atWork] }, 5);
    const { data } = (await portal.ask('listProviders', { as: operator })).body;
    const sandbox = data.find(({ name }) => name === 'sandbox');
    const figures = { succeeded: 3, failed: 1, declined: 1, p50_seconds: 4, p50_cost: 0.02 };
    expect(sandbox).toMatchObject({ enabled: true, outcomes: { no_answer: 1 }, day: figures, hour: figures });
    expect(sandbox?.day.parts.map(({ succeeded }) => succeeded)).toEqual([
      ...Array.from({ length: 23 }, () => 0),
      3,
    ]);
    expect(data.find(({ name }) => name === 'openai')).toMatchObject({
      enabled: false,
      day: { succeeded: 0, p50_seconds: null },
    });
  });

  it('An attempt of two hours ago counts for the day and not for the hour, and one of two days ago for neither', async () => {
    const attempt = (hoursAgo: number): RouteAttempt => ({
      provider: 'sandbox',
      providerModel: 'standard',
      startedAt: new Date(now - hoursAgo * 3_600_000).toISOString(),
      endedAt: new Date(now - hoursAgo * 3_600_000 + 1_000).toISOString(),
      resultKey: 'r',
      outcome: 'rendered',
    });
    for (const hoursAgo of [0.5, 2, 48])
      await store({ attempts: [attempt(hoursAgo)] }, -hoursAgo * 3_600_000);
    const { body } = await portal.ask('listProviders', { as: operator });
    const sandbox = body.data.find(({ name }) => name === 'sandbox');
    expect([sandbox?.hour.succeeded, sandbox?.day.succeeded]).toEqual([1, 2]);
    expect(sandbox?.day.parts.findIndex(({ succeeded }) => succeeded === 1)).toBe(22);
    expect(body).toMatchObject({ since: new Date(now - 86_400_000).toISOString(), creations: 2 });
  });

  it('A provider that is paused for everyone is shown as paused', async () => {
    const since = new Date(now).toISOString();
    await createProviderStore(portal.table).pause('sandbox', { since });
    const { data } = (await portal.ask('listProviders', { as: operator })).body;
    expect(data.find(({ name }) => name === 'sandbox')).toMatchObject({ enabled: true, paused_since: since });
    expect(data.find(({ name }) => name === 'openai')).toMatchObject({ paused_since: null });
    await createProviderStore(portal.table).resume('sandbox');
  });

  it('A pause and its end hold from the next read on, have rows in the log of the operator, and need a fresh sign-in', async () => {
    const put = (body: object, as = operator): Promise<Answered> => portal.ask('pauseRoute', { as, body });
    const paused = await put({ provider: 'fal', paused: true, reason: 'it answers 500' });
    const at = new Date(now).toISOString();
    const fal = { provider: 'fal', model: null, quality: null, since: at, reason: 'it answers 500' };
    expect([paused.status, paused.body.pause]).toEqual([200, fal]);
    portal.clock.set(now + 60_000);
    const again = await put({ provider: 'fal', paused: true, reason: 'still' });
    expect(again.body.pause).toEqual({ ...fal, reason: 'still' });
    const route = { provider: 'sandbox', model: 'standard', quality: null };
    await put({ ...route, paused: true });
    const names = async (): Promise<string[]> =>
      Object.keys(await createProviderStore(portal.table).pauses());
    expect((await names()).sort()).toEqual(['fal', 'sandbox#standard#']);
    const { data } = (await portal.ask('listProviders', { as: operator })).body;
    const routes = data.find(({ name }) => name === 'sandbox')?.routes ?? [];
    expect(routes.filter((one) => one.paused_since !== null).map(({ model }) => model)).toEqual(['standard']);
    const developer = await portal.signIn('dev@studio.test', account, 'developer');
    const generated = (): Promise<Answered> =>
      portal.ask('createCreation', { as: developer, body: { model: 'sandbox-standard', prompt: 'a lake' } });
    expect((await generated()).body.error.code).toBe('ERR_PROVIDER_UNAVAILABLE');
    expect((await put({ ...route, paused: false })).body.pause).toBeNull();
    expect((await generated()).status).toBe(202);
    await put({ provider: 'fal', paused: false });
    expect(await names()).toEqual([]);
    const rows = [...portal.memory.all()].map((item) => JSON.stringify(item));
    const logged = rows.filter((row) => row.includes('"SERVICE"') && row.includes('pauseRoute'));
    expect(logged).toHaveLength(5);
    expect(logged.join(' ')).toContain('paused: it answers 500');
    expect(logged.join(' ')).toContain('sandbox standard');
    expect(fieldsOf(await put({ provider: 'nobody', paused: true }))).toEqual(['provider']);
    expect(fieldsOf(await put({ ...route, model: 'absent', paused: true }))).toEqual(['model']);
    const old = await portal.signIn('old@service.test', undefined, 'operator', { ageMillis: 16 * 60_000 });
    expect((await put({ provider: 'fal', paused: true }, old)).body.error.details.reason).toBe(
      'reauthenticate',
    );
  });

  it('Open creations are in bands by their age, the oldest first, and overdue creations are counted', async () => {
    const open = async (ageSeconds: number, deadlineSeconds: number): Promise<string> => {
      const id = uuidV7(now - ageSeconds * 1000, randomBytes(16)) as CreationId;
      const deadlineAt = now + (deadlineSeconds - ageSeconds) * 1000;
      const item = creationToItem(aCreation({ id, accountId: account, deadlineAt }));
      const openShard = `OPEN#${Number.parseInt(id.slice(-1), 16) % 4}`;
      await portal.table.client.send(
        new PutCommand({ TableName: portal.table.name, Item: { ...item, openShard, dueAt: now } }),
      );
      return id;
    };
    const ids = [await open(20, 300), await open(90, 60), await open(400, 720), await open(900, 720)];
    const { body } = await portal.ask('getService', { as: operator });
    expect(body.open.bands.map(({ count }) => count)).toEqual([1, 1, 1, 1]);
    expect(body.open).toMatchObject({ count: 4, has_all: true, overdue: 2 });
    expect(body.open.oldest.map(({ id }) => id)).toEqual(ids.toReversed());
    expect(body.open.oldest[0]).toMatchObject({ account, account_name: account, is_overdue: true });
    const band = await portal.ask('getService', { as: operator, query: { band: '60' } });
    expect(band.body.open.oldest.map(({ id }) => id)).toEqual([ids[1]]);
    expect(fieldsOf(await portal.ask('getService', { as: operator, query: { band: '61' } }))).toEqual([
      'band',
    ]);
  });

  it('A route whose circuit is open is listed, but not that of a provider without a key', async () => {
    const health = createHealthStore(portal.table);
    const signal = AbortSignal.timeout(10_000);
    await health.open({ provider: 'sandbox', providerModel: 'pro' }, now, signal);
    await health.open({ provider: 'fal', providerModel: 'fal-ai/flux-2-pro' }, now, signal);
    const { body } = await portal.ask('getService', { as: operator });
    const since = new Date(now).toISOString();
    expect(body.open_circuits).toEqual([{ provider: 'sandbox', model: 'pro', quality: null, since }]);
    expect(body.failing_webhooks).toBe(0);
  });

  it('The keys of the operator API are listed without their secrets', async () => {
    const store = createOperatorKeyStore(portal.table);
    const limits = { from: ['203.0.113.0/24'], dailyCreditCapMicros: asMicros(5_000_000) };
    const { record, key } = newOperatorKey(
      { name: 'billing', scopes: ['wallet:credit'], ...limits },
      { clock: fakeClock(now), randomBytes },
    );
    await store.create(record);
    const { body } = await portal.ask('listOperatorKeys', { as: operator });
    expect(body.data).toMatchObject([
      { id: record.id, name: 'billing', scopes: ['wallet:credit'], from: ['203.0.113.0/24'] },
    ]);
    expect(body.data).toMatchObject([{ daily_credit_cap: 5, credited_today: 0, post_rate: 120 }]);
    expect(JSON.stringify(body)).not.toContain(record.hash);
    expect(JSON.stringify(body)).not.toContain(key.slice(20));
  });

  it('The margin is that of the report, for at most 31 days', async () => {
    const developer = await portal.signIn('dev@studio.test', account, 'developer');
    const body = { model: 'sandbox-standard', prompt: 'a lake' };
    await portal.ask('createCreation', { as: developer, body });
    const margin = (query: Readonly<Record<string, string>>): Promise<Answered> =>
      portal.ask('getMargin', { as: operator, query });
    const answer = await margin({ from: '2026-11-01', to: '2026-11-30', by: 'account' });
    expect(answer.body.total).toMatchObject({ creations: 1, revenue: 0.04 });
    expect(fieldsOf(await margin({ from: '2026-10-01', to: '2026-11-30' }))).toEqual(['from']);
    expect(fieldsOf(await margin({ by: 'key' }))).toEqual(['by']);
  });
});
