import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failures } from '../../service/contract/failures.ts';
import { type Answer, type Client, sharedTestService } from '../fixtures/service.ts';
import { anyText, creationIdIn, idOf } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { refusalOf } from './refusal.ts';

let client: Client;
const service = await sharedTestService();
afterAll(() => service.end());
beforeEach(async () => {
  client = await service.client();
});
afterEach(() => service.machine.faults.clear());

const body = { model: 'sandbox-sketch', prompt: 'a ferry' };
const submit = (extra: object = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  service.send('/images/generate', { key: client.key, body: { ...body, ...extra }, headers });
const movements = async (): Promise<string[]> =>
  (await service.operator.wallet.ledger(client.account.id))
    .map(({ kind }) => kind)
    .filter((kind) => kind !== 'top_up');

describe('503 ERR_PROVIDER_UNAVAILABLE, overloaded: nothing charged', () => {
  it.each([
    ['conflicts outlast the retries of the charge', 'dynamodb:TransactWriteItems', 'TransactionConflict'],
    ['throttling outlasts the retries of the charge', 'dynamodb:TransactWriteItems', 'Throttling'],
    ["the table's throughput is used up", 'dynamodb:TransactWriteItems', 'ProvisionedThroughputExceeded'],
    ["the account's request limit is used up", 'dynamodb:TransactWriteItems', 'RequestLimitExceeded'],
    ['the read comes back unprocessed', 'dynamodb:BatchGetItem', 'UnprocessedKeys'],
  ])('The request is answered 503 when %s', async (_why, call, error) => {
    service.machine.faults.set({ call, error, every: 1 });
    const answer = await submit();
    service.machine.faults.clear();
    expect(refusalOf(answer)).toEqual({
      status: 503,
      code: 'ERR_PROVIDER_UNAVAILABLE',
      details: { reason: 'overloaded' },
    });
    expect(answer.headers.has('retry-after')).toBe(true);
    expect(await movements()).toEqual([]);
    expect(await service.operator.creations.list(client.account.id, 1)).toEqual([]);
  });

  it('A conflict that passes does not change the answer', async () => {
    service.machine.faults.set({
      call: 'dynamodb:TransactWriteItems',
      error: 'TransactionConflict',
      times: 2,
    });
    expect((await submit()).status).toBe(202);
    expect(service.machine.faults.list()).toEqual([]);
  });
});

describe('503 ERR_PROVIDER_UNAVAILABLE, provider_unavailable: the execution is definitely refused', () => {
  it.each(['AccessDenied', 'StateMachineDoesNotExist', 'StateMachineDeleting'])(
    'After %s the charge is reversed in full, the creation fails as ServiceUnavailable, and no webhook is sent',
    async (error) => {
      service.machine.faults.set({ call: 'states:StartExecution', error, every: 1 });
      const answer = await submit({ webhook_url: service.machine.inboxUrl });
      service.machine.faults.clear();
      const { details, ...rest } = refusalOf(answer);
      expect(rest).toEqual({ status: 503, code: 'ERR_PROVIDER_UNAVAILABLE' });
      expect(details).toEqual({ reason: 'provider_unavailable', creation_id: anyText });
      expect(await movements()).toEqual(['charge', 'refund']);
      expect((await service.account(client.account.id)).availableMicros).toBe(25_000_000);
      const shown = await service.send(`/creations/${String(details['creation_id'])}`, { key: client.key });
      expect(shown.body).toMatchObject({
        status: 'failed',
        error: failures.ServiceUnavailable.message,
        cost: 0.01,
        amount_refunded: 0.01,
      });
      const record = await service.operator.creations.read(creationIdIn(details['creation_id']));
      expect([record?.webhook?.status, record?.dueAt]).toEqual(['skipped', undefined]);
      expect(await service.operator.deliveries.log(client.account.id, 5)).toEqual([]);
    },
  );
});

describe('202: starting the execution is throttled or unclear, and accepted is accepted', () => {
  // Throttling: test/whole/workflow/reconciler.test.ts.
  it.each(['InternalServerError', 'ServiceUnavailable'])(
    'After %s the reconciler starts the creation',
    async (error) => {
      service.machine.faults.set({ call: 'states:StartExecution', error, every: 1 });
      const answer = await submit();
      service.machine.faults.clear();
      expect(answer.status).toBe(202);
      await service.machine.advance(125);
      expect(await service.ended(idOf(answer))).toMatchObject({ status: 'completed' });
      expect(await movements()).toEqual(['charge']);
    },
  );
});

describe("500 ERR_INTERNAL: the charge's outcome stays unknown", () => {
  it('The answer says nothing of the cause, and the reconciler finds the charge and renders the creation', async () => {
    service.machine.faults.set({
      call: 'dynamodb:TransactWriteItems',
      error: 'Timeout',
      when: 'after',
      every: 1,
    });
    const answer = await submit({}, { 'idempotency-key': 'unknown' });
    service.machine.faults.clear();
    expect(refusalOf(answer)).toEqual({ status: 500, code: 'ERR_INTERNAL', details: {} });
    expect(answer.text).not.toMatch(/socket|ECONN|Timeout|dynamo|transact/i);
    const replay = await submit({}, { 'idempotency-key': 'unknown' });
    expect([replay.status, replay.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
    await service.machine.advance(125);
    expect(await service.ended(idOf(replay))).toMatchObject({ status: 'completed' });
    expect(await movements()).toEqual(['charge']);
  });

  it('One lost answer is asked for again, and the request is charged once', async () => {
    service.machine.faults.set({ call: 'dynamodb:TransactWriteItems', error: 'Timeout', when: 'after' });
    expect((await submit()).status).toBe(202);
    expect(await movements()).toEqual(['charge']);
  });
});

everyAnswer(() => service);
