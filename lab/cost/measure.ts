/**
 * Runs creations of each kind through the whole service, one after the other, and counts their use of AWS.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { AwsCall } from '../../local/aws/aws-call.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { settled, submit } from '../../start/creations.ts';
import { type RunningService, startService } from '../../start/service.ts';
import { functionName, isRenderer } from '../function-name.ts';
import { asTableRequest } from '../simulation/aws/table-request.ts';
import { type CallingVendor, fakeFalAccount } from '../vendors/fakes/calls-back.ts';
import { startFakeFal } from '../vendors/fakes/fal/server.ts';
import { environmentOf } from '../vendors/fleet.ts';
import {
  type CreationCount,
  type CreationKind,
  creationKinds,
  type FunctionCount,
  mapValues,
  type Measured,
} from './counts.ts';
import { createMeter, type Meter } from './meter.ts';

/** The number of counted runs of the reconciler, which runs once a minute. */
const idleMinutes = 10;
/**
 * A rendering updates the lease, the creation for its lease, for its attempt and for its thumbnails, the health of
 * its route, and the counter of open creations. A webhook adds the claim and the end of its attempt. Every further update renews the
 * lease.
 */
const updatesOfARendering = { alone: 6, withWebhook: 8 };

const update = 'dynamodb UpdateItem';

/** The measured service, the vendor that calls it back, and what is being counted at the moment. */
interface Place {
  readonly service: RunningService;
  readonly fal: CallingVendor;
  readonly counting: Counting;
}

interface Counting {
  meter?: Meter;
  logBytes: number;
  isReconciler: boolean;
  /** The creations whose executions wait for a callback, and for which no function runs any more. */
  readonly parked: Set<string>;
  lastId?: CreationId;
}

/**
 * Counts this many creations of each kind. They run one at a time, so that no call of one creation is counted
 * for another. Half as many run before the counting begins, for cold starts, caches and V8's optimization.
 */
export async function measure(
  creations: number,
  tell: (line: string) => void,
  wanted: readonly CreationKind[] = creationKinds,
): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-cost-'));
  const counting: Counting = { logBytes: 0, isReconciler: false, parked: new Set() };
  const fal = await startFakeFal();
  const service = await startCounted(folder, counting, fal, tell);
  const place = { service, fal, counting };
  try {
    await letFalCallBack(service);
    await service.operator.accounts.change(service.demo.accountId, { postRate: 100_000 });
    const kinds: Partial<Record<CreationKind, CreationCount>> = {};
    for (const kind of wanted) {
      tell(`${creations} of ${kind} …`);
      for (let run = 0; run < Math.ceil(creations / 2); run += 1) await runOne(place, kind);
      kinds[kind] = await countKind(place, kind, creations);
    }
    tell('the reconciler …');
    return { kinds: kinds as Measured['kinds'], reconciler: await countReconciler(place) };
  } finally {
    await service.machine.stop();
    await fal.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function startCounted(
  folder: string,
  counting: Counting,
  fal: CallingVendor,
  tell: (line: string) => void,
): Promise<RunningService> {
  // A renderer gives its lease back after this line of the log. A callback before that would wait for the lease.
  const parking = new Set<string>();
  return startService({
    folder,
    port: 0,
    strictOutbound: false,
    // A function that a schedule starts is no part of a creation.
    firesByItself: false,
    environment: { ...environmentOf([['fal', fal]]), CALLBACK_BASE_URL: '{origin}' },
    onProgress: tell,
    onLog: (line) => {
      const { event, creationId } = logSchema.parse(JSON.parse(line));
      if (event === 'creation_parked' && creationId !== undefined) parking.add(creationId);
      if (line.includes('"component":"reconcile"') === counting.isReconciler)
        counting.logBytes += Buffer.byteLength(line) + 1;
    },
    onEvent: (event) => {
      if (event.event !== 'invocation') return;
      counting.meter?.noteInvocation(event.functionId, event.cpuMillis);
      if (!isRenderer(event.functionId)) return;
      for (const id of parking) counting.parked.add(id);
      parking.clear();
    },
  });
}

const logSchema = z.object({ event: z.string().optional(), creationId: z.string().optional() });

async function letFalCallBack({ operator: { credentials, providers } }: RunningService): Promise<void> {
  await credentials.set('fal', 'fake-fal-key');
  await credentials.setCallbackAccount('fal', fakeFalAccount);
  await providers.enable('fal');
}

async function countKind(place: Place, kind: CreationKind, creations: number): Promise<CreationCount> {
  const { service, counting } = place;
  const meter = createMeter(service.machine, (id) => creationFunction(service, id), isLeftOut);
  Object.assign(counting, { logBytes: 0, meter });
  let transitions = 0;
  for (let run = 0; run < creations; run += 1) transitions += await runOne(place, kind);
  const count = averageOf(counting, creations, transitions);
  if (kind === 'success, webhook, callback') return withVendorCalls(count);
  if (!kind.startsWith('success')) return count;
  return withoutRenewals(count, updatesOfARendering[kind.includes('webhook') ? 'withWebhook' : 'alone']);
}

async function countReconciler({ service, counting }: Place): Promise<CreationCount> {
  const nameOf = (id: string): string | undefined => (id.startsWith('Reconcile') ? 'Reconcile' : undefined);
  const meter = createMeter(service.machine, nameOf);
  Object.assign(counting, { logBytes: 0, isReconciler: true, meter });
  await advance(service, idleMinutes * 60);
  return averageOf(counting, idleMinutes, 0);
}

async function advance({ machine }: RunningService, seconds: number): Promise<void> {
  const response = await fetch(`${machine.localUrl}/clock`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ advance_seconds: seconds }),
  });
  if (!response.ok) throw new Error(`the clock was answered ${response.status}`);
}

