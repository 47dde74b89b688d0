/** What an operator can do with webhooks: deliver a webhook again, and send a test delivery. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redeliver, sendTestDelivery } from '../../../service/webhooks/redeliver.ts';
import { signature256 } from '../../../service/webhooks/webhook.ts';
import { type Client, sharedTestService, type TestService } from '../../fixtures/service.ts';
import { submit } from './creations.ts';
import { type Arrival, type Receiver, startReceiver } from './receiver.ts';

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([sharedTestService(), startReceiver()]);
});
afterAll(() => Promise.all([service.end(), receiver.close()]));

const log = (client: Client): ReturnType<TestService['operator']['deliveries']['log']> =>
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
    await expect.poll(async () => (await log(client))[0]?.outcome).toBe('delivered');
    const [first] = await log(client);

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
      .poll(async () => (await log(client)).map(({ outcome }) => outcome))
      .toEqual(['delivered', 'delivered']);
  });

  it('A redelivery is refused while the webhook is still pending, and for a delivery of another account', async () => {
    const client = await service.client();
    const stranger = await service.client();
    const url = receiver.hook('pending', 500);
    await submit(service, client.key, { prompt: 'pending', webhook_url: url });
    await receiver.until('pending', 1);
    await expect.poll(async () => (await log(client))[0]?.outcome).toBe('failed');
    const [first] = await log(client);
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
    const outcome = await sendTestDelivery(account, url, service.operator);
    expect(outcome).toMatchObject({
      kind: 'sent',
      delivery: { attempt: 1, outcome: 'failed', status: 500, event: 'creation.completed' },
    });
    const [arrival] = receiver.arrivals('test');
    const nil = '00000000-0000-0000-0000-000000000000';
    const body = {
      event: 'creation.completed',
      id: nil,
      status: 'completed',
      cost: 0,
      metadata: { test: 'true' },
    };
    expect(JSON.parse(arrival?.raw.toString('utf8') ?? '')).toMatchObject(body);
    expect(arrival && isSigned(arrival, client.webhookSecret)).toBe(true);
    expect(await log(client)).toMatchObject([
      { attempt: 1, outcome: 'failed', status: 500, creationId: nil },
    ]);
    await service.machine.advance(3_601);
    expect(receiver.arrivals('test')).toHaveLength(1);
  });

  it('An account may send a test delivery once in 30 s, and a refusal says when the next one may be sent', async () => {
    const [client, other] = [await service.client(), await service.client()];
    const url = receiver.hook('often', 204);
    const send = async (sender: Client): ReturnType<typeof sendTestDelivery> =>
      sendTestDelivery(await service.account(sender.account.id), url, service.operator);
    expect(await send(client)).toMatchObject({ kind: 'sent' });
    const early = await send(client);
    expect(early.kind).toBe('too_soon');
    expect(early.kind === 'too_soon' && early.afterSeconds <= 30 && early.afterSeconds >= 1).toBe(true);
    expect(await send(other)).toMatchObject({ kind: 'sent' });
    await service.machine.advance(30);
    expect(await send(client)).toMatchObject({ kind: 'sent' });
  });

  it('A test delivery needs an address that a webhook may have, and an issued secret', async () => {
    const client = await service.client();
    const account = await service.account(client.account.id);
    expect(await sendTestDelivery(account, 'https://169.254.169.254/x', service.operator)).toEqual({
      kind: 'refused',
      why: 'must lead to public addresses only',
    });
    const url = receiver.hook('unsigned', 204);
    expect(await sendTestDelivery({ ...account, webhookSecrets: [] }, url, service.operator)).toEqual({
      kind: 'no_secret',
    });
    expect(receiver.arrivals('unsigned')).toEqual([]);
  });
});
