/**
 * One run in which every function does everything that it can do. It shows the used grants and the logged
 * metrics.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { startBucketServer } from '../../lab/buckets/bucket-server.ts';
import { fakes } from '../../lab/vendors/fakes/all-fakes.ts';
import { type CallingVendor, fakeFalAccount } from '../../lab/vendors/fakes/calls-back.ts';
import { startFakeFal } from '../../lab/vendors/fakes/fal/server.ts';
import { environmentOf } from '../../lab/vendors/fleet.ts';
import type { AwsCall } from '../../local/aws/aws-call.ts';
import { createAccountSettings } from '../../service/accounts/account-settings-store.ts';
import { setNotices } from '../../service/notices/alert-settings.ts';
import { asMicros } from '../../service/values/money.ts';
import { type Answer, type Client, startTestService, type TestService } from '../fixtures/service.ts';
import { creationIdIn, idOf } from '../fixtures/values.ts';
import { answering, png, startImageOrigin } from '../whole/image-origin.ts';
import { inTime, recordWhen, settled, submit } from '../whole/workflow/creations.ts';
import { useOperatorApi } from './operator-run.ts';
import { usePortal, useSumsOfDays } from './portal-run.ts';
import { useOpenai, useTools } from './tools-run.ts';

export interface WholeRun {
  /** `role action resource` of every call that the policies allowed. */
  readonly used: ReadonlySet<string>;
  /** Every call of a function. */
  readonly calls: readonly AwsCall[];
  /** The messages of the calls that the policies refused, in the words of AWS. */
  readonly refused: readonly string[];
  /** Every line that the functions logged. */
  readonly log: readonly string[];
}

const day = 86_400;

/** Runs everything, which takes some seconds. */
export async function wholeRun(): Promise<WholeRun> {
  const fal = await startFakeFal();
  const service = await startTestService({
    takesPayments: true,
    // On a busy machine the reconciler ends what an advance has not waited for.
    firesByItself: true,
    environment: { ...environmentOf([['fal', fal]]), CALLBACK_BASE_URL: '{origin}', RESULTS: 'signed' },
  });
  await service.operator.credentials.set('fal', fakes.fal.key ?? '');
  await service.operator.providers.enable('fal');
  // A second route behind fal, so that renderers read the health of both. It has no key, and nobody asks it.
  await service.operator.providers.enable('replicate');
  const origin = await startImageOrigin();
  const watched = recordCalls(service, holdFirstLeases(service));
  try {
    const client = await service.client();
    const source = origin.at('/source.png', answering(200, png(640, 480)));
    const ended = await useExecutions(service, client, source);
    await useApi(service, client, source);
    await useOpenai(service, client, {
      source,
      upload: await uploaded(service, client.key),
      isNotified: async (poor) => isNotified(service, poor),
    });
    await useNotices(service, source);
    await useReconciler(service);
    await ended();
    await useLateSignature(service, client.key);
    await useCallbacks(service, fal);
    const parked = async (id: string): Promise<void> => isParked(service, id);
    await useTools(service, client, { source, upload: await uploaded(service, client.key), parked });
    await usePortal(service, source, parked);
    await useOperatorApi(service);
    // The audit is due at midnight.
    await service.machine.advance(day);
    await useSumsOfDays(service, client);
    return { used: service.machine.usedGrants(), ...watched, log: service.log };
  } finally {
    await origin.close();
    await service.end();
    await fal.stop();
  }
}

/** A request whose creation runs on the callback machine. */
const callingBack = { model: 'flux-2-pro', prompt: 'a lake' };

/**
 * A callback that completes its creation, and one whose job was refused. The account is pinned only now, so the
 * jobs before were polled. By now the renderers read the pinned account again.
 */
