import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { thumbnailKey } from '../../service/creations/thumbnails.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { getItem } from '../../service/aws/dynamodb/send.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { type Answer, type Client, startTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { refusalOf } from './refusal.ts';
import { movementsOf, recordOf, settled, submit } from './workflow/creations.ts';

const service = await startTestService({ environment: { THUMBNAILS: 'on' } });
const client = await service.client({ postRate: '1000' });
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  await service.end();
});
beforeEach(() => {
  service.machine.faults.clear();
});

const prompt = 'a castle on a hill';
const remove = (id: string, by: Client = client): Promise<Answer> =>
  service.send(`/creations/${id}/results`, { key: by.key, method: 'DELETE' });
const show = (id: string, by: Client = client): Promise<Answer> =>
  service.send(`/creations/${id}`, { key: by.key });
const statusOf = async (address: string): Promise<number> => (await fetch(address)).status;

/** The addresses of the image and of its thumbnails, which are made last. */
async function addressesOf(id: string, by: Client = client): Promise<string[]> {
  await expect.poll(async () => (await recordOf(service, id)).colours).toBeDefined();
  const { result_urls: [url = ''] = [] } = (await show(id, by)).body as { result_urls?: string[] };
  return [url, thumbnailKey(url, 'small'), thumbnailKey(url, 'large')];
}

async function completed(by: Client = client, more: Record<string, unknown> = {}): Promise<string> {
  const id = await submit(service, by.key, { prompt, ...more });
  await service.ended(id);
  return id;
}

/** What is due by then starts once, and not in each minute. */
const inFortyMinutes = async (): Promise<void> => {
  service.jump(40 * 60);
  await service.machine.advance(1);
};

