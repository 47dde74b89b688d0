import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, type CancelAnswer, type Client, sharedTestService } from '../fixtures/service.ts';
import { idOf } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { refusalOf } from './refusal.ts';
import { movementsOf, recordOf, recordWhen, settled, submit } from './workflow/creations.ts';

const service = await sharedTestService();
const client = await service.client({ postRate: '1000' });
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  await service.end();
});
beforeEach(() => {
  service.machine.faults.clear();
});

const cancel = (
  id: string,
  by: Client = client,
  headers: Record<string, string> = {},
): Promise<CancelAnswer> => service.send(`/creations/${id}/cancel`, { key: by.key, method: 'POST', headers });
const show = (id: string): Promise<Answer> => service.send(`/creations/${id}`, { key: client.key });

/** A creation that was accepted and that nobody starts before the reconciler does. */
async function unstarted(by: Client = client, body: object = {}): Promise<string> {
  service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
  return submit(service, by.key, { prompt: 'a lake', ...body });
}

describe('POST /creations/{id}/cancel before anything was sent', () => {
  it('The answer is 200 and the creation: failed, cancelled, refunded in full and retryable', async () => {
    const payer = await service.client();
    const id = await unstarted(payer);
    const answer = await cancel(id, payer);
    expect([answer.status, answer.body]).toMatchObject([
      200,
      {
        id,
        status: 'failed',
        error: 'Generation failed.',
        retryable: true,
        cost: 0.01,
        amount_refunded: 0.01,
        cancelled_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      },
    ]);
    expect(answer.body.cancelled_at).toBe(answer.body.completed_at);
    expect((await service.send('/balance', { key: payer.key })).body).toMatchObject({ available: 25 });
    expect((await service.send(`/creations/${id}`, { key: payer.key })).body).toEqual(answer.body);
  });

  it('A cancelled creation stays cancelled: a repetition is 200 again, and its execution renders nothing', async () => {
    const id = await unstarted(client, { webhook_url: service.machine.inboxUrl });
    const first = await cancel(id);
    expect((await cancel(id)).body).toEqual(first.body);
    service.machine.faults.clear();
    await service.machine.advance(240);
    const ended = await settled(service, id);
    expect(ended).toMatchObject({
      status: 'failed',
      attempts: [],
      webhook: { status: 'delivered', attempts: 1 },
    });
    expect(await movementsOf(service, ended)).toEqual(['charge', 'refund']);
    expect(JSON.parse(ended.webhook?.body ?? '')).toMatchObject({
      event: 'creation.failed',
      status: 'failed',
      error: 'Generation failed.',
      cancelled_at: first.body.cancelled_at,
    });
  });

  it('Cancels that come at once all get 200, and the charge is given back once', async () => {
    const id = await unstarted();
    const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(id)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(new Set(answers.map(({ body }) => body.cancelled_at)).size).toBe(1);
    expect(await movementsOf(service, await recordOf(service, id))).toEqual(['charge', 'refund']);
  });

  it('A cancel whose write was made and whose answer was lost is reported as made', async () => {
    const id = await unstarted();
    service.machine.faults.set({
      call: 'dynamodb:TransactWriteItems',
      error: 'InternalServerError',
      when: 'after',
      caller: 'CancelCreation',
    });
    expect((await cancel(id)).status).toBe(200);
    expect(await movementsOf(service, await recordOf(service, id))).toEqual(['charge', 'refund']);
  });

  it('A busy table is answered 503, and a repetition cancels', async () => {
    const id = await unstarted();
    service.machine.faults.set({
      call: 'dynamodb:TransactWriteItems',
      error: 'Throttling',
      caller: 'CancelCreation',
      every: 1,
    });
    expect(refusalOf(await cancel(id))).toMatchObject({ status: 503, details: { reason: 'overloaded' } });
    expect((await show(id)).body).toMatchObject({ status: 'queued', cancelled_at: null });
    service.machine.faults.clear();
    expect((await cancel(id)).status).toBe(200);
  }, 40_000);

  it('The Idempotency-Key of a cancelled creation is free, and a cancel reads none', async () => {
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const headers = { 'idempotency-key': 'cancelled' };
    const send = (): Promise<Answer> =>
      service.send('/images/generate', {
        key: client.key,
        headers,
        body: { model: 'sandbox-sketch', prompt: 'a lake' },
      });
    const first = idOf(await send());
    expect(idOf(await send())).toBe(first);
    expect((await cancel(first, client, headers)).status).toBe(200);
    const second = idOf(await send());
    expect(second).not.toBe(first);
    expect((await cancel(second, client, headers)).body.id).toBe(second);
  });
});

describe('POST /creations/{id}/cancel of a creation that cannot be cancelled', () => {
  it('A completed creation is answered 400 not_cancellable with its status', async () => {
    const id = await submit(service, client.key, { prompt: 'a lake' });
    await service.ended(id);
    expect(refusalOf(await cancel(id))).toEqual({
      status: 400,
      code: 'ERR_INVALID_REQUEST',
      details: { reason: 'not_cancellable', status: 'completed', errors: [] },
    });
    expect((await show(id)).body).toMatchObject({
      status: 'completed',
      cancelled_at: null,
      amount_refunded: 0,
    });
  });

  it('A failed creation is answered 400 not_cancellable, and keeps its message', async () => {
    const id = await submit(service, client.key, { prompt: 'a lake [sandbox:reject-prompt]' });
    await service.ended(id);
    expect(refusalOf(await cancel(id)).details).toMatchObject({
      reason: 'not_cancellable',
      status: 'failed',
    });
    expect((await show(id)).body).toMatchObject({ retryable: false, cancelled_at: null });
  });

  it('A creation whose vendor answers in one call goes on', async () => {
    const id = await submit(service, client.key, { prompt: 'a lake [sandbox:delay=1s]' });
    await recordWhen(service, id, ({ attempts }) => attempts.length > 0);
    expect(refusalOf(await cancel(id)).details).toMatchObject({
      reason: 'not_cancellable',
      status: 'processing',
    });
    expect(await service.ended(id)).toMatchObject({ status: 'completed' });
  });
});

describe('POST /creations/{id}/cancel by somebody else, or too often', () => {
  it("An absent, a malformed and another account's id get the same 404, and nothing is cancelled", async () => {
    const foreign = await unstarted(await service.client());
    const answers = await Promise.all(
      [foreign, '01939f4e-0000-7000-8000-000000000000', 'anything'].map((id) => cancel(id)),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await recordOf(service, foreign)).status).toBe('queued');
  });

  it('A cancel counts as a POST, and a cancel over the rate cancels nothing', async () => {
    const slow = await service.client({ postRate: '2' });
    let id: string;
    let refused: Answer;
    // A minute of the clock may end between two requests. Then the cancel succeeds, and the test begins again.
    do {
      id = await unstarted(slow);
      while ((await cancel('anything', slow)).status !== 429);
      refused = await cancel(id, slow);
    } while (refused.status === 200);
    expect(refusalOf(refused)).toMatchObject({
      status: 429,
      details: { reason: 'account_rate' },
    });
    expect((await recordOf(service, id)).status).toBe('queued');
  });
});

everyAnswer(() => service);
