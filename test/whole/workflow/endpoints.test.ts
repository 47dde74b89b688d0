/** Endpoints: what the API stores, and which receivers get the events and notices of an account. */
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createAccount } from '../../../admin/commands/accounts.ts';
import { issueKey } from '../../../admin/commands/keys.ts';
import { signature256, standardSignature } from '../../../service/webhooks/webhook.ts';
import { type Answer, type Client, sharedTestService } from '../../fixtures/service.ts';
import { recordOf, settled, submit } from './creations.ts';
import { type Arrival, startReceiver } from './receiver.ts';

const [service, receiver] = await Promise.all([sharedTestService(), startReceiver()]);
afterEach(() => service.machine.faults.clear());
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  await receiver.close();
  await service.end();
});

const path = '/webhooks/endpoints';
const both = ['creation.completed', 'creation.failed'];

let hooks = 0;
interface Added {
  readonly id: string;
  readonly hook: string;
}

async function add(
  { key }: Client,
  statuses: readonly number[] = [200],
  more: Readonly<Record<string, unknown>> = {},
): Promise<Added> {
  const hook = `endpoint-${(hooks += 1)}`;
  const url = receiver.hook(hook, ...statuses);
  const answer = await service.send(path, { key, body: { url, events: both, ...more } });
  expect(answer.status).toBe(201);
  return { id: (answer.body as { readonly id: string }).id, hook };
}

const listed = async (key: string): Promise<readonly object[]> =>
  ((await service.send(path, { key })).body as { readonly data: readonly object[] }).data;

const change = ({ key }: Client, id: string, body: object): Promise<Answer> =>
  service.send(`${path}/${id}`, { method: 'PATCH', key, body });

const at = (hook: string): Arrival[] => receiver.arrivals(hook);
const header = (name: string, hook: string): string[] => at(hook).map(({ headers }) => headers[name] ?? '');
const gaps = (hook: string): number[] => {
  const times = header('x-timestamp', hook).map(Number);
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
};

async function render(client: Client, prompt = 'a lake', more: object = {}): Promise<string> {
  const id = await submit(service, client.key, { prompt, ...more });
  await settled(service, id);
  return id;
}

describe('the endpoints of an account', () => {
  it('An endpoint is added, listed, changed member by member, and deleted', async () => {
    const { key } = await service.client();
    const body = { url: receiver.hook('plain', 200), events: ['creation.failed', 'wallet.low'] };
    const added = await service.send(path, { key, body });
    expect(added.status).toBe(201);
    expect(added.body).toEqual({
      ...body,
      id: expect.stringMatching(/^we_[0-9A-Za-z]{14}$/) as string,
      description: '',
      enabled: true,
      disabled_reason: null,
      created_at: expect.stringMatching(/Z$/) as string,
    });
    const { id } = added.body as { id: string };
    const changed = await service.send(`${path}/${id}`, {
      method: 'PATCH',
      key,
      body: { description: 'billing', enabled: false },
    });
    expect(changed.body).toEqual({ ...added.body, description: 'billing', enabled: false });
    expect((await service.send(path, { key })).body).toEqual({ data: [changed.body] });
    expect((await service.send(`${path}/${id}`, { method: 'DELETE', key })).status).toBe(204);
    expect((await service.send(path, { key })).body).toEqual({ data: [] });
    expect((await service.send(`${path}/${id}`, { method: 'DELETE', key })).status).toBe(404);
  });

  it('A request that is repeated with its Idempotency-Key adds one endpoint, and another request with that key is refused', async () => {
    const { key } = await service.client();
    const order = (url: string): Promise<Answer> =>
      service.send(path, { key, body: { url, events: both }, headers: { 'idempotency-key': 'once' } });
    const first = await order(receiver.hook('one', 200));
    const again = await order(receiver.hook('one', 200));
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await order(receiver.hook('two', 200))).body).toMatchObject({
      error: { details: { reason: 'idempotency_key_mismatch' } },
    });
    expect(await listed(key)).toHaveLength(1);
  });

  it('Ten requests at once add ten endpoints, and the eleventh is refused with the name of its field', async () => {
    const { key } = await service.client();
    const order = (n: number): Promise<Answer> =>
      service.send(path, { key, body: { url: receiver.hook(`many-${n}`, 200), events: both } });
    for (let n = 0; n < 8; n += 1) expect((await order(n)).status).toBe(201);
    const answers = await Promise.all([order(8), order(9), order(10)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 400]);
    const refused = answers.find(({ status }) => status === 400);
    expect(refused?.body).toMatchObject({
      error: { details: { errors: [{ field: 'url', code: 'too_many' }] } },
    });
    expect(await listed(key)).toHaveLength(10);
  });

  it.each([
    [{ events: both }, 'url', 'required'],
    [{ url: 'http://example.com/', events: both }, 'url', 'refused_target'],
    [{ url: 'https://10.0.0.1/', events: both }, 'url', 'refused_target'],
    [{ url: 'https://example.com/' }, 'events', 'required'],
    [{ url: 'https://example.com/', events: [] }, 'events', 'too_small'],
    [{ url: 'https://example.com/', events: ['creation.done'] }, 'events[0]', 'invalid_value'],
    [{ url: 'https://example.com/', events: [both[0], both[0]] }, 'events', 'invalid_value'],
    [{ url: 'https://example.com/', events: both, secret: 'mine' }, 'secret', 'unknown_field'],
    [{ url: 'https://example.com/', events: both, description: '\n' }, 'description', 'invalid_value'],
    [{ url: 'https://example.com/', events: both, enabled: 'yes' }, 'enabled', 'invalid_type'],
  ])('%j is refused, because of %s', async (body, field, code) => {
    const { key } = await service.client();
    const answer = await service.send(path, { key, body });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { details: { errors: [{ field, code }] } } });
  });

  it("An account sees nothing of another account's endpoint, and can neither change nor delete it", async () => {
    const [own, other] = [await service.client(), await service.client()];
    const { id } = await add(own);
    const absent = await change(other, 'we_AAAAAAAAAAAAAA', { enabled: false });
    const foreign = await change(other, id, { enabled: false });
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(absent.body);
    expect((await service.send(`${path}/${id}`, { method: 'DELETE', key: other.key })).status).toBe(404);
    expect((await service.send(path, { key: other.key })).body).toEqual({ data: [] });
    expect(await listed(own.key)).toMatchObject([{ id, enabled: true }]);
  });
});

