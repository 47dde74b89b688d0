/** The whole service cancels creations whose vendors render: fal calls back, and Replicate is polled. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runAdmin } from '../../../admin/program.ts';
import { type CallingVendor, fakeFalAccount } from '../../../lab/vendors/fakes/calls-back.ts';
import { startFakeFal } from '../../../lab/vendors/fakes/fal/server.ts';
import { startFakeReplicate } from '../../../lab/vendors/fakes/replicate/server.ts';
import { environmentOf } from '../../../lab/vendors/fleet.ts';
import type { CancelAnswer } from '../../fixtures/service.ts';
import { startTestService, type TestService } from '../../fixtures/service.ts';
import { jsonObject } from '../../fixtures/values.ts';
import { movementsOf, recordOf, recordWhen, settled, submit } from '../../whole/workflow/creations.ts';

let service: TestService;
let fal: CallingVendor;
let replicate: CallingVendor;
beforeAll(async () => {
  [fal, replicate] = [await startFakeFal(), await startFakeReplicate()];
  service = await startTestService({
    environment: {
      ...environmentOf([
        ['fal', fal],
        ['replicate', replicate],
      ]),
      CALLBACK_BASE_URL: '{origin}',
    },
  });
  const { credentials, providers } = service.operator;
  await credentials.set('fal', 'fake-fal-key');
  await credentials.set('replicate', 'fake-replicate-key');
  await credentials.setCallbackAccount('fal', fakeFalAccount);
  for (const name of ['fal', 'replicate'] as const) await providers.enable(name);
});
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  await service.end();
  await fal.stop();
  await replicate.stop();
});
beforeEach(() => {
  service.machine.faults.clear();
});

interface Ordered {
  readonly id: string;
  readonly key: string;
}

/** Too short for a callback, so that the renderer polls. */
const shortDeadline = '50';

/** A creation of an account that may only use these vendors, with a webhook. */
async function order(providers: readonly string[], prompt = 'a harbour', deadline = '300'): Promise<Ordered> {
  const { account, key } = await service.client({ deadline });
  await service.operator.accounts.change(account.id, { providers: [...providers] });
  const body = { model: 'flux-2-klein-4b', prompt, output_format: 'png' };
  const id = await submit(service, key, { ...body, webhook_url: service.machine.inboxUrl });
  await recordWhen(service, id, ({ attempts }) => attempts[0]?.jobId !== undefined);
  return { id, key };
}

async function parked(ordered: Promise<Ordered>): Promise<Ordered> {
  const { id, key } = await ordered;
  await expect.poll(() => linesOf(id, 'creation_parked').length, { timeout: 10_000 }).toBeGreaterThan(0);
  return { id, key };
}

function linesOf(id: string, event: string): Record<string, unknown>[] {
  return service.log
    .map((line) => jsonObject(line))
    .filter((line) => line['creationId'] === id && line['event'] === event);
}

async function cancel({ id, key }: Ordered): Promise<CancelAnswer> {
  return service.send(`/creations/${id}/cancel`, { key, method: 'POST' });
}

/** The bodies of the webhooks of a creation. */
async function eventsOf(id: string): Promise<Record<string, unknown>[]> {
  const inbox = jsonObject(await (await fetch(service.machine.inboxUrl)).text());
  const all = inbox['data'] as { readonly id: string; readonly body: Record<string, unknown> }[];
  return all.filter((one) => one.id === id).map(({ body }) => body);
}

