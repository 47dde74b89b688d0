import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, type Client, sharedTestService } from '../fixtures/service.ts';
import { refusalOf } from './refusal.ts';
import { movementsOf, recordOf, settled, submit } from './workflow/creations.ts';
import { everyAnswer } from './every-answer.ts';

const service = await sharedTestService();
const client = await service.client({ postRate: '1000' });
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  await service.end();
});
beforeEach(() => {
  service.machine.faults.clear();
});

const secret = 'a castle that nobody may know of';
const remove = (id: string, by: Client = client): Promise<Answer> =>
  service.send(`/creations/${id}`, { key: by.key, method: 'DELETE' });
const show = (id: string, by: Client = client): Promise<Answer> =>
  service.send(`/creations/${id}`, { key: by.key });

const firstUrl = ({ body }: Answer): string => String((body as { result_urls: string[] }).result_urls[0]);

/** The address of the first image, which is fetched as anybody can. */
async function addressOf(id: string): Promise<string> {
  return firstUrl(await show(id));
}

const asked = () => ({
  model: 'sandbox-standard',
  prompt: secret,
  negative_prompt: 'a dungeon that nobody may know of',
  metadata: { order: secret },
  user: 'user-of-the-client',
  webhook_url: `${service.machine.inboxUrl}?secret-address`,
});

/** What is due by then starts once, and not in each minute. */
const inFortyMinutes = async (): Promise<void> => {
  service.jump(40 * 60);
  await service.machine.advance(1);
};

describe('DELETE /creations/{id} of a completed creation', () => {
  it('Texts, images and rows of deliveries are gone, and id, cost and status stay', async () => {
    const payer = await service.client();
    const id = await submit(service, payer.key, asked());
    await service.machine.advance(1);
    const before = await settled(service, id);
    expect(before).toMatchObject({ prompt: secret, webhook: { status: 'delivered' } });
    const address = firstUrl(await show(id, payer));
    expect((await fetch(address)).status).toBe(200);

    const answer = await remove(id, payer);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect((await fetch(address)).status).toBe(403);
    service.jump(2);
    expect((await show(id, payer)).body).toMatchObject({
      id,
      status: 'completed',
      prompt: null,
      metadata: {},
      user: null,
      webhook: null,
      result_urls: [],
      results: [],
      cost: 0.04,
      erased_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
    expect((await show(id, payer)).body).not.toHaveProperty('negative_prompt');
    await inFortyMinutes();
    const after = await recordOf(service, id);
    expect(after).toMatchObject({ erasedBy: payer.record.id, status: 'completed' });
    expect(after.dueAt).toBeUndefined();
    expect(JSON.stringify(after)).not.toMatch(/castle|dungeon|secret-address|user-of-the-client/);
    expect(await service.operator.deliveries.log(payer.account.id, 10)).toEqual([]);
    expect(await movementsOf(service, after)).toEqual(['charge']);
  });

  it('A repetition is 204 again, and a second creation keeps its rows', async () => {
    const other = await submit(service, client.key, asked());
    const id = await submit(service, client.key, asked());
    await service.machine.advance(1);
    await settled(service, other);
    await settled(service, id);
    expect((await remove(id)).status).toBe(204);
    const first = await recordOf(service, id);
    expect((await remove(id)).status).toBe(204);
    expect(await recordOf(service, id)).toEqual(first);
    await inFortyMinutes();
    const rows = await service.operator.deliveries.log(client.account.id, 10);
    expect(rows.map(({ creationId }) => creationId)).toEqual([other]);
    expect((await fetch(await addressOf(other))).status).toBe(200);
  });

  it('A busy bucket is left to the second pass', async () => {
    const id = await submit(service, client.key, { prompt: secret });
    await settled(service, id);
    service.jump(2);
    const address = await addressOf(id);
    service.machine.faults.set({ call: 's3:DeleteObject', error: 'ServiceUnavailable', times: 50 });
    expect((await remove(id)).status).toBe(204);
    expect((await fetch(address)).status).toBe(200);
    service.machine.faults.clear();
    await inFortyMinutes();
    expect((await fetch(address)).status).toBe(403);
  });

  it('The reconciler, to which the creation is settled, leaves the second pass in the list of open work', async () => {
    const id = await submit(service, client.key, { prompt: secret });
    await settled(service, id);
    expect((await remove(id)).status).toBe(204);
    const erased = await recordOf(service, id);
    expect(await service.operator.openWork.postpone(erased, undefined)).toBe(false);
    expect((await recordOf(service, id)).dueAt).toBe(erased.dueAt);
    await inFortyMinutes();
    expect((await recordOf(service, id)).dueAt).toBeUndefined();
  });

  it('A webhook that is still owed is not sent any more', async () => {
    const id = await submit(service, client.key, {
      ...asked(),
      webhook_url: `${service.machine.inboxUrl}?status=500`,
    });
    await service.ended(id);
    await service.machine.advance(1);
    expect((await remove(id)).status).toBe(204);
    expect(await recordOf(service, id)).toMatchObject({ webhook: { status: 'skipped', url: '' } });
    await inFortyMinutes();
    expect(await service.operator.deliveries.log(client.account.id, 50)).not.toContainEqual(
      expect.objectContaining({ creationId: id }),
    );
  });

  it('The same Idempotency-Key leads to the erased creation, and is not charged again', async () => {
    const payer = await service.client();
    const order = {
      key: payer.key,
      headers: { 'idempotency-key': 'once' },
      body: { model: 'sandbox-sketch', prompt: secret },
    };
    const first = await service.send('/images/generate', order);
    const { id } = first.body as { id: string };
    await service.ended(id);
    await remove(id, payer);
    const again = await service.send('/images/generate', order);
    expect([again.status, again.body]).toMatchObject([202, { id, prompt: null, status: 'completed' }]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await service.send('/balance', { key: payer.key })).body).toMatchObject({ available: 24.99 });
  });

  it('Its event and its entry in lists stay, without content', async () => {
    const payer = await service.client();
    const { next_cursor: cursor } = (await service.send('/events', { key: payer.key })).body as {
      next_cursor: string;
    };
    const id = await submit(service, payer.key, asked());
    await service.ended(id);
    await remove(id, payer);
    const events = await service.send(`/events?after=${cursor}`, { key: payer.key });
    expect(events.body).toMatchObject({ data: [{ payload: { id, metadata: {}, result_urls: [] } }] });
    const list = await service.send('/creations', { key: payer.key });
    expect(list.body).toMatchObject({ data: [{ id, prompt: null }] });
    expect(events.text + list.text).not.toMatch(/castle|secret-address|user-of-the-client/);
  });
});

describe('DELETE /creations/{id} that erases nothing', () => {
  it('An open creation is refused with its status, and completes', async () => {
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const id = await submit(service, client.key, { prompt: secret });
    const answer = await remove(id);
    expect(refusalOf(answer)).toMatchObject({
      status: 400,
      details: { reason: 'not_deletable', status: 'queued' },
    });
    service.machine.faults.clear();
    await service.machine.advance(120);
    expect(await service.ended(id)).toMatchObject({ status: 'completed', prompt: secret });
  });

  it('A creation of another account, an unknown id and a malformed one are the same 404', async () => {
    const id = await submit(service, client.key, { prompt: secret });
    await service.ended(id);
    const stranger = await service.client();
    const answers = await Promise.all(
      [id, '019aa5a0-1000-7000-8000-00000000000a', 'x'].map((one) => remove(one, stranger)),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await recordOf(service, id)).prompt).toBe(secret);
  });
});

everyAnswer(() => service);