describe('an event of an account with endpoints', () => {
  it('Each enabled endpoint that asks gets the event once, signed with the secret of the account, and no other gets it', async () => {
    const client = await service.client();
    const [one, two] = [await add(client), await add(client)];
    const failures = await add(client, [200], { events: ['creation.failed'] });
    const off = await add(client, [200], { enabled: false });
    const stranger = await add(await service.client());
    const id = await render(client);
    for (const endpoint of [one, two]) {
      const [arrival, ...more] = at(endpoint.hook);
      expect(more).toEqual([]);
      const { headers = {}, raw = Buffer.of() } = arrival ?? {};
      const [body, time] = [String(raw), headers['x-timestamp'] ?? ''];
      expect(JSON.parse(body)).toMatchObject({ event: 'creation.completed', id });
      const messageId = `${id}:creation.completed:${endpoint.id}`;
      expect(headers['webhook-id']).toBe(messageId);
      expect(headers['x-webhook-signature-256']).toBe(signature256(client.webhookSecret, time, body));
      expect(headers['webhook-signature']).toBe(
        standardSignature(client.webhookSecret, messageId, time, body),
      );
    }
    expect([failures, off, stranger].flatMap(({ hook }) => at(hook))).toEqual([]);
    expect((await service.send(`/creations/${id}`, { key: client.key })).body).toMatchObject({
      webhook: null,
    });
    const failed = await render(client, 'a lake [sandbox:fail]');
    expect(at(failures.hook).map(({ raw }) => JSON.parse(String(raw)) as unknown)).toMatchObject([
      { event: 'creation.failed', id: failed },
    ]);
    const rows = await service.operator.deliveries.log(client.account.id, 10);
    expect(rows.map(({ endpointId }) => endpointId).toSorted()).toEqual(
      [one.id, two.id, failures.id, one.id, two.id].toSorted(),
    );
  });

  it('The webhook_url of a request is used instead of the endpoints', async () => {
    const client = await service.client();
    const { hook } = await add(client);
    const id = await render(client, 'a lake', { webhook_url: receiver.hook('instead', 200) });
    expect(at(hook)).toEqual([]);
    expect(header('webhook-id', 'instead')).toEqual([`${id}:creation.completed`]);
    expect((await service.send(`/creations/${id}`, { key: client.key })).body).toMatchObject({
      webhook: { status: 'delivered', attempts: 1 },
    });
  });

  it('Each endpoint keeps its own schedule, with one webhook-id and the same bytes, until it takes the event', async () => {
    const client = await service.client();
    const [good, late, never] = [
      await add(client),
      await add(client, [500, 503, 204]),
      await add(client, [500]),
    ];
    service.machine.clock.freeze();
    const id = await submit(service, client.key, { prompt: 'a lake' });
    await service.machine.advance(2_000);
    expect(gaps(good.hook)).toEqual([]);
    expect(at(good.hook)).toHaveLength(1);
    expect(gaps(late.hook)).toEqual([60, 120]);
    expect(gaps(never.hook)).toEqual([60, 120, 240, 480]);
    expect(header('x-webhook-attempt', never.hook)).toEqual(['1', '2', '3', '4', '5']);
    expect(new Set(header('webhook-id', never.hook))).toEqual(
      new Set([`${id}:creation.completed:${never.id}`]),
    );
    expect(new Set(header('x-webhook-delivery-id', never.hook)).size).toBe(5);
    expect(new Set([...at(never.hook), ...at(good.hook)].map(({ raw }) => String(raw))).size).toBe(1);
    expect((await recordOf(service, id)).webhook).toMatchObject({
      status: 'failed',
      endpoints: {
        [good.id]: { status: 'delivered', attempts: 1 },
        [late.id]: { status: 'delivered', attempts: 3 },
        [never.id]: { status: 'failed', attempts: 5 },
      },
    });
  });

  it('An endpoint that is switched off or deleted between two attempts gets no further one', async () => {
    const client = await service.client();
    const [off, deleted, kept] = [
      await add(client, [500]),
      await add(client, [500]),
      await add(client, [500, 200]),
    ];
    service.machine.clock.freeze();
    const id = await submit(service, client.key, { prompt: 'a lake' });
    await service.machine.advance(30);
    await change(client, off.id, { enabled: false });
    await service.send(`${path}/${deleted.id}`, { method: 'DELETE', key: client.key });
    await service.machine.advance(2_000);
    expect([off, deleted, kept].map(({ hook }) => at(hook).length)).toEqual([1, 1, 2]);
    expect((await recordOf(service, id)).webhook?.endpoints).toMatchObject({
      [off.id]: { status: 'skipped', attempts: 1 },
      [deleted.id]: { status: 'skipped', attempts: 1 },
      [kept.id]: { status: 'delivered', attempts: 2 },
    });
  });

  it('A later attempt goes to the new address of its endpoint', async () => {
    const client = await service.client();
    const { id, hook } = await add(client, [500]);
    service.machine.clock.freeze();
    await submit(service, client.key, { prompt: 'a lake' });
    await service.machine.advance(30);
    await change(client, id, { url: receiver.hook('moved', 200) });
    await service.machine.advance(60);
    expect([at(hook).length, at('moved').length]).toEqual([1, 1]);
  });

  it('The events of an account without a secret are skipped for good', async () => {
    const account = await createAccount(service.operator, { name: 'no secret', balance: '1' });
    const { key, record } = await issueKey(service.operator, account, { name: 'test' });
    const client: Client = { account, record, key, webhookSecret: '' };
    const { hook } = await add(client);
    const id = await render(client);
    expect((await recordOf(service, id)).webhook?.status).toBe('skipped');
    expect(at(hook)).toEqual([]);
  });
});

describe('a notice of an account with endpoints', () => {
  it('A notice goes to the endpoints that ask for it, also without an address for notices', async () => {
    const client = await service.client({ balance: '0.01' });
    const [asks, other] = [
      await add(client, [200], { events: ['wallet.empty'] }),
      await add(client, [200], { events: ['wallet.low'] }),
    ];
    await render(client);
    await receiver.until(asks.hook, 1);
    const [arrival] = at(asks.hook);
    const body = JSON.parse(String(arrival?.raw)) as Record<string, unknown>;
    expect(body).toMatchObject({ notice: 'wallet.empty', account: { available: 0 } });
    expect(arrival?.headers['webhook-id']).toBe(`${String(body['id'])}:${asks.id}`);
    expect(at(other.hook)).toEqual([]);
  });
});
