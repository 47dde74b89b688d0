/**
 * What an operator can do with webhooks, when a webhook is sent, and when it is no longer sent, in virtual time.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { createAccount } from '../../../admin/commands/accounts.ts';
import { issueKey } from '../../../admin/commands/keys.ts';
import { issueSecret } from '../../../admin/commands/webhooks.ts';
import type { Delivery } from '../../../service/webhooks/delivery.ts';
import { type Client, sharedTestService, type TestService } from '../../fixtures/service.ts';
import { jsonObject } from '../../fixtures/values.ts';
import { recordOf, settled, submit } from './creations.ts';
import { type Arrival, startReceiver } from './receiver.ts';
import { redeliver, sendTestDelivery } from '../../../service/webhooks/redeliver.ts';
import { signature256 } from '../../../service/webhooks/webhook.ts';

const [service, receiver] = await Promise.all([sharedTestService(), startReceiver()]);
afterAll(async () => {
  await receiver.close();
  await service.end();
});

const deliveryLog = (client: Client): ReturnType<TestService['operator']['deliveries']['log']> =>
  service.operator.deliveries.log(client.account.id, 20);

function isSigned({ headers, raw }: Arrival, secret: string): boolean {
  return (
    headers['x-webhook-signature-256'] ===
    signature256(secret, headers['x-timestamp'] ?? '', raw.toString('utf8'))
  );
}

describe('the redelivery of a webhook', () => {
  it('A redelivery opens a new round of attempts with the same bytes, a delivery of its own and a new signature', async () => {
    const client = await service.client();
    const url = receiver.hook('again', 204);
    const id = await submit(service, client.key, { prompt: 'sent twice', webhook_url: url });
    await receiver.until('again', 1);
    await expect.poll(async () => (await deliveryLog(client))[0]?.outcome).toBe('delivered');
    const [first] = await deliveryLog(client);

    expect(await redeliver(client.account, first?.id ?? '', service.operator)).toEqual({
      kind: 'started',
      creationId: id,
    });
    await receiver.until('again', 2);
    const [before, after] = receiver.arrivals('again');
    expect(after?.raw.equals(before?.raw ?? Buffer.alloc(0))).toBe(true);
    expect(after?.headers['x-webhook-attempt']).toBe('1');
    expect(after?.headers['x-webhook-delivery-id']).not.toBe(before?.headers['x-webhook-delivery-id']);
    expect(after?.headers['webhook-id']).toBe(before?.headers['webhook-id']);
    expect(after && isSigned(after, client.webhookSecret)).toBe(true);
    await expect
      .poll(async () => (await deliveryLog(client)).map(({ outcome }) => outcome))
      .toEqual(['delivered', 'delivered']);
  });

  it('A redelivery is refused while the webhook is still pending, and for a delivery of another account', async () => {
    const client = await service.client();
    const stranger = await service.client();
    const url = receiver.hook('pending', 500);
    await submit(service, client.key, { prompt: 'pending', webhook_url: url });
    await receiver.until('pending', 1);
    await expect.poll(async () => (await deliveryLog(client))[0]?.outcome).toBe('failed');
    const [first] = await deliveryLog(client);
    expect(await redeliver(client.account, first?.id ?? '', service.operator)).toEqual({
      kind: 'still_pending',
    });
    expect(await redeliver(stranger.account, first?.id ?? '', service.operator)).toEqual({
      kind: 'unknown_delivery',
    });
    expect(await redeliver(client.account, 'nonsense', service.operator)).toEqual({
      kind: 'unknown_delivery',
    });
  });
});

describe('the test delivery of a webhook', () => {
  it('A test delivery is one signed attempt with the nil UUID, cost 0 and metadata {test: "true"}, which is logged and never repeated', async () => {
    const client = await service.client();
    const url = receiver.hook('test', 500);
    const account = await service.account(client.account.id);
    const outcome = await sendTestDelivery(account, { url }, service.operator);
    expect(outcome).toMatchObject({
      kind: 'sent',
      delivery: { attempt: 1, outcome: 'failed', status: 500, event: 'creation.completed' },
    });
    // test/webhooks/redeliver.test.ts has its bytes and its signatures.
    const [arrival] = receiver.arrivals('test');
    const nil = '00000000-0000-0000-0000-000000000000';
    expect(jsonObject(String(arrival?.raw))).toMatchObject({ id: nil, metadata: { test: 'true' } });
    expect(await deliveryLog(client)).toMatchObject([
      { attempt: 1, outcome: 'failed', status: 500, creationId: nil },
    ]);
    service.jump(3_600);
    await service.machine.advance(60);
    expect(receiver.arrivals('test')).toHaveLength(1);
  });

  it('An account may send a test delivery once in 30 s, and a refusal says when the next one may be sent', async () => {
    const [client, other] = [await service.client(), await service.client()];
    const url = receiver.hook('often', 204);
    const send = async (sender: Client): ReturnType<typeof sendTestDelivery> =>
      sendTestDelivery(await service.account(sender.account.id), { url }, service.operator);
    expect(await send(client)).toMatchObject({ kind: 'sent' });
    const early = await send(client);
    expect(early.kind).toBe('too_soon');
    expect(early.kind === 'too_soon' && early.afterSeconds <= 30 && early.afterSeconds >= 1).toBe(true);
    expect(await send(other)).toMatchObject({ kind: 'sent' });
    service.jump(30);
    expect(await send(client)).toMatchObject({ kind: 'sent' });
  });
});

const header = (name: string, arrivals: readonly Arrival[]): string[] =>
  arrivals.map(({ headers }) => headers[name] ?? '');

/** The seconds between each arrival and the previous one. */
function gaps(arrivals: readonly Arrival[]): number[] {
  const times = header('x-timestamp', arrivals).map(Number);
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

/**
 * Submits while the clock stands still, so that each attempt falls on an exact second. The advance waits for
 * the rendering while the clock stands still.
 */
async function submitAndAdvance(client: Client, url: string, seconds: number): Promise<string> {
  service.machine.clock.freeze();
  const id = await submit(service, client.key, { prompt: 'a lake', webhook_url: url });
  await service.machine.advance(seconds);
  return id;
}

const log = (client: Client): Promise<readonly Delivery[]> =>
  service.operator.deliveries.log(client.account.id, 100);

describe('a webhook whose receiver fails', () => {
  it('The webhook is sent at 0, 60, 180, 420 and 900 s, each time with a new signature over the same bytes, and then no more', async () => {
    const client = await service.client();
    const id = await submitAndAdvance(client, receiver.hook('failing', 500), 899);
    expect(gaps(receiver.arrivals('failing'))).toEqual([60, 120, 240]);
    await service.machine.advance(1);
    service.jump(7_200);
    await service.machine.advance(1);

    const arrivals = receiver.arrivals('failing');
    expect(gaps(arrivals)).toEqual([60, 120, 240, 480]);
    expect(header('x-webhook-attempt', arrivals)).toEqual(['1', '2', '3', '4', '5']);
    for (const name of [
      'x-timestamp',
      'x-webhook-signature-256',
      'webhook-signature',
      'x-webhook-delivery-id',
    ]) {
      expect(new Set(header(name, arrivals)), name).toHaveLength(5);
    }
    expect(header('webhook-timestamp', arrivals)).toEqual(header('x-timestamp', arrivals));
    expect(new Set(header('webhook-id', arrivals))).toEqual(new Set([`${id}:creation.completed`]));
    expect(new Set(arrivals.map(({ raw }) => raw.toString('base64')))).toHaveLength(1);
    expect((await recordOf(service, id)).webhook).toMatchObject({ status: 'failed', attempts: 5 });
  });

  it('The delivery log has one row for each attempt, the newest first', async () => {
    const client = await service.client();
    const id = await submitAndAdvance(client, receiver.hook('logged', 500, 404, 204), 1_000);
    const rows = await log(client);
    expect(rows.map(({ attempt, status, outcome }) => [attempt, status, outcome])).toEqual([
      [3, 204, 'delivered'],
      [2, 404, 'failed'],
      [1, 500, 'failed'],
    ]);
    expect(rows.every((row) => row.creationId === id && row.event === 'creation.completed')).toBe(true);
    expect(rows.map((row) => row.id)).toEqual(
      header('x-webhook-delivery-id', receiver.arrivals('logged')).toReversed(),
    );
    expect(rows[2]).toMatchObject({ responseExcerpt: 'noted', nextAttemptAt: rows[1]?.startedAt });
    expect(rows[0]).not.toHaveProperty('nextAttemptAt');
  });

  it.each([
    ['after the first 2xx', 'recovering', [503, 202, 500], [60], { status: 'delivered', attempts: 2 }],
    ['after a 410', 'gone', [410], [], { status: 'failed', attempts: 1 }],
  ] as const)('The webhook is not sent again %s', async (_when, hook, statuses, waits, webhook) => {
    const client = await service.client();
    const id = await submitAndAdvance(client, receiver.hook(hook, ...statuses), 7_200);
    expect(gaps(receiver.arrivals(hook))).toEqual(waits);
    expect((await recordOf(service, id)).webhook).toMatchObject(webhook);
  });

  it('A redirect counts as a failure and is not followed', async () => {
    const client = await service.client();
    await submitAndAdvance(client, receiver.hook('redirecting', 302, 200), 60);
    expect(gaps(receiver.arrivals('redirecting'))).toEqual([60]);
    expect(receiver.arrivals('elsewhere')).toEqual([]);
    expect((await log(client)).map(({ status, outcome }) => [status, outcome])).toEqual([
      [200, 'delivered'],
      [302, 'failed'],
    ]);
  });

  it('A receiver that cannot be reached counts as failed, and the log names no address', async () => {
    const client = await service.client();
    await submitAndAdvance(client, 'http://127.0.0.1:1/', 1);
    const [row] = await log(client);
    expect(row).toMatchObject({ outcome: 'failed', reason: 'connection refused' });
    expect(row).not.toHaveProperty('status');
  });
});

describe('an account without a signing secret', () => {
  it('The delivery of an account without a secret is skipped for good', async () => {
    const { operator, machine } = service;
    const account = await createAccount(operator, { name: 'no secret', balance: '1' });
    const { key } = await issueKey(operator, account, { name: 'test' });
    const id = await submit(service, key, { prompt: 'a lake', webhook_url: receiver.hook('unsigned', 200) });
    expect((await settled(service, id)).webhook).toMatchObject({ status: 'skipped', attempts: 0 });
    await issueSecret(operator, account);
    service.jump(3_601);
    await machine.advance(1);
    expect(receiver.arrivals('unsigned')).toEqual([]);
    const polled = await service.send(`/creations/${id}`, { key });
    expect(polled.body).toMatchObject({ webhook: { status: 'skipped', attempts: 0 } });
    expect(await operator.deliveries.log(account.id, 10)).toEqual([]);
  });
});

describe('a webhook whose receiver hangs', () => {
  it('An attempt may take 10 s, and the next attempt comes 60 s after these are over', async () => {
    const client = await service.client();
    const id = await submit(service, client.key, {
      prompt: 'a lake',
      webhook_url: receiver.hook('hanging', 0),
    });
    await expect.poll(async () => (await log(client))[0]?.outcome, { interval: 100 }).toBe('failed');
    const [row] = await log(client);
    expect(row).toMatchObject({ attempt: 1, outcome: 'failed', reason: 'timeout' });
    expect(row?.millis).toBeGreaterThanOrEqual(9_950);
    const wait = Date.parse(row?.nextAttemptAt ?? '') - Date.parse(row?.startedAt ?? '');
    expect(wait).toBeGreaterThanOrEqual(60_000 + 9_950);
    expect((await recordOf(service, id)).webhook).toMatchObject({ status: 'pending', attempts: 1 });
  });
});
