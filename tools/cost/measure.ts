/** One kind of creation after the other through the whole service, and what it took of AWS. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CreationId } from '../../core/ids.ts';
import { isTerminal } from '../../core/creation.ts';
import { startService, type RunningService } from '../../start/service.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { createMeter, type FunctionCount, type Meter } from './meter.ts';

/** What one creation takes, on average over those that were run. */
export interface CreationCount {
  readonly functions: Readonly<Record<string, FunctionCount>>;
  readonly transitions: number;
  /** Of the functions' own lines. */
  readonly logBytes: number;
}

/** How a creation is sent, and how it ends; a poll is of one that ended. */
export const creationKinds = [
  'success',
  'success, webhook',
  'success, webhook, Idempotency-Key',
  'failure, webhook',
  'poll',
] as const;
export type CreationKind = (typeof creationKinds)[number];

/** How many runs of the reconciler are counted. */
const idleMinutes = 10;

export interface Measured {
  readonly kinds: Readonly<Record<CreationKind, CreationCount>>;
  /** One run of the reconciler with nothing to do. */
  readonly reconciler: CreationCount;
}

/** Counts so many of each kind, one at a time, so that nothing of one is counted for another; half as many run before. */
export async function measure(
  creations: number,
  tell: (line: string) => void,
  wanted: readonly CreationKind[] = creationKinds,
): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-cost-'));
  const state: { meter?: Meter; logBytes: number; isReconciler: boolean } = {
    logBytes: 0,
    isReconciler: false,
  };
  const service = await startService({
    folder,
    port: 0,
    strictOutbound: false,
    onProgress: tell,
    onLog: (line) => {
      // The reconciler runs each minute: on a slow machine, one of its runs falls between two creations.
      if (line.includes('"component":"reconcile"') === state.isReconciler)
        state.logBytes += Buffer.byteLength(line) + 1;
    },
    onEvent: (event) => {
      if (event.event === 'invocation') state.meter?.noteInvocation(event.functionId, event.cpuMillis);
    },
  });
  try {
    await service.operator.accounts.change(service.demo.accountId, { postRate: 100_000 });
    const counted: [CreationKind, CreationCount][] = [];
    const last: { id?: CreationId } = {};
    for (const kind of wanted) {
      tell(`${creations} of ${kind} …`);
      // The first ones pay for cold starts, caches and code that V8 has not optimized yet.
      for (let run = 0; run < Math.ceil(creations / 2); run += 1) await runOne(service, kind, last);
      Object.assign(state, {
        logBytes: 0,
        meter: createMeter(service.machine, (role) => creationFunction(service, role)),
      });
      let transitions = 0;
      for (let run = 0; run < creations; run += 1) transitions += await runOne(service, kind, last);
      state.meter?.stop();
      counted.push([
        kind,
        averageOf(state.meter?.functions ?? new Map(), creations, { transitions, logBytes: state.logBytes }),
      ]);
    }
    tell('the reconciler …');
    Object.assign(state, {
      logBytes: 0,
      isReconciler: true,
      meter: createMeter(service.machine, (id) => (id.startsWith('Reconcile') ? 'Reconcile' : undefined)),
    });
    await advance(service, idleMinutes * 60);
    state.meter?.stop();
    const reconciler = averageOf(state.meter?.functions ?? new Map(), idleMinutes, {
      transitions: 0,
      logBytes: state.logBytes,
    });
    return { kinds: Object.fromEntries(counted) as Record<CreationKind, CreationCount>, reconciler };
  } finally {
    await service.machine.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function advance({ machine }: RunningService, seconds: number): Promise<void> {
  const response = await fetch(`${machine.localUrl}/clock`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ advance_seconds: seconds }),
  });
  if (!response.ok) throw new Error(`the clock was answered ${response.status}`);
}

function shortName(functionId: string): string {
  return functionId.replace(/[0-9A-F]{8}$/, '');
}

/** By its id or that of its role; the reconciler's runs belong to the idle bill. */
function creationFunction({ machine }: RunningService, id: string): string | undefined {
  const fn = machine.template.functions.find((one) => one.roleId === id || one.id === id);
  return fn === undefined || fn.id.startsWith('Reconcile') ? undefined : shortName(fn.id);
}

function averageOf(
  functions: ReadonlyMap<string, FunctionCount>,
  runs: number,
  sums: Omit<CreationCount, 'functions'>,
): CreationCount {
  const each = (count: FunctionCount): FunctionCount => ({
    invocations: count.invocations / runs,
    cpuMillis: count.cpuMillis / runs,
    readUnits: count.readUnits / runs,
    writeUnits: count.writeUnits / runs,
    calls: new Map([...count.calls].map(([label, calls]) => [label, calls / runs])),
  });
  return {
    functions: Object.fromEntries([...functions].map(([name, count]) => [name, each(count)])),
    transitions: sums.transitions / runs,
    logBytes: sums.logBytes / runs,
  };
}

/** One creation to its settled end, or one poll of the last; gives its state transitions. */
async function runOne(
  service: RunningService,
  kind: CreationKind,
  last: { id?: CreationId },
): Promise<number> {
  const { machine } = service;
  const headers = { authorization: `Bearer ${service.demo.key}`, 'content-type': 'application/json' };
  if (kind === 'poll') {
    await sleep(1_050);
    const response = await fetch(`${machine.apiUrl}/creations/${last.id ?? ''}`, { headers });
    if (response.status !== 200) throw new Error(`a poll was answered ${response.status}`);
    return 0;
  }
  const body = {
    model: 'sandbox-sketch',
    prompt: `a quiet lake at dawn${kind.startsWith('failure') ? ' [sandbox:fail]' : ''}`,
    ...(kind.includes('webhook') && { webhook_url: machine.inboxUrl }),
  };
  const key = kind.includes('Idempotency-Key') ? { 'idempotency-key': crypto.randomUUID() } : {};
  const response = await fetch(`${machine.apiUrl}/images/generate`, {
    method: 'POST',
    headers: { ...headers, ...key },
    body: JSON.stringify(body),
  });
  if (response.status !== 202)
    throw new Error(`a creation was answered ${response.status}: ${await response.text()}`);
  last.id = ((await response.json()) as { id: CreationId }).id;
  return settled(service, last.id);
}

async function settled({ machine, operator }: RunningService, id: CreationId): Promise<number> {
  for (let tries = 0; tries < 600; tries += 1) {
    const creation = await operator.creations.read(id);
    const execution = machine.executions.list().find(({ name }) => name === id);
    const isDone = creation && isTerminal(creation.status) && creation.webhook?.status !== 'pending';
    if (isDone && execution && execution.status !== 'RUNNING')
      return execution.history.filter(({ type }) => type === 'StateEntered').length;
    await sleep(20);
  }
  throw new Error(`the creation ${id} did not end within 12 s`);
}

/** MB of memory of each function, by its name. */
export async function memoryOf(): Promise<Readonly<Record<string, number>>> {
  const template = JSON.parse(await readFile(await synthesizedTemplate(), 'utf8')) as {
    readonly Resources: Readonly<
      Record<string, { readonly Type: string; readonly Properties: { readonly MemorySize?: number } }>
    >;
  };
  const functions = Object.entries(template.Resources).filter(
    ([, { Type }]) => Type === 'AWS::Lambda::Function',
  );
  return Object.fromEntries(
    functions.map(([id, { Properties: properties }]) => [shortName(id), properties.MemorySize ?? 128]),
  );
}
