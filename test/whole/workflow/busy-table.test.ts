/**
 * Conflicts and lost answers of the table: each transaction that was begun is made in the end, and made once.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../../fixtures/service.ts';
import { jsonObject } from '../../fixtures/values.ts';
import { movementsOf, recordOf, recordWhen, settled, submit } from './creations.ts';
import { type Receiver, startReceiver } from './receiver.ts';

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startTestService(), startReceiver()]);
});
afterEach(async () => {
  service.machine.faults.clear();
  expect(await service.audit()).toEqual([]);
});
afterAll(async () => {
  await receiver.close();
  await service.end();
});

const openingMicros = 25_000_000;
/** How often the adapter tries one call. */
const triesOfOne = 10;

const eventsAt = (hook: string): string[] =>
  receiver.arrivals(hook).map(({ headers }) => headers['x-webhook-event'] ?? '');

/** The log lines of an event: their ids and their metrics. */
function measured(event: string): Record<string, unknown>[] {
  const lines = service.log.map(jsonObject).filter((line) => line['event'] === event);
  const wanted = ['ChargeConflicts', 'RequestsShed', 'RefundsBusy', 'requestId', 'accountId'];
  return lines.map((line) =>
    Object.fromEntries(Object.entries(line).filter(([name]) => wanted.includes(name))),
  );
}

/** Lets so many transactions of a function meet a conflict. */
function conflict(caller: string, times: number): void {
  service.machine.faults.set({
    call: 'dynamodb:TransactWriteItems',
    caller,
    error: 'TransactionConflict',
    times,
  });
}

/** Lets every try of the write that claims an attempt, or settles it, meet a conflict. */
function conflictAtAttempt(match: ':before' | ':settled'): void {
  service.machine.faults.set({
    call: 'dynamodb:UpdateItem',
    caller: 'DeliverWebhook',
    error: 'TransactionConflict',
    times: triesOfOne,
    match,
  });
}

describe('a transaction on money', () => {
  it('A refund that meets conflicts is made later, and only once', async () => {
    const { account, key } = await service.client();
    conflict('RefundCharge', triesOfOne + 2);
    const id = await submit(service, key, { prompt: 'a lake [sandbox:fail]' });
    const record = await settled(service, id);
    expect(service.machine.faults.list()).toEqual([]);
    expect(record).toMatchObject({ status: 'failed', failure: 'GenerationFailed', refundedMicros: 10_000 });
    expect(measured('refund_busy')).toMatchObject([{ RefundsBusy: 1, accountId: account.id }]);
    expect(await movementsOf(service, record)).toEqual(['charge', 'refund']);
    expect(await service.account(account.id)).toMatchObject({ availableMicros: openingMicros, inFlight: 0 });
  });

  it('A commit that meets conflicts never loses the image, because the stored image is found and committed', async () => {
    const { account, key } = await service.client();
    conflict('RenderImage', 2 * triesOfOne + 2);
    const id = await submit(service, key, {
      prompt: 'a lake',
      webhook_url: receiver.hook('commit-busy', 200),
    });
    const begun = await recordWhen(service, id, ({ attempts }) => attempts.length === 1);
    const record = await settled(service, id);
    expect(service.machine.faults.list()).toEqual([]);
    expect(record).toMatchObject({
      status: 'completed',
      attempts: [{ provider: 'sandbox', outcome: 'rendered' }],
    });
    expect(record.results[0]?.key).toBe(begun.attempts[0]?.resultKey);
    const { body } = (await service.send(`/creations/${id}`, { key })) as { body: { result_urls: [string] } };
    const image = await fetch(body.result_urls[0]);
    expect([image.status, (await image.arrayBuffer()).byteLength]).toEqual([200, record.results[0]?.bytes]);
    expect(await movementsOf(service, record)).toEqual(['charge']);
    expect(await service.account(account.id)).toMatchObject({
      availableMicros: openingMicros - 10_000,
      inFlight: 0,
    });
    expect(eventsAt('commit-busy')).toEqual(['creation.completed']);
  });
});

describe('a webhook attempt on a busy table', () => {
  const attemptsAt = (hook: string): string[] =>
    receiver.arrivals(hook).map(({ headers }) => headers['x-webhook-attempt'] ?? '');

  async function failing(hook: string, caller: () => void): Promise<string> {
    const { key } = await service.client();
    caller();
    const id = await submit(service, key, {
      prompt: 'a lake [sandbox:delay=300ms]',
      webhook_url: receiver.hook(hook, 500),
    });
    await service.machine.advance(4 * 3_600);
    return id;
  }

  it('A last attempt that could not be settled does not leave the webhook pending for good', async () => {
    const id = await failing('last-unsettled', () => conflictAtAttempt(':settled'));
    expect(service.machine.faults.list()).toEqual([]);
    expect(attemptsAt('last-unsettled')).toEqual(['1', '2', '3', '4', '5']);
    const record = await recordOf(service, id);
    expect(record.webhook).toMatchObject({ status: 'failed', attempts: 5 });
    expect(record).not.toHaveProperty('dueAt');
  });
});
