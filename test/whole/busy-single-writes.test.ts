/**
 * DynamoDB refuses single writes while a transaction holds the item, and throttles reads and counters. These
 * tests use real sockets and the SDK's own retries: no answer is 500, and a charged request is accepted.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Client, sharedTestService, type TestService } from '../fixtures/service.ts';
import { idOf } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { refusalOf } from './refusal.ts';

let service: TestService;
let client: Client;
/** A creation that has ended. */
let ended: string;
beforeAll(async () => {
  service = await sharedTestService();
  client = await service.client({ postRate: '1000', getRate: '1000', maxConcurrent: '100' });
  ended = idOf(await post('/images/generate', sketch));
  await service.ended(ended);
});
afterAll(() => service.end());
afterEach(() => {
  service.machine.faults.clear();
});

/**
 * More tries than are made: the SDK tries a throttled call three times, and the adapter repeats this ten
 * times.
 */
const forGood = 1_000;
const sketch = { model: 'sandbox-sketch', prompt: 'a pier' };
const overloaded = { status: 503, code: 'ERR_PROVIDER_UNAVAILABLE', details: { reason: 'overloaded' } };

const get = (path: string): Promise<Answer> => service.send(path, { key: client.key });
const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  service.send(path, { key: client.key, body, headers });

/** Every kind of request that writes a counter or a stamp by a single write. */
const requests: readonly (readonly [string, () => Promise<Answer>, number])[] = [
  ['a refused POST', () => post('/images/generate', { nonsense: true }), 400],
  ['a quote', () => post('/images/quote', sketch), 200],
  ['a poll', () => get(`/creations/${ended}`), 200],
  ['a list', () => get('/creations'), 200],
  ['the models', () => get('/models'), 200],
  ['the balance', () => get('/balance'), 200],
  ['an unknown path', () => get('/nothing'), 404],
];

describe('a single write that meets a conflict', () => {
  it.each(requests)('Three conflicts do not change the answer of %s', async (_what, ask, status) => {
    await service.machine.advance(1);
    service.machine.faults.set({ call: 'dynamodb:UpdateItem', error: 'TransactionConflict', times: 3 });
    expect((await ask()).status).toBe(status);
    expect(service.machine.faults.list()).toEqual([]);
  });

  it('Conflicts without end make each of these requests 503 overloaded, with Retry-After', async () => {
    await service.machine.advance(1);
    service.machine.faults.set({ call: 'dynamodb:UpdateItem', error: 'TransactionConflict', times: forGood });
    const answers = await Promise.all(requests.map(([, ask]) => ask()));
    expect(answers.map(refusalOf)).toEqual(requests.map(() => overloaded));
    expect(answers.every(({ headers }) => /^[1-9]\d*$/.test(headers.get('retry-after') ?? ''))).toBe(true);
  });
});

describe('a throttled read', () => {
  it('A throttled read that decides about a replay is answered 503 overloaded, and nothing is charged', async () => {
    const headers = { 'idempotency-key': 'throttled' };
    await service.ended(idOf(await post('/images/generate', sketch, headers)));
    const before = (await service.account(client.account.id)).availableMicros;
    service.machine.faults.set({
      call: 'dynamodb:GetItem',
      caller: 'GenerateImage',
      error: 'Throttling',
      times: forGood,
    });
    expect(refusalOf(await post('/images/generate', sketch, headers))).toEqual(overloaded);
    expect((await service.account(client.account.id)).availableMicros).toBe(before);
  });

  it('A throttled read after the charge is answered 202 with the creation and its Location', async () => {
    service.machine.faults.set({
      call: 'dynamodb:GetItem',
      caller: 'GenerateImage',
      error: 'Throttling',
      times: forGood,
    });
    const answer = await post('/images/generate', sketch, { prefer: 'wait=10' });
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/api/public/v1/creations/${idOf(answer)}`);
    service.machine.faults.clear();
    expect(await service.ended(idOf(answer))).toBeDefined();
  });
});

describe('a call to DynamoDB that hangs', () => {
  it('The call is given up and made again, so a poll is answered', async () => {
    await service.machine.advance(1);
    service.machine.faults.set({ call: 'dynamodb:UpdateItem', error: 'hang', times: 1, match: 'lastPollAt' });
    expect((await get(`/creations/${ended}`)).status).toBe(200);
    expect(service.machine.faults.list()).toEqual([]);
  });
});

everyAnswer(() => service);