async function useCallbacks(service: TestService, fal: CallingVendor): Promise<void> {
  await service.operator.credentials.setCallbackAccount('fal', fakeFalAccount);
  const { key } = await service.client();
  const watched = await lowClient(service);
  const webhook_url = service.machine.inboxUrl;
  for (const [by, prompt] of [
    [watched.key, 'a lake'],
    [key, 'a lake [row:prompt-policy]'],
  ] as const) {
    const id = await submit(service, by, { ...callingBack, prompt, webhook_url });
    const { attempts } = await recordWhen(service, id, (known) => known.attempts[0]?.jobId !== undefined);
    const job = fal.jobIds().find((known) => attempts[0]?.jobId?.includes(known)) ?? '';
    expect(await fal.callBack(job, { at: service.machine.clock.now() })).toBe(200);
    await settled(service, id);
  }
  await isNotified(service, watched);
  await cancelParked(service, key);
  await notifyAfterRefund(service);
}

/** A refund after which the wallet is low, because another creation still waits. */
async function notifyAfterRefund(service: TestService): Promise<void> {
  const watched = await lowClient(service);
  const waits = await submit(service, watched.key, callingBack);
  await isParked(service, waits);
  await submit(service, watched.key, { prompt: 'a lake [sandbox:fail]' });
  await isNotified(service, watched);
  await service.send(`/creations/${waits}/cancel`, { key: watched.key, method: 'POST' });
}

/** A client of an account with 1 USD, a budget, and a notice when less than 1 USD is left. */
async function lowClient(service: TestService): Promise<Client> {
  const client = await service.client({ balance: '1' });
  const low = { noticeUrl: service.machine.inboxUrl, lowBalanceMicros: asMicros(1_000_000) };
  await setNotices(client.account.id, low, service.operator);
  await createAccountSettings(service.operator.table).changeBudget(client.account, asMicros(1_000_000));
  return client;
}

async function isParked(service: TestService, id: string): Promise<void> {
  while (!service.log.some((line) => line.includes('creation_parked') && line.includes(id))) await sleep(20);
}

/** A cancel of a creation whose execution waits. */
async function cancelParked(service: TestService, key: string): Promise<void> {
  const id = await submit(service, key, callingBack);
  await isParked(service, id);
  const cancelled = await service.send(`/creations/${id}/cancel`, { key, method: 'POST' });
  expect(cancelled.status, cancelled.text).toBe(200);
  await settled(service, id);
}

/** Takes the first lease of each renderer before the renderer does. The renderer must then read why it is held. */
function holdFirstLeases({ machine, operator }: TestService): (call: AwsCall) => Promise<void> {
  const held = new Set<string>();
  return async ({ caller, operation, input }) => {
    const { pk, sk } = (input['Key'] ?? {}) as Readonly<
      Record<'pk' | 'sk', { readonly S?: string } | undefined>
    >;
    if (operation !== 'UpdateItem' || sk?.S !== 'LEASE') return;
    if (!caller.startsWith('RenderImage') || held.has(caller)) return;
    held.add(caller);
    const now = machine.clock.now();
    const id = creationIdIn(pk?.S?.slice('CREATION#'.length));
    await operator.creations.lease(id, 'another invocation', now + 1_000, now);
  };
}

/**
 * Collects every call of a function, and the messages of refused calls. `before` runs before each call of a
 * function.
 */
export function recordCalls(
  { machine }: TestService,
  before: (call: AwsCall) => Promise<void> = () => Promise.resolve(),
): {
  readonly calls: AwsCall[];
  readonly refused: string[];
} {
  const [calls, refused]: [AwsCall[], string[]] = [[], []];
  machine.interceptAws(async (call, serve) => {
    if (call.caller !== 'operator') {
      calls.push(call);
      await before(call);
    }
    try {
      return await serve();
    } catch (error) {
      if (error instanceof Error && error.message.includes('is not authorized to perform'))
        refused.push(error.message);
      throw error;
    }
  });
  return { calls, refused };
}