/** The name of a function for its id or the id of its role. */
function creationFunction({ machine }: RunningService, id: string): string | undefined {
  const fn = machine.template.functions.find((one) => one.roleId === id || one.id === id);
  return fn && functionName(fn.id);
}

/** Ends the counting. */
function averageOf({ meter, logBytes }: Counting, runs: number, transitions: number): CreationCount {
  if (!meter) throw new Error('nothing was counted');
  meter.stop();
  const each = ({ invocations, cpuMillis, readUnits, writeUnits, calls }: FunctionCount): FunctionCount => ({
    invocations: invocations / runs,
    cpuMillis: cpuMillis / runs,
    readUnits: readUnits / runs,
    writeUnits: writeUnits / runs,
    calls: mapValues(calls, (times) => times / runs),
  });
  return {
    functions: mapValues(meter.functions, each),
    transitions: transitions / runs,
    logBytes: logBytes / runs,
    storedBytes: meter.storedBytes() / runs,
  };
}

/**
 * On a busy machine the painting of the sandbox takes more than two seconds, and the renderer renews its
 * lease. Each renewal is one call and one write unit. The page counts renewals as part of the waiting, so
 * this count has none. The meter may miss the unit of a renewal that is refused or runs beside another write
 * of the item, so the difference is rounded to the whole units of a creation.
 */
function withoutRenewals(count: CreationCount, updates: number): CreationCount {
  const [name = '', render] = Object.entries(count.functions).find(([one]) => isRenderer(one)) ?? [];
  if (!render) return count;
  const renewals = (render.calls[update] ?? 0) - updates;
  const calls = { ...render.calls, [update]: updates };
  const writeUnits = Math.round(render.writeUnits - renewals);
  return { ...count, functions: { ...count.functions, [name]: { ...render, calls, writeUnits } } };
}

/**
 * The time decides when an environment reads the health of the only route of a creation, at most once a minute, and
 * the paused providers, at most once in ten seconds. So an ordinary creation reads neither.
 */
function isLeftOut({ operation, input }: AwsCall): boolean {
  if (operation !== 'BatchGetItem') return false;
  const asked = Object.values(asTableRequest(input).RequestItems ?? {}).flatMap(({ Keys: keys }) => keys);
  return asked.every(({ pk }) => /^(SERVICE$|HEALTH#)/.test(pk?.S ?? ''));
}

/** The callback ends the wait: the renderer submits the job, and the callback asks for its result and the image. */
function withVendorCalls(count: CreationCount): CreationCount {
  return {
    ...count,
    functions: mapValues(count.functions, (one, name) => {
      const vendorCalls = isRenderer(name) ? 1 : name === 'ReceiveCallback' ? 2 : 0;
      return vendorCalls === 0 ? one : { ...one, calls: { ...one.calls, 'vendor HTTP': vendorCalls } };
    }),
  };
}

/**
 * Runs one creation until it has ended, or one poll of the last creation. Gives the number of state
 * transitions.
 */
async function runOne({ service, fal, counting }: Place, kind: CreationKind): Promise<number> {
  if (kind === 'poll') {
    await poll(service, counting.lastId ?? '');
    return 0;
  }
  const body = {
    model: kind.endsWith('callback') ? 'flux-2-klein-4b' : 'sandbox-sketch',
    prompt: `a quiet lake at dawn${kind.startsWith('failure') ? ' [sandbox:fail]' : ''}`,
    ...(kind.includes('webhook') && { webhook_url: service.machine.inboxUrl }),
  };
  const headers: Readonly<Record<string, string>> = kind.includes('Idempotency-Key')
    ? { 'idempotency-key': crypto.randomUUID() }
    : {};
  const id = await submit(service, service.demo.key, body, headers);
  counting.lastId = id;
  if (kind.endsWith('callback')) await callBack(fal, id, counting.parked);
  await settled(service, id);
  return transitionsOf(service, id);
}

/** The vendor calls back as soon as the execution waits. A longer rendering at the vendor would cost nothing more. */
async function callBack(fal: CallingVendor, id: CreationId, parked: ReadonlySet<string>): Promise<void> {
  for (let tries = 0; !parked.has(id); tries += 1) {
    if (tries === 600) throw new Error(`the execution of ${id} did not wait for its callback within 12 s`);
    await sleep(20);
  }
  const status = await fal.callBack(fal.jobIds().at(-1) ?? '');
  if (status !== 200) throw new Error(`the callback was answered ${status}`);
}

/** The service refuses a poll that comes less than a second after another poll of the same creation. */
async function poll({ machine, demo }: RunningService, id: string): Promise<void> {
  await sleep(1_050);
  const headers = { authorization: `Bearer ${demo.key}` };
  const response = await fetch(`${machine.apiUrl}/creations/${id}`, { headers });
  if (response.status !== 200) throw new Error(`a poll was answered ${response.status}`);
}

/** Waits for the end of the execution, which comes shortly after the end of the creation. */
async function transitionsOf({ machine }: RunningService, id: CreationId): Promise<number> {
  for (let tries = 0; tries < 600; tries += 1) {
    const execution = machine.executions.list().find(({ name }) => name === id);
    if (execution && execution.status !== 'RUNNING')
      return execution.history.filter(({ type }) => type === 'StateEntered').length;
    await sleep(20);
  }
  throw new Error(`the execution of ${id} did not end within 12 s`);
}
