/** The limits of a key besides its monthly cap, max_cost, user and X-Darkroom-Cost, over sockets. */
import { afterAll, describe, expect, it } from 'vitest';
import { type Answer, type Client, sharedTestService } from '../fixtures/service.ts';
import { anyText, creationIdIn, idOf, monthBegin, textLike } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { fieldsOf, refusalOf } from './refusal.ts';

const service = await sharedTestService();
afterAll(() => service.end());

/** 0.01 USD. */
const sketch = { model: 'sandbox-sketch', prompt: 'a pier at low tide' };

const submit = ({ key }: Client, body: object = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  service.send('/images/generate', { key, body: { ...sketch, ...body }, headers });
const quote = ({ key }: Client, body: object = {}): Promise<Answer> =>
  service.send('/images/quote', { key, body: { ...sketch, ...body } });
const get = ({ key }: Client, path: string): Promise<Answer> => service.send(path, { key });
const keyIn = async (client: Client, query = ''): Promise<Record<string, unknown>> =>
  ((await get(client, `/balance${query}`)).body as { key: Record<string, unknown> }).key;
const userIn = ({ body }: Answer): unknown => (body as { user: unknown }).user;
const reasonOf = (answer: Answer): unknown => refusalOf(answer).details['reason'];

/** Charges a creation that is not started. */
async function notStarted(client: Client, body: object = {}): Promise<string> {
  service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
  const answer = await submit(client, { ...body, prompt: 'a pier' });
  service.machine.faults.clear();
  return idOf(answer);
}

/** Refunds an open creation, as the operator's command does. */
async function refund(id: string): Promise<void> {
  const { charges, creations } = service.operator;
  const creation = await creations.read(creationIdIn(id));
  const nowMillis = service.machine.clock.now();
  const failed = { failure: 'GenerationFailed', nowMillis, announce: true } as const;
  expect(creation && (await charges.refund(creation, failed))).toBe('refunded');
}

/** The first instant of a UTC day. */
const dayBegin = textLike(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/);

// test/tables/cap-facts.ts lets days and months turn, which takes many seconds over sockets.
describe('the daily budget of a key: 402, daily_budget_exceeded', () => {
  it('The refusal has cap, spent and resets_at, and a refund gives room again', async () => {
    const client = await service.client({ dailyCap: '0.02' });
    const open = await notStarted(client);
    expect((await submit(client)).status).toBe(202);
    const refused = refusalOf(await submit(client));
    expect(refused).toEqual({
      status: 402,
      code: 'ERR_INSUFFICIENT_BALANCE',
      details: { reason: 'daily_budget_exceeded', cap: 0.02, spent: 0.02, resets_at: dayBegin },
    });
    const resetsIn = Date.parse(String(refused.details['resets_at'])) - service.machine.clock.now();
    expect(resetsIn > 0 && resetsIn <= 86_400_000).toBe(true);
    await refund(open);
    expect(await keyIn(client)).toMatchObject({
      daily_cap: 0.02,
      spent_today: 0.01,
      spent_total: 0.01,
    });
    expect([(await submit(client)).status, (await submit(client)).status]).toEqual([202, 402]);
  });
});

describe('the total budget of a key: 402, total_budget_exceeded', () => {
  it('The budget counts what was spent before it was set, and gets a refund back', async () => {
    const client = await service.client();
    await submit(client);
    const { accounts } = service.operator;
    await accounts.changeKey(client.account.id, client.record.id, { totalCapMicros: 30_000 as never });
    const open = await notStarted(client);
    expect((await submit(client)).status).toBe(202);
    expect(reasonOf(await submit(client))).toBe('total_budget_exceeded');
    await refund(open);
    expect((await submit(client)).status).toBe(202);
    expect(refusalOf(await submit(client)).details).toEqual({
      reason: 'total_budget_exceeded',
      cap: 0.03,
      spent: 0.03,
      resets_at: null,
    });
  });
});

describe('the budget of a key for each user: 402, user_budget_exceeded', () => {
  it('Each user has a budget of its own, which gets a refund back', async () => {
    const client = await service.client({ perUserMonthlyCap: '0.02' });
    const open = await notStarted(client, { user: 'Ann' });
    expect((await submit(client, { user: 'Ann' })).status).toBe(202);
    expect(refusalOf(await submit(client, { user: 'Ann' }))).toEqual({
      status: 402,
      code: 'ERR_INSUFFICIENT_BALANCE',
      details: { reason: 'user_budget_exceeded', cap: 0.02, spent: 0.02, resets_at: monthBegin, user: 'Ann' },
    });
    expect((await submit(client, { user: 'Ben' })).status).toBe(202);
    const balanceOfAnn = async (): Promise<unknown> => (await keyIn(client, '?user=Ann'))['user'];
    expect(await balanceOfAnn()).toEqual({ id: 'Ann', spent: 0.02, resets_at: monthBegin });
    await refund(open);
    expect(await balanceOfAnn()).toMatchObject({ spent: 0.01 });
    // The execution of a failed creation gives back, too.
    const failing = await submit(client, { user: 'Ann', prompt: '[sandbox:fail]' });
    expect(await service.ended(idOf(failing))).toMatchObject({ status: 'failed' });
    expect(await balanceOfAnn()).toMatchObject({ spent: 0.01 });
    expect((await submit(client, { user: 'Ann' })).status).toBe(202);
    expect((await submit(client, { user: 'Ann' })).status).toBe(402);
  });

  it('A key with such a cap requires a user, in a submission and in a quote, but a replay gets its creation', async () => {
    const client = await service.client();
    const first = await submit(client, {}, { 'idempotency-key': 'before' });
    await service.operator.accounts.changeKey(client.account.id, client.record.id, {
      perUserMonthlyCapMicros: 50_000 as never,
    });
    expect([fieldsOf(await submit(client)), fieldsOf(await quote(client))]).toEqual([
      ['user: required'],
      ['user: required'],
    ]);
    const replay = await submit(client, {}, { 'idempotency-key': 'before' });
    expect([replay.status, idOf(replay)]).toEqual([202, idOf(first)]);
  });
});

describe('several budgets of a key', () => {
  it('The refusal names the first exceeded budget: daily, monthly, total, user', async () => {
    const caps = { dailyCap: '0', monthlyCap: '0', totalCap: '0', perUserMonthlyCap: '0' };
    const client = await service.client({ ...caps, balance: '0' });
    const { accounts } = service.operator;
    const reasons: unknown[] = [];
    for (const cap of ['dailyCapMicros', 'monthlyCapMicros', 'totalCapMicros', 'perUserMonthlyCapMicros']) {
      reasons.push(reasonOf(await submit(client, { user: 'Ann' })));
      await accounts.changeKey(client.account.id, client.record.id, { [cap]: null });
    }
    expect(reasons).toEqual([
      'daily_budget_exceeded',
      'monthly_budget_exceeded',
      'total_budget_exceeded',
      'user_budget_exceeded',
    ]);
    expect(refusalOf(await submit(client)).details).toMatchObject({ required: 0.01 });
  });
});

describe('the models of a key', () => {
  it('A model that the key does not allow is absent from GET /models, and 404 on submission and quote', async () => {
    const client = await service.client({ models: 'sandbox-sketch,sandbox-pro' });
    const listed = (await get(client, '/models')).body as { data: { id: string }[] };
    expect(listed.data.map(({ id }) => id).sort()).toEqual(['sandbox-pro', 'sandbox-sketch']);
    const standard = { model: 'sandbox-standard' };
    for (const answer of [await submit(client, standard), await quote(client, standard)])
      expect(refusalOf(answer)).toMatchObject({ status: 404, code: 'ERR_MODEL_NOT_FOUND' });
    expect([(await submit(client)).status, (await quote(client)).status]).toEqual([202, 200]);
    expect((await keyIn(client))['models']).toEqual(['sandbox-sketch', 'sandbox-pro']);
  });
});

describe('the expiry of a key', () => {
  it('A key works until it expires, and is answered 401 api_key_invalid from that moment on', async () => {
    const expires = new Date(service.machine.clock.now() + 3_600_000).toISOString();
    const client = await service.client({ expires });
    expect((await keyIn(client))['expires_at']).toBe(expires);
    expect((await submit(client)).status).toBe(202);
    service.jump(3_601);
    for (const answer of [await submit(client), await get(client, '/models')])
      expect(refusalOf(answer)).toMatchObject({ status: 401, details: { reason: 'api_key_invalid' } });
    await service.operator.accounts.changeKey(client.account.id, client.record.id, { expiresAt: null });
    expect((await submit(client)).status).toBe(202);
  });
});

describe('max_cost', () => {
  it('A price above max_cost is refused with both amounts, and nothing is charged; an equal price is accepted', async () => {
    const client = await service.client();
    for (const answer of [await submit(client, { max_cost: 0.009999 }), await quote(client, { max_cost: 0 })])
      expect(refusalOf(answer)).toMatchObject({
        status: 400,
        code: 'ERR_INVALID_REQUEST',
        details: { reason: 'max_cost_exceeded', cost: 0.01, errors: [{ field: 'max_cost' }] },
      });
    expect(refusalOf(await submit(client, { max_cost: 0.009999 })).details['max_cost']).toBe(0.009999);
    expect((await service.operator.wallet.ledger(client.account.id)).map(({ kind }) => kind)).toEqual([
      'top_up',
    ]);
    expect([
      (await submit(client, { max_cost: 0.01 })).status,
      (await quote(client, { max_cost: 1 })).status,
    ]).toEqual([202, 200]);
  });

  it('A replay returns the first creation, and another max_cost is another request', async () => {
    const client = await service.client();
    const headers = { 'idempotency-key': 'limited' };
    const first = await submit(client, { max_cost: 0.01 }, headers);
    const again = await submit(client, { max_cost: 0.01 }, headers);
    expect([again.status, idOf(again)]).toEqual([202, idOf(first)]);
    expect(reasonOf(await submit(client, { max_cost: 0.001 }, headers))).toBe('idempotency_key_mismatch');
  });
});

describe('X-Darkroom-Cost', () => {
  const costOf = ({ headers }: Answer): string | null => headers.get('x-darkroom-cost');

  it('The header X-Darkroom-Cost has the price in USD on a 202, a replay, a 200 after a wait and a quote, and on nothing else', async () => {
    const client = await service.client();
    const headers = { 'idempotency-key': 'priced' };
    const answers = [
      await submit(client, {}, headers),
      await submit(client, {}, headers),
      await submit(client, {}, { prefer: 'wait=20' }),
      await quote(client, { model: 'sandbox-pro', resolution: '2K' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 200, 200]);
    expect(answers.map(costOf)).toEqual(['0.01', '0.01', '0.01', '0.12']);
    const others = [await get(client, '/balance'), await submit(client, { max_cost: 0 })];
    expect(others.map(costOf)).toEqual([null, null]);
  });
});

describe('user', () => {
  it('The creation, its ledger row and the filter of GET /creations have the user as it was sent', async () => {
    const client = await service.client();
    const user = ' Anné 🪶 ';
    const made = await submit(client, { user });
    const other = await submit(client, { user: null });
    expect([userIn(made), userIn(other)]).toEqual([user, null]);
    const list = async (text: string): Promise<unknown[]> =>
      ((await get(client, `/creations?user=${encodeURIComponent(text)}`)).body as { data: unknown[] }).data;
    expect(await list(user)).toMatchObject([{ id: idOf(made), user }]);
    expect(await list('Anné')).toEqual([]);
    for (const wrong of ['', 'x'.repeat(65)])
      expect(fieldsOf(await get(client, `/creations?user=${wrong}`))).toEqual(['user: invalid_value']);
    const rows = await service.operator.wallet.ledger(client.account.id);
    expect(rows.map((row) => row.user)).toEqual([undefined, user, undefined]);
    const [row] = rows.filter(({ kind }) => kind === 'charge');
    expect(row).toMatchObject({ day: anyText, month: anyText });
  });

  it('The user takes part in the comparison of requests with one Idempotency-Key', async () => {
    const client = await service.client();
    const headers = { 'idempotency-key': 'for one user' };
    await submit(client, { user: 'Ann' }, headers);
    expect(reasonOf(await submit(client, { user: 'Ben' }, headers))).toBe('idempotency_key_mismatch');
    expect((await submit(client, { user: 'Ann' }, headers)).status).toBe(202);
  });
});

everyAnswer(() => service);
