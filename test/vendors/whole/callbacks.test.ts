/** The whole service with a fake of fal that calls back: real bundles, real sockets, real signatures. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type CallbackOptions,
  type CallingVendor,
  fakeFalAccount,
} from '../../../lab/vendors/fakes/calls-back.ts';
import { startFakeFal } from '../../../lab/vendors/fakes/fal/server.ts';
import { environmentOf } from '../../../lab/vendors/fleet.ts';
import type { CreationRecord } from '../../../service/creations/creation.ts';
import { startTestService, type TestService } from '../../fixtures/service.ts';
import { creationIdIn, jsonObject } from '../../fixtures/values.ts';
import { movementsOf, recordOf, recordWhen, settled, submit } from '../../whole/workflow/creations.ts';

let service: TestService;
let fal: CallingVendor;
beforeAll(async () => {
  fal = await startFakeFal();
  service = await startTestService({
    environment: { ...environmentOf([['fal', fal]]), CALLBACK_BASE_URL: '{origin}' },
  });
  const { credentials, providers } = service.operator;
  await credentials.set('fal', 'fake-fal-key');
  await credentials.setCallbackAccount('fal', fakeFalAccount);
  await providers.enable('fal');
});
afterAll(async () => {
  await service.end();
  await fal.stop();
});
beforeEach(() => {
  service.machine.faults.clear();
});

const body = { model: 'flux-2-klein-4b', prompt: 'a harbour', output_format: 'png' };

async function order(more: object = {}): Promise<string> {
  return submit(service, await keyAt(service), { ...body, ...more });
}

/** The key of a new account that may only use fal. */
async function keyAt(place: TestService): Promise<string> {
  const { account, key } = await place.client();
  await place.operator.accounts.change(account.id, { providers: ['fal'] });
  return key;
}

/** The vendor signs with the time of the service, which the tests set forward. */
async function callBack(job: string, options: CallbackOptions = {}): Promise<number> {
  return fal.callBack(job, { at: service.machine.clock.now(), ...options });
}

/** The id of the job of a creation at the vendor. */
async function jobOf(id: string): Promise<string> {
  const accepted = await recordWhen(service, id, ({ attempts }) => attempts[0]?.jobId !== undefined);
  const job = fal.jobIds().find((known) => accepted.attempts[0]?.jobId?.includes(known));
  if (job === undefined) throw new Error('the vendor does not know the job');
  return job;
}

/** The job of a creation whose execution waits and for which no function runs any more. */
const anyCost: unknown = expect.any(Number);

async function parkedJob(id: string): Promise<string> {
  const job = await jobOf(id);
  await expect.poll(() => linesOf(id, 'creation_parked').length, { timeout: 10_000 }).toBeGreaterThan(0);
  return job;
}

function linesOf(id: string, event: string): Record<string, unknown>[] {
  return service.log
    .map((line) => jsonObject(line))
    .filter((line) => line['creationId'] === id && line['event'] === event);
}

const outcomesOf = (id: string): unknown[] => linesOf(id, 'callback_received').map(({ outcome }) => outcome);

/** The states that the execution of a creation has entered. AWS bills each of them. */
function statesOf(id: string): unknown[] {
  const execution = service.machine.executions.list().find(({ name }) => name === id);
  return (execution?.history ?? []).filter(({ type }) => type === 'StateEntered').map(({ state }) => state);
}

async function executionOf(creation: CreationRecord): Promise<string> {
  return service.operator.executions.state(creation, creation.executions);
}

async function executionEnds(id: string): Promise<void> {
  const creation = await recordOf(service, id);
  await expect.poll(() => executionOf(creation), { timeout: 10_000 }).toBe('ended');
}

