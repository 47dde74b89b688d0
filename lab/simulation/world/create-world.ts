/**
 * Creates a simulated world: its time, its invocations, and the one door of every call. At the door the seed decides
 * how long the call takes, and the plan of faults decides whether it goes wrong.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { createEnvironments } from '../aws/lambda-environments.ts';
import { createStream } from './dice.ts';
import { Aborted, type Effect, type Outcome } from './effects.ts';
import { type Call, continuation, type FaultKind } from './faults.ts';
import { createInvocationRunner } from './run-invocations.ts';
import { type FarEnd, type Arrived, serveCall } from './serve-call.ts';
import type { CallRequest, Invocation, World, WorldOptions } from './simulated-world.ts';
import { createClocks } from './time.ts';

/**
 * What a dead invocation waits for. Each call gets a promise of its own: a shared one would keep everything
 * in memory that ever waited for it.
 */
const never = (): Promise<never> => new Promise(() => undefined);
/** How long a lasting fault goes on. It outlasts a request's time budget, but it ends. */
const lastingFaultMillis = 45_000;

/** Creates a world at the beginning of its time. */
export function createWorld(options: WorldOptions): World {
  const { seed, time, dice, faults, clockSpreadMillis, holdMillis, slowBucketMillis } = options;
  const storage = new AsyncLocalStorage<Invocation>();
  const outside = AsyncLocalStorage.snapshot();
  const contexts = new WeakMap<Invocation, ReturnType<typeof AsyncLocalStorage.snapshot>>();
  const stamp = createStamps();
  const stream = createStream(seed);
  const lasting = new Map<string, { readonly kind: FaultKind; readonly until: number }>();
  const clocks = createClocks(dice, clockSpreadMillis);
  const environments = createEnvironments<Invocation>(dice, time.after, ({ id }) => {
    note(`${id} is thawed`);
    world.noteIncident('invocation thawed');
  });
  const runner = createInvocationRunner(() => world, storage, environments);
  const farEnd: FarEnd = {
    time,
    dice,
    holdMillis,
    bucketDelayMillis: () => {
      if (slowBucketMillis === 0 || !world.isBucketSlow()) return 0;
      world.lastFaultAt = time.now();
      return slowBucketMillis;
    },
  };

  function note(text: string): void {
    world.trace.push(`${stamp(time.now())} ${text}`);
  }

  function whenAwake(invocation: Invocation | undefined, action: () => void): void {
    if (invocation) environments.whenAwake(invocation, action);
    else action();
  }

  // A timer belongs to the invocation that set it, and freezes with it. However long the freeze lasts, at
  // most one tick of an interval is due afterwards.
  time.guardTimers((callback, stop) => {
    const invocation = storage.getStore();
    if (!invocation) return callback;
    const inside = contexts.get(invocation) ?? AsyncLocalStorage.snapshot();
    contexts.set(invocation, inside);
    let isDue = false;
    return () => {
      if (invocation.dead) stop?.();
      if (isDue) return;
      isDue = true;
      environments.whenAwake(invocation, () => {
        isDue = false;
        inside(callback);
      });
    };
  });

  async function sleep(millis: number, signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        reject(new Aborted('the sleep was aborted'));
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        },
        Math.max(0, millis),
      );
      if (signal?.aborted === true) stop();
      else signal?.addEventListener('abort', stop, { once: true });
    });
  }

  /** The fault of a call: a lasting one that began with an earlier call, or a new one of the plan. */
  function faultOf(call: Call, owner: string): FaultKind | undefined {
    const known = lasting.get(`${owner} ${call.site}`);
    if (known && time.now() < known.until) return known.kind;
    if (world.isCalm()) return undefined;
    const kind = faults(call);
    if (!kind) return undefined;
    world.injected.push({ site: call.site, occurrence: call.occurrence, kind });
    const next = continuation[kind];
    if (next) lasting.set(`${owner} ${call.site}`, { kind: next, until: time.now() + lastingFaultMillis });
    return kind;
  }

  /** Counts the call at its site. */
  function placed({ service, operation, target }: CallRequest, caller: Invocation | undefined): Call {
    const site = `${caller?.name ?? 'world'} ${service}.${operation} ${target}`.trimEnd();
    const known = world.sites.get(site) ?? { call: { service, operation, site }, count: 0 };
    world.sites.set(site, known);
    known.count += 1;
    return { service, operation, site, occurrence: known.count };
  }

  /** Draws the fault of a call and remembers it. */
  function strike(call: Call, invocation: Invocation | undefined): FaultKind | undefined {
    const kind = faultOf(call, invocation?.id ?? 'world');
    if (!kind) return undefined;
    world.lastFaultAt = time.now();
    if (invocation) invocation.faulted = true;
    invocation?.faults.push({ site: call.site, occurrence: call.occurrence, kind });
    return kind;
  }

  async function call<Answer>(request: CallRequest, effect: Effect<Answer>): Promise<Answer> {
    const { service, operation, target, signal } = request;
    const invocation = storage.getStore();
    if (invocation?.dead === true) return never();
    if (invocation && environments.isFrozen(invocation))
      await new Promise<void>((resolve) => {
        whenAwake(invocation, resolve);
      });
    if (signal?.aborted === true) throw new Aborted('the call was aborted');
    if (invocation?.hasAnswered === true) world.onLateCall({ invocation, operation, target });
    const one = placed(request, invocation);
    const fault = strike(one, invocation);
    const owner = invocation?.id ?? 'world';
    const says = (result: string): void =>
      note(`${owner} ${service}.${operation} ${target} ${fault ? `{${fault}} ` : ''}${result}`);
    if (fault === 'crash_before') {
      says('crash');
      invocation?.die('Runtime.ExitError');
      return never();
    }
    const name = `${one.site} ${one.occurrence}`;
    if (fault === 'crash_late') {
      void serveCall(farEnd, { name, service, fault, effect, says });
      invocation?.die('Runtime.ExitError');
      return never();
    }
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        says('aborted');
        reject(new Aborted('the call was aborted'));
      };
      signal?.addEventListener('abort', stop, { once: true });
      const receive = (arrived: Arrived<Answer>): void => {
        if (arrived === 'silence') return;
        if (arrived === 'crash') {
          invocation?.die('Runtime.ExitError');
          return;
        }
        // Meanwhile the invocation may have been frozen, or it may have died: by its time limit, or by a
        // crash in another of its calls.
        whenAwake(invocation, () => {
          signal?.removeEventListener('abort', stop);
          // If the call was aborted before, its promise is settled and this answer is ignored.
          given(arrived).then(resolve, reject);
        });
      };
      serveCall(farEnd, { name, service, fault, effect, says }).then(receive, reject);
    });
  }

  const world: World = {
    time,
    dice,
    trace: [],
    injected: [],
    sites: new Map(),
    live: new Set(),
    incidents: new Map(),
    clocks,
    isCalm: () => false,
    isBucketSlow: () => false,
    lastFaultAt: 0,
    onLateCall: () => undefined,
    onEnded: () => undefined,
    randomBytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(stream() * 256)),
    now: () => {
      const invocation = storage.getStore();
      return time.now() + clocks.skewOf(invocation?.name) + (invocation?.skew ?? 0);
    },
    current: () => storage.getStore(),
    outside,
    whenAwake,
    note,
    noteIncident: (name) => void world.incidents.set(name, (world.incidents.get(name) ?? 0) + 1),
    sleep,
    call,
    hash: () =>
      createHash('sha256')
        .update(world.trace.map((line) => `${line}\n`).join(''))
        .digest('hex'),
    ...runner,
  };
  return world;
}

/** Resolves with the answer, or rejects with what it throws. */
async function given<Answer>({ answer }: Outcome<Answer>): Promise<Answer> {
  return Promise.resolve(answer());
}

const minuteMillis = 60_000;

/** Writes times as Date.toISOString does. It writes the minute of the last time only once, which is quick. */
function createStamps(): (epochMillis: number) => string {
  let minute = Number.NaN;
  let beginning = '';
  return (epochMillis) => {
    const current = Math.floor(epochMillis / minuteMillis);
    if (current !== minute) {
      minute = current;
      beginning = new Date(minute * minuteMillis).toISOString().slice(0, 'yyyy-mm-ddThh:mm:'.length);
    }
    const rest = Math.floor(epochMillis - minute * minuteMillis);
    return `${beginning}${digits(Math.floor(rest / 1000), 2)}.${digits(rest % 1000, 3)}Z`;
  };
}

function digits(value: number, count: number): string {
  return String(value).padStart(count, '0');
}