describe('DELETE /creations/{id}/results of a completed creation', () => {
  it('Its addresses are dead, and everything else stays', async () => {
    const payer = await service.client();
    const order = { metadata: { order: '7' }, user: 'user-7', webhook_url: service.machine.inboxUrl };
    const id = await completed(payer, order);
    await service.machine.advance(1);
    await settled(service, id);
    const addresses = await addressesOf(id, payer);
    expect(await Promise.all(addresses.map(statusOf))).toEqual([200, 200, 200]);
    const rows = await service.operator.deliveries.log(payer.account.id, 10);
    expect(rows).toHaveLength(1);
    service.jump(2);
    const shown = (await show(id, payer)).body as object;

    const answer = await remove(id, payer);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await Promise.all(addresses.map(statusOf))).toEqual([403, 403, 403]);
    service.jump(2);
    const after = (await show(id, payer)).body as { readonly result_expires_at: string };
    expect(Date.parse(after.result_expires_at)).toBeLessThan(service.operator.clock.now());
    expect({ ...after, result_expires_at: '' }).toEqual({
      ...{ ...shown, result_expires_at: '' },
      ...{ result_urls: [], results: [] },
    });
    await inFortyMinutes();
    expect(await service.operator.deliveries.log(payer.account.id, 10)).toEqual(rows);
    const record = await recordOf(service, id);
    expect(record).toMatchObject({ prompt, resultsDeletedBy: payer.record.id });
    expect(record.erasedAt).toBeUndefined();
    expect(record.colours).toBeUndefined();
    expect(await movementsOf(service, record)).toEqual(['charge']);
  });

  it('A repetition is 204 again, and changes nothing', async () => {
    const id = await completed();
    await addressesOf(id);
    expect((await remove(id)).status).toBe(204);
    const first = await recordOf(service, id);
    service.jump(2);
    expect((await remove(id)).status).toBe(204);
    expect(await recordOf(service, id)).toEqual(first);
  });

  it.each([
    ['without a webhook', {}],
    ['whose webhook was sent', { webhook_url: service.machine.inboxUrl }],
  ])('Lists and events show one %s without results', async (_which, more) => {
    const payer = await service.client();
    const { next_cursor: cursor } = (await service.send('/events', { key: payer.key })).body as {
      next_cursor: string;
    };
    const id = await completed(payer, more);
    await service.machine.advance(1);
    await settled(service, id);
    await remove(id, payer);
    const events = await service.send(`/events?after=${cursor}`, { key: payer.key });
    expect(events.body).toMatchObject({ data: [{ payload: { id, result_urls: [] } }] });
    const list = await service.send('/creations', { key: payer.key });
    expect(list.body).toMatchObject({ data: [{ id, prompt, result_urls: [], results: [] }] });
  });

  it('A busy bucket is 503 with Retry-After, and the repetition deletes', async () => {
    const id = await completed();
    const [address = ''] = await addressesOf(id);
    service.machine.faults.set({ call: 's3:DeleteObject', error: 'ServiceUnavailable', times: 50 });
    const refused = await remove(id);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await statusOf(address)).toBe(200);
    service.machine.faults.clear();
    expect((await remove(id)).status).toBe(204);
    expect(await statusOf(address)).toBe(403);
  });

  it('A busy bucket is also left to the second deletion, after which nothing is due', async () => {
    const id = await completed();
    const [address = ''] = await addressesOf(id);
    service.machine.faults.set({ call: 's3:DeleteObject', error: 'ServiceUnavailable', times: 50 });
    expect((await remove(id)).status).toBe(503);
    service.machine.faults.clear();
    await inFortyMinutes();
    expect(await statusOf(address)).toBe(403);
    expect(await isDueAgain(id)).toBe(false);
  });

  it('A request that is cut off before the creation is written deletes nothing, also later', async () => {
    const id = await completed();
    const [address = ''] = await addressesOf(id);
    service.machine.faults.set({
      ...{ call: 'dynamodb:UpdateItem', error: 'AccessDenied', match: 'resultsDeletedBy' },
      every: 1,
    });
    expect((await remove(id)).status).toBe(500);
    service.machine.faults.clear();
    expect(await isDueAgain(id)).toBe(true);
    await inFortyMinutes();
    expect(await statusOf(address)).toBe(200);
    expect(await isDueAgain(id)).toBe(false);
    expect((await show(id)).body).toMatchObject({ result_urls: [address] });
  });

  it('A webhook that is still owed is sent, with the bytes that were signed first', async () => {
    const payer = await service.client();
    const webhookUrl = `${service.machine.inboxUrl}?status=500`;
    const id = await completed(payer, { webhook_url: webhookUrl });
    await service.machine.advance(1);
    const address = ((await show(id, payer)).body as { result_urls: string[] }).result_urls[0] ?? '';
    const body = (await recordOf(service, id)).webhook?.body ?? '';
    expect(body).toContain(address);
    expect((await remove(id, payer)).status).toBe(204);
    await service.machine.advance(16 * 60);
    const record = await recordOf(service, id);
    expect(record.webhook).toMatchObject({ attempts: 5, status: 'failed', body });
    expect(record.dueAt).toBeUndefined();
    const log = await service.operator.deliveries.log(payer.account.id, 10);
    expect(log).toHaveLength(5);
    await inFortyMinutes();
    expect(await isDueAgain(id)).toBe(false);
    expect(await service.operator.deliveries.log(payer.account.id, 10)).toHaveLength(5);
  });

  it('Its whole content can still be erased, also in the minutes before the second deletion', async () => {
    const id = await completed();
    await remove(id);
    expect((await service.send(`/creations/${id}`, { key: client.key, method: 'DELETE' })).status).toBe(204);
    expect((await remove(id)).status).toBe(204);
    await inFortyMinutes();
    const record = await recordOf(service, id);
    expect(record).toMatchObject({ prompt: null, erasedBy: client.record.id });
    expect(record.dueAt).toBeUndefined();
  });

  it('Thumbnails that are stored after the deletion are taken back at once', async () => {
    const at = (call: string, match: string, seconds: number): void =>
      service.machine.faults.set({ call, match, error: 'hang', seconds, every: 1 });
    at('s3:PutObject', '-480.webp', 2);
    at('dynamodb:UpdateItem', 'SET colours', 2);
    const id = await completed();
    const { result_urls: [url = ''] = [] } = (await show(id)).body as { result_urls?: string[] };
    const late = thumbnailKey(url, 'large');
    expect((await remove(id)).status).toBe(204);
    expect(await statusOf(late)).toBe(403);
    await expect.poll(() => statusOf(late)).toBe(200);
    await expect.poll(() => statusOf(late)).toBe(403);
    expect((await recordOf(service, id)).colours).toBeUndefined();
  });

  it('The OpenAI-shaped endpoint says that the pictures were deleted', async () => {
    const ask = async (): Promise<Response> =>
      fetch(`${service.machine.openaiUrl}/images/generations`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${client.key}`,
          'content-type': 'application/json',
          'idempotency-key': 'deleted-results',
        },
        body: JSON.stringify({ model: 'sandbox-sketch', prompt }),
      });
    const first = await ask();
    expect(first.status).toBe(200);
    await first.text();
    expect((await remove(first.headers.get('x-darkroom-creation-id') ?? '')).status).toBe(204);
    const again = await ask();
    expect([again.status, await again.text()]).toEqual([
      404,
      expect.stringContaining('were deleted') as string,
    ]);
  });
});

describe('DELETE /creations/{id}/results that deletes nothing', () => {
  it('An open creation and a failed one are refused with their status', async () => {
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const open = await submit(service, client.key, { prompt });
    expect(refusalOf(await remove(open))).toMatchObject({
      status: 400,
      details: { reason: 'not_deletable', status: 'queued' },
    });
    service.machine.faults.clear();
    await service.machine.advance(120);
    expect(await service.ended(open)).toMatchObject({ status: 'completed', prompt });
    const failed = await completed(client, { prompt: 'a castle [sandbox:fail]' });
    expect(refusalOf(await remove(failed))).toMatchObject({
      status: 400,
      details: { reason: 'not_deletable', status: 'failed' },
    });
  });

  it('A creation of another account, an unknown id and a malformed one are the same 404', async () => {
    const id = await completed();
    const stranger = await service.client();
    const answers = await Promise.all(
      [id, '019aa5a0-1000-7000-8000-00000000000a', 'x'].map((one) => remove(one, stranger)),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await recordOf(service, id)).resultsDeletedBy).toBeUndefined();
  });
});

/** Whether the second deletion of its images is still asked for. */
async function isDueAgain(id: string): Promise<boolean> {
  const item = await getItem(service.operator.table, keys.deletedResults(id as CreationId));
  return item?.['dueAt'] !== undefined;
}

everyAnswer(() => service);