describe('a creation whose vendor calls back', () => {
  it('The creation waits without a function, and the callback completes it', async () => {
    const id = await order();
    const job = await parkedJob(id);
    const waiting = await recordOf(service, id);
    expect([waiting.status, await executionOf(waiting)]).toEqual(['processing', 'running']);
    expect(await callBack(job)).toBe(200);
    const done = await settled(service, id);
    const attempt = { provider: 'fal', outcome: 'rendered', providerCostMicros: anyCost };
    expect(done).toMatchObject({ status: 'completed', attempts: [attempt] });
    await executionEnds(id);
    expect(statesOf(id)).toEqual(['RenderImage']);
    expect(outcomesOf(id)).toEqual(['completed']);
    expect(linesOf(id, 'creation_completed').map(({ component }) => component)).toEqual(['receive-callback']);
    expect(await movementsOf(service, done)).toEqual(['charge']);
    const image = await fetch(
      `${service.machine.localUrl.replace('/_local', '')}/_results/${done.results[0]?.key}`,
    );
    expect(image.headers.get('content-type')).toBe('image/png');
  });

  it('The webhook is sent after the callback', async () => {
    const id = await order({ webhook_url: service.machine.inboxUrl });
    await callBack(await parkedJob(id));
    expect((await settled(service, id)).webhook).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('A job that the vendor refused late is refunded through the callback', async () => {
    const id = await order({ prompt: 'a harbour [row:prompt-policy]' });
    expect(await callBack(await parkedJob(id))).toBe(200);
    const failed = await settled(service, id);
    expect(failed.status).toBe('failed');
    expect(await movementsOf(service, failed)).toEqual(['charge', 'refund']);
    expect(outcomesOf(id)).toEqual(['route_ended']);
    expect(linesOf(id, 'provider_answered')).toHaveLength(1);
  });
});

describe('a callback that is lost', () => {
  it('The heartbeat completes the creation after 60 s, and the vendor gets no second job', async () => {
    const before = fal.jobs();
    const id = await order();
    fal.finish(await parkedJob(id));
    await service.machine.advance(59);
    expect((await recordOf(service, id)).status).toBe('processing');
    await service.machine.advance(3);
    expect((await settled(service, id)).status).toBe('completed');
    await executionEnds(id);
    expect(fal.jobs()).toBe(before + 1);
  });
});

describe('a callback that is forged', () => {
  it('The log and the answers hold no capability', () => {
    const capabilities = fal.jobIds().flatMap((job) => fal.callbackUrlOf(job)?.split('/').at(-1) ?? []);
    expect(capabilities.length).toBeGreaterThan(3);
    for (const capability of capabilities) expect(service.log.join('\n')).not.toContain(capability);
  });
});

describe('a callback that comes too early', () => {
  it('The vendor is to repeat a callback that comes before its job is in the record', async () => {
    service.machine.faults.set({
      call: 'dynamodb:UpdateItem',
      error: 'hang',
      seconds: 2,
      caller: 'RenderImage',
      match: '/requests/',
    });
    const before = fal.jobs();
    const id = await order();
    await expect.poll(() => fal.jobs(), { timeout: 10_000 }).toBe(before + 1);
    const job = fal.jobIds().at(-1) ?? '';
    expect(await callBack(job)).toBe(503);
    expect(outcomesOf(id)).toEqual(['too_early']);
    await parkedJob(id);
    expect(await callBack(job)).toBe(200);
    expect((await settled(service, id)).status).toBe('completed');
  });
});

describe('a callback that comes late, twice or at once', () => {
  it('Callbacks that come at once complete the creation once', async () => {
    const id = await order();
    const job = await parkedJob(id);
    const statuses = await Promise.all(Array.from({ length: 4 }, () => callBack(job)));
    expect(statuses).toEqual([200, 200, 200, 200]);
    expect(outcomesOf(id).toSorted()).toEqual(['completed', 'late', 'late', 'late']);
    expect(linesOf(id, 'creation_completed')).toHaveLength(1);
    await executionEnds(id);
  });
});

describe('a function that dies', () => {
  it('The vendor gets no second job when RenderImage dies between the submission and the record of the job', async () => {
    service.machine.faults.set({
      call: 'dynamodb:UpdateItem',
      error: 'hang',
      caller: 'RenderImage',
      match: '/requests/',
    });
    const before = fal.jobs();
    const id = await order();
    await expect.poll(() => fal.jobs(), { timeout: 10_000 }).toBe(before + 1);
    await sleep(200);
    const crashed = await fetch(`${service.machine.localUrl}/crashes`, {
      method: 'POST',
      body: JSON.stringify({ function: 'RenderImage', match: id }),
    });
    expect(await crashed.json()).toEqual({ crashed: 1 });
    service.machine.faults.clear();
    const failed = await settled(service, id);
    expect(failed).toMatchObject({ status: 'failed', attempts: [{ outcome: 'unknown_outcome' }] });
    expect(fal.jobs()).toBe(before + 1);
    expect(await callBack(fal.jobIds().at(-1) ?? '')).toBe(200);
    expect(await movementsOf(service, await recordOf(service, id))).toEqual(['charge', 'refund']);
    expect(outcomesOf(id)).toEqual(['late']);
  });

  it('The next callback ends the task when the first one could not end it after the commit', async () => {
    const id = await order();
    const job = await parkedJob(id);
    service.machine.faults.set({ call: 'states:SendTaskSuccess', error: 'Throttling', every: 1 });
    expect(await callBack(job)).toBe(503);
    expect((await recordOf(service, id)).status).toBe('completed');
    service.machine.faults.clear();
    expect(await callBack(job)).toBe(200);
    await executionEnds(id);
    expect(outcomesOf(id)).toEqual(['task_unclear', 'late']);
  });

  it('The heartbeat ends the task when no callback could end it after the commit', async () => {
    const id = await order();
    const job = await parkedJob(id);
    service.machine.faults.set({ call: 'states:SendTaskSuccess', error: 'Throttling', every: 1 });
    expect(await callBack(job)).toBe(503);
    service.machine.faults.clear();
    await service.machine.advance(62);
    await executionEnds(id);
    expect(linesOf(id, 'creation_completed')).toHaveLength(1);
  });

  it('An answer of SendTaskSuccess that is lost ends the execution all the same', async () => {
    const id = await order();
    const job = await parkedJob(id);
    service.machine.faults.set({ call: 'states:SendTaskSuccess', error: 'Timeout', when: 'after' });
    expect([200, 503]).toContain(await callBack(job));
    await executionEnds(id);
  });

  it('The books balance after everything above', async () => {
    expect(await service.audit()).toEqual([]);
  });
});

describe('a service without a public address', () => {
  it('The job is polled in the function, which ends the task by itself', async () => {
    const alone = await startTestService({ environment: environmentOf([['fal', fal]]) });
    try {
      const { credentials, providers } = alone.operator;
      await credentials.set('fal', 'fake-fal-key');
      await credentials.setCallbackAccount('fal', fakeFalAccount);
      await providers.enable('fal');
      const id = await submit(alone, await keyAt(alone), body);
      expect(await settled(alone, id)).toMatchObject({ status: 'completed', machine: 'callback' });
      expect(fal.callbackUrlOf(fal.jobIds().at(-1) ?? '')).toBeUndefined();
      const creation = await alone.operator.creations.read(creationIdIn(id));
      await expect
        .poll(() => creation && alone.operator.executions.state(creation, 1), { timeout: 10_000 })
        .toBe('ended');
    } finally {
      await alone.end();
    }
  });
});