async function useApi(service: TestService, { key }: Client, source: string): Promise<void> {
  const get = async (path: string, status = 200): Promise<Answer> => {
    const answer = await service.send(path, { key });
    expect(answer.status, `GET ${path}: ${answer.text}`).toBe(status);
    return answer;
  };
  const { next_cursor: cursor } = (await get('/events')).body as { next_cursor: string };
  const body = {
    model: 'sandbox-pro',
    prompt: 'a lake',
    image_urls: [source],
    webhook_url: service.machine.inboxUrl,
  };
  const headers = { 'idempotency-key': 'whole-run', prefer: 'wait=10' };
  const completed = await inTime(() => service.send('/images/generate', { key, body, headers }));
  expect(completed.status, completed.text).toBe(200);
  await service.send('/images/generate', { key, body, headers });
  const upload = await uploaded(service, key);
  await inTime(() =>
    service.send('/images/generate', {
      key,
      body: { ...body, image_urls: [upload] },
      headers: { prefer: 'wait=10' },
    }),
  );
  await service.send('/images/quote', { key, body: { model: 'sandbox-sketch', prompt: 'a lake' } });
  const minted = await service.send('/user-tokens', { key, body: { user: 'alice', spend_limit: 1 } });
  expect(minted.status, minted.text).toBe(201);
  const { id: token } = minted.body as { id: string };
  await service.send(`/user-tokens/${token}/revoke`, { key, method: 'POST' });
  const endpoint = { url: service.machine.inboxUrl, events: ['creation.completed'] };
  const added = await service.send('/webhooks/endpoints', { key, body: endpoint });
  expect(added.status, added.text).toBe(201);
  for (const path of [
    '/models',
    '/balance',
    '/creations',
    '/requests',
    // By now there are events that have no position yet.
    '/events',
    `/events?after=${cursor}`,
    `/creations/${idOf(completed)}`,
  ])
    await get(path);
  await get('/nowhere', 404);
  await useBucket(service, key, idOf(completed));
  // Its image, the copy of its source and the row of its delivery are deleted.
  await settled(service, idOf(completed));
  for (const path of [`/creations/${idOf(completed)}/results`, `/creations/${idOf(completed)}`]) {
    const deleted = await service.send(path, { key, method: 'DELETE' });
    expect(deleted.status, deleted.text).toBe(204);
  }
}