describe('a creation that waits for the callback of its vendor', () => {
  it('A cancel that the vendor confirms ends the creation, refunds it and sends one event at once', async () => {
    const ordered = await parked(order(['fal']));
    const answer = await cancel(ordered);
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { status: 'failed', error: 'Generation failed.', retryable: true, amount_refunded: 0.02 },
    ]);
    expect(answer.body.cancelled_at).toBe(answer.body.completed_at);
    const ended = await settled(service, ordered.id);
    expect(ended).toMatchObject({
      failure: 'InternalFailure',
      webhook: { status: 'delivered', attempts: 1 },
      attempts: [{ provider: 'fal', outcome: 'cancelled' }],
    });
    expect(await movementsOf(service, ended)).toEqual(['charge', 'refund']);
    const job = fal.jobIds().at(-1) ?? '';
    expect(await fal.callBack(job, { at: service.machine.clock.now() })).toBe(200);
    expect(await eventsOf(ordered.id)).toMatchObject([
      { event: 'creation.failed', cancelled_at: answer.body.cancelled_at },
    ]);
    expect((await recordOf(service, ordered.id)).cancelledAt).toBe(answer.body.cancelled_at);
    expect((await cancel(ordered)).body).toEqual({
      ...answer.body,
      webhook: { ...answer.body.webhook, status: 'delivered', attempts: 1 },
    });
  });

  it('A cancel that the vendor only noted is refused, and the creation completes', async () => {
    const ordered = await parked(order(['fal'], 'a harbour [row:keeps-rendering]'));
    const answer = await cancel(ordered);
    expect([answer.status, answer.body.error.details]).toMatchObject([
      400,
      { reason: 'not_cancellable', status: 'processing' },
    ]);
    expect(await recordOf(service, ordered.id)).not.toHaveProperty('cancelRequestedAt');
    const job = fal.jobIds().at(-1) ?? '';
    expect(await fal.callBack(job, { at: service.machine.clock.now() })).toBe(200);
    expect((await settled(service, ordered.id)).status).toBe('completed');
    expect((await cancel(ordered)).body.error.details).toMatchObject({ status: 'completed' });
  }, 20_000);

  it('A function that dies after the vendor has stopped the job leaves the cancel to the callback', async () => {
    const ordered = await parked(order(['fal']));
    service.machine.faults.set({
      call: 'dynamodb:TransactWriteItems',
      error: 'InternalServerError',
      caller: 'CancelCreation',
      every: 1,
    });
    expect((await cancel(ordered)).status).toBeGreaterThanOrEqual(500);
    expect((await recordOf(service, ordered.id)).status).toBe('processing');
    service.machine.faults.clear();
    const job = fal.jobIds().at(-1) ?? '';
    expect(await fal.callBack(job, { at: service.machine.clock.now() })).toBe(200);
    const ended = await settled(service, ordered.id);
    expect(ended).toMatchObject({ status: 'failed', attempts: [{ outcome: 'cancelled' }] });
    expect(ended.cancelledAt).toBe(ended.completedAt);
    expect(await movementsOf(service, ended)).toEqual(['charge', 'refund']);
    expect((await cancel(ordered)).status).toBe(200);
  }, 30_000);
});

describe('a creation whose renderer polls', () => {
  it('The renderer learns of the cancel, tries no other route and goes on to the webhook', async () => {
    const before = fal.jobs() + replicate.jobs();
    const ordered = await order(['fal', 'replicate'], 'a harbour', shortDeadline);
    const answer = await cancel(ordered);
    expect([answer.status, answer.body.cancelled_at]).toEqual([200, expect.any(String)]);
    const ended = await settled(service, ordered.id);
    expect(ended).toMatchObject({
      attempts: [{ provider: 'fal', outcome: 'cancelled' }],
      webhook: { status: 'delivered', attempts: 1 },
    });
    expect(await movementsOf(service, ended)).toEqual(['charge', 'refund']);
    expect(fal.jobs() + replicate.jobs()).toBe(before + 1);
    expect(linesOf(ordered.id, 'creation_parked')).toEqual([]);
  });

  it('A job that the vendor stops after the cancel was refused leaves its creation to the next route', async () => {
    const ordered = await order(['fal', 'replicate'], 'a harbour [row:stops-late]', shortDeadline);
    expect((await cancel(ordered)).status).toBe(400);
    fal.finish(fal.jobIds().at(-1) ?? '');
    const ended = await settled(service, ordered.id);
    expect(ended).toMatchObject({
      status: 'completed',
      attempts: [
        { provider: 'fal', outcome: 'cancelled' },
        { provider: 'replicate', outcome: 'rendered' },
      ],
    });
    expect(ended).not.toHaveProperty('cancelledAt');
  }, 20_000);
});

describe('the command of the operator', () => {
  async function runs(...args: readonly string[]): Promise<readonly [number, Record<string, unknown>]> {
    const lines: string[] = [];
    const print = (line: string): void => void lines.push(line);
    const code = await runAdmin(['--json', '--data', service.folder, ...args], { print, complain: print });
    return [code, jsonObject(lines.join('\n'))];
  }

  it('The command cancels by the same rule, and shows the creation', async () => {
    const { id } = await parked(order(['fal']));
    const [code, shown] = await runs('creations', 'cancel', id);
    expect([code, shown]).toMatchObject([0, { id, status: 'failed', amount_refunded: 0.02 }]);
    expect(shown['cancelled_at']).toBe(shown['completed_at']);
    expect((await settled(service, id)).webhook?.status).toBe('delivered');
    expect((await runs('creations', 'cancel', id))[0]).toBe(0);
  });

  it('The command says why it did not cancel', async () => {
    const { id } = await parked(order(['fal']));
    await fal.callBack(fal.jobIds().at(-1) ?? '', { at: service.machine.clock.now() });
    await settled(service, id);
    expect(await runs('creations', 'cancel', id)).toMatchObject([
      1,
      { error: { message: 'The creation is completed already.' } },
    ]);
  });
});
