/** GET /events on the whole service: what it shows, the cursor, and the wait. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { setNotices } from '../../service/notices/alert-settings.ts';
import { asMicros } from '../../service/values/money.ts';
import { redeliver } from '../../service/webhooks/redeliver.ts';
import { type Answer, type Client, sharedTestService } from '../fixtures/service.ts';
import { textLike } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { fieldsOf } from './refusal.ts';
import { heldSlots, recordOf, settled, submit } from './workflow/creations.ts';

const service = await sharedTestService();
afterAll(() => service.end());

function read({ key }: Client, query: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const search = new URLSearchParams(query).toString();
  return service.send(`/events${search === '' ? '' : `?${search}`}`, { key });
}

const pageSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      event: z.string(),
      created_at: z.string(),
      payload: z.record(z.string(), z.unknown()),
      redelivery_of: z.nullable(z.string()),
    }),
  ),
  next_cursor: z.string(),
});
type Page = z.infer<typeof pageSchema>;

/** The page in an answer. Fails when the answer holds none. */
function pageOf({ status, text, body }: Answer): Page {
  expect(status, text).toBe(200);
  return pageSchema.parse(body);
}

const pageBehind = async (client: Client, query: Readonly<Record<string, string>> = {}): Promise<Page> =>
  pageOf(await read(client, query));

async function cursorOf(client: Client): Promise<string> {
  return (await pageBehind(client)).next_cursor;
}

/** A creation of the client that has ended, and whose webhook is settled. */
async function ended(client: Client, body: object): Promise<string> {
  const id = await submit(service, client.key, { ...body });
  await settled(service, id);
  return id;
}

async function isTold({ account }: Client): Promise<void> {
  while (!(await service.account(account.id)).toldLow) await sleep(20);
}

/** The first page with an event. On a slow machine a creation may take longer than a read is held. */
async function firstPage(client: Client, query: Readonly<Record<string, string>> = {}): Promise<Page> {
  const page = await pageBehind(client, { ...query, wait: '20' });
  return page.data.length > 0 ? page : firstPage(client, { after: page.next_cursor });
}

describe('what GET /events shows', () => {
  it('An account sees each end behind its cursor once and in order, with the exact webhook body', async () => {
    const client = await service.client();
    await ended(client, { prompt: 'a lake' });
    const after = await cursorOf(client);
    const webhook_url = service.machine.inboxUrl;
    const metadata = { '2': 'b', '1': 'a' };
    const ids = [
      await ended(client, { prompt: 'a lake', webhook_url, metadata }),
      await ended(client, { prompt: '[sandbox:fail]' }),
    ];
    const answer = await read(client, { after });
    const { data, next_cursor } = pageOf(answer);
    expect(data.map(({ event, payload }) => [event, payload['id']])).toEqual([
      ['creation.completed', ids[0]],
      ['creation.failed', ids[1]],
    ]);
    const record = await recordOf(service, ids[0] ?? '');
    expect(JSON.stringify(data[0]?.payload)).toBe(record.webhook?.body);
    expect(data[0]).toMatchObject({
      id: textLike(/^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/),
      created_at: record.completedAt,
      redelivery_of: null,
    });
    expect(await pageBehind(client, { after: next_cursor })).toEqual({ data: [], next_cursor });
    expect((await read(client, { after })).text).toBe(answer.text);
  });

  it('A redelivery is one more event that names the first one', async () => {
    const client = await service.client();
    const after = await cursorOf(client);
    const id = await ended(client, { prompt: 'a lake', webhook_url: service.machine.inboxUrl });
    const [first] = (await pageBehind(client, { after })).data;
    const { operator } = service;
    const [delivery] = await operator.deliveries.log(client.account.id, 1);
    expect(await redeliver(client.account, delivery?.id ?? '', operator)).toMatchObject({ kind: 'started' });
    const { data } = await pageBehind(client, { after });
    const { event, payload } = first ?? {};
    expect(data).toMatchObject([{ ...first }, { event, payload, redelivery_of: first?.id }]);
    expect(data[1]?.id).not.toBe(first?.id);
    await settled(service, id);
  });

  it('Notices are shown only if they are asked for, and keep no other event back', async () => {
    const client = await service.client({ balance: '1' });
    const notices = { noticeUrl: service.machine.inboxUrl, lowBalanceMicros: asMicros(995_000) };
    await setNotices(client.account.id, notices, service.operator);
    const after = await cursorOf(client);
    await ended(client, { prompt: 'a lake' });
    await isTold(client);
    const { data } = await pageBehind(client, { after, include: 'notices' });
    expect(data.map(({ event }) => event)).toEqual(['creation.completed', 'wallet.low']);
    expect(data[1]).toMatchObject({ payload: { notice: 'wallet.low' }, redelivery_of: null });
    expect(data[1]?.id.slice('evt_'.length)).toBe(String(data[1]?.payload['id']).slice('ntc_'.length));
    const without = await pageBehind(client, { after });
    expect(without.data).toEqual(data.slice(0, 1));
    expect((await pageBehind(client, { after: without.next_cursor })).data).toEqual([]);
  });
});

describe('the cursor', () => {
  it('Pages of one event follow each other, oldest first, without a gap', async () => {
    const client = await service.client();
    let after = await cursorOf(client);
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push(await ended(client, { prompt: 'a lake' }));
    const seen: string[] = [];
    for (let pages = 0; pages < 4; pages += 1) {
      const page = await pageBehind(client, { after, limit: '1' });
      seen.push(...page.data.map(({ payload }) => String(payload['id'])));
      after = page.next_cursor;
    }
    expect(seen).toEqual(ids);
  });

  it('A foreign or broken cursor and wrong parameters are refused with their fields', async () => {
    const [client, other] = [await service.client(), await service.client()];
    const after = await cursorOf(other);
    const fields = (answer: Answer): unknown => [
      answer.status,
      fieldsOf(answer).map((text) => text.split(':')[0]),
    ];
    for (const wrong of [after, after.slice(1), `${await cursorOf(client)}A`, '', 'x'])
      expect(fields(await read(client, { after: wrong })), wrong).toEqual([400, ['after']]);
    const answer = await read(client, { limit: '0', wait: '1.5', include: 'all', since: '10m' });
    expect(fields(answer)).toEqual([400, ['since', 'limit', 'wait', 'include']]);
  });
});

describe('wait', () => {
  it('A held read answers when a creation ends, also without a cursor', async () => {
    const client = await service.client();
    const reading = firstPage(client);
    while ((await heldSlots(service, client.account.id, 'events')) < 1) await sleep(20);
    const id = await submit(service, client.key, { prompt: 'a lake' });
    expect((await reading).data.map(({ payload }) => payload['id'])).toEqual([id]);
  });

  it('A read that waits in vain answers with no event and the same cursor', async () => {
    const client = await service.client();
    const after = await cursorOf(client);
    expect(await pageBehind(client, { after, wait: '1' })).toEqual({ data: [], next_cursor: after });
  });
});

everyAnswer(() => service);