/** The image is copied into a bucket of the client, which is then removed. */
async function useBucket(service: TestService, key: string, id: string): Promise<void> {
  const keys = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' };
  const now = (): number => service.operator.clock.now();
  const server = await startBucketServer({ ...keys, bucket: 'pictures', region: 'auto', now });
  const ask = async (method: string, body?: object): Promise<void> => {
    const answer = await service.send('/results/bucket', { key, method, ...(body && { body }) });
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  const credentials = { access_key_id: keys.accessKeyId, secret_access_key: keys.secretAccessKey };
  await ask('PUT', { endpoint: server.url, bucket: 'pictures', region: 'auto', credentials });
  await ask('POST', { creation_id: id });
  await recordWhen(service, id, ({ copy }) => copy?.status === 'copied');
  await ask('DELETE');
  await server.end();
}

/** An upload, put into the bucket. */
async function uploaded(service: TestService, key: string): Promise<string> {
  const file = png(640, 480);
  const answer = await service.send('/uploads', {
    key,
    body: { content_type: 'image/png', bytes: file.length },
  });
  expect(answer.status, answer.text).toBe(201);
  const { image_url, upload_url, upload_headers } = answer.body as {
    image_url: string;
    upload_url: string;
    upload_headers: Record<string, string>;
  };
  const put = await fetch(upload_url, { method: 'PUT', body: file, headers: upload_headers });
  expect(put.status, await put.text()).toBe(200);
  return image_url;
}

/**
 * A failure, a large picture, a picture of each renderer on the callback machine, and a crash in each renderer,
 * after which the second try searches for a stored image. The second try comes some seconds later, so the caller
 * goes on and waits for the returned function.
 */
async function useExecutions(
  service: TestService,
  { key }: Client,
  source: string,
): Promise<() => Promise<void>> {
  const webhook_url = service.machine.inboxUrl;
  const crash = { prompt: 'a lake [sandbox:crash]', webhook_url };
  const ids = await Promise.all(
    [
      { prompt: 'a lake [sandbox:fail]', webhook_url },
      callingBack,
      { ...callingBack, resolution: '2K' },
      { ...callingBack, image_urls: [source] },
      crash,
      { prompt: 'a lake', webhook_url, model: 'sandbox-panorama' },
      { ...crash, model: 'sandbox-panorama' },
      { ...crash, model: 'sandbox-pro', image_urls: [source] },
    ].map((body) => submit(service, key, body)),
  );
  return async () => {
    await Promise.all(ids.map((id) => settled(service, id)));
  };
}

/**
 * A request that is refused for its balance, a creation of each renderer after which the wallet is low, and such a
 * creation whose notice is not started, so that the reconciler starts it.
 */
async function useNotices(service: TestService, source: string): Promise<void> {
  const { machine, operator } = service;
  const poor = await service.client({ balance: '0.001' });
  await setNotices(poor.account.id, { noticeUrl: machine.inboxUrl }, operator);
  const body = { model: 'sandbox-sketch', prompt: 'a lake' };
  expect((await service.send('/images/generate', { key: poor.key, body })).status).toBe(402);
  await isNotified(service, poor);
  for (const other of [{}, { model: 'sandbox-panorama' }, { model: 'sandbox-pro', image_urls: [source] }]) {
    const client = await lowClient(service);
    await submit(service, client.key, { prompt: 'a lake', ...other });
    await isNotified(service, client);
  }
  const lost = await lowClient(service);
  machine.faults.set({
    call: 'states:StartExecution',
    error: 'Throttling',
    every: 1,
    caller: 'RenderImageSmall',
  });
  const id = await submit(service, lost.key, { prompt: 'a lake' });
  await settled(service, id);
  await isNotified(service, lost);
  await ended(service, id);
  machine.faults.clear();
}

/** The renderer cannot read the key of signed addresses, so DeliverWebhook makes the body of a webhook. */
async function useLateSignature(service: TestService, key: string): Promise<void> {
  const { machine } = service;
  // A function keeps the key for five minutes.
  await machine.advance(301);
  machine.faults.set({
    call: 'secretsmanager:GetSecretValue',
    error: 'Throttling',
    every: 1,
    caller: 'RenderImageSmall',
  });
  const id = await submit(service, key, { prompt: 'a lake', webhook_url: machine.inboxUrl });
  await recordWhen(service, id, ({ webhook }) => webhook?.status === 'delivered');
  machine.faults.clear();
}

async function isNotified(service: TestService, { account }: Client): Promise<void> {
  for (;;) {
    const { toldLow, toldEmpty } = await service.account(account.id);
    if (toldLow ?? toldEmpty) return;
    await sleep(50);
  }
}

async function ended({ machine }: TestService, name: string): Promise<void> {
  while (machine.executions.list().find((one) => one.name === name)?.status !== 'SUCCEEDED') await sleep(50);
}

/**
 * A creation of each machine that the reconciler starts, one of each that lost its invocation, so that the
 * reconciler has to ask, and a creation that it refunds since its time is over.
 */
async function useReconciler(service: TestService): Promise<void> {
  const { machine } = service;
  const { key } = await service.client({ deadline: '30' });
  machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
  const late = await submit(service, key, { prompt: 'a lake', webhook_url: machine.inboxUrl });
  await machine.advance(120);
  const patient: string[] = [];
  const lost: string[] = [];
  for (const body of [{ prompt: 'a lake' }, callingBack])
    for (const ids of [patient, lost]) ids.push(await submit(service, (await service.client()).key, body));
  const now = machine.clock.now();
  for (const id of lost)
    await service.operator.creations.lease(creationIdIn(id), 'an invocation that died', now + 1_000, now);
  machine.faults.clear();
  await machine.advance(120);
  for (const id of [...patient, ...lost]) await settled(service, id);
  await recordWhen(service, late, ({ status }) => status === 'failed');
  await machine.advance(1_200);
  await settled(service, late);
}
