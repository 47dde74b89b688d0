/**
 * One simulated world: its time, its invocations, and the one door through which each call
 * of a dependency goes. At the door the seed decides how long a call takes, and the plan of
 * faults whether it goes wrong.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { InvocationResult } from '../../local/lambda/messages.ts';
import { createClocks, type Clocks } from './clocks.ts';
import { createStream, type Dice } from './dice.ts';
import type { Call, Fault, FaultKind, FaultPlan } from './faults.ts';
import { Refused, cancelled } from './refused.ts';
import type { VirtualTime } from './time.ts';

/** One run of a function, or of an operator's command. */
export interface Invocation {
  readonly id: string;
  readonly name: string;
  readonly startedAt: number;
  /** What the clock of its environment is set wrong against the others, in milliseconds. */
  readonly skew: number;
  /** After its end by itself or by a crash; what a dead one does has no effect any more. */
  dead: boolean;
  /** Kinds of items that it wrote. */
  readonly wrote: Set<string>;
  /** Whether a fault touched it. */
  faulted: boolean;
  readonly die: (errorType: string) => void;
}

/** The connection broke: nobody knows what happened. */
class AnswerLost extends Error {
  override readonly name = 'TimeoutError';
  readonly code = 'ECONNRESET';
}

export interface WorldOptions {
  readonly seed: number;
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly faults: FaultPlan;
  /** The clocks of two environments differ by at most twice as much. */
  readonly clockSpreadMillis: number;
}

export interface World {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly randomBytes: (count: number) => Uint8Array;
  /** What the clock of whoever asks says: true time, what all of them were set wrong, and what its own environment's was. */
  readonly now: () => number;
  readonly clocks: Clocks;
  /** Whether no fault strikes any more, for now. */
  isCalm: () => boolean;
  /** What a scenario's steps made go wrong, and how often. */
  readonly mishaps: Map<string, number>;
  readonly trace: string[];
  readonly injected: Fault[];
  /** Calls of each site. */
  readonly sites: Map<string, { readonly call: Omit<Call, 'occurrence'>; count: number }>;
  /** When the last fault struck. */
  lastFaultAt: number;
  readonly current: () => Invocation | undefined;
  /** Runs work that outlives the invocation that asked for it. */
  readonly outside: <Result>(work: () => Result) => Result;
  /** Live invocations. */
  readonly live: Set<Invocation>;
  readonly note: (text: string) => void;
  /** Runs a function as Lambda does: once, in its time limit, with a crash that ends it for good. */
  readonly invoke: (name: string, limitMillis: number, work: (id: string) => Promise<unknown>) => Promise<InvocationResult>;
  /** One call of a dependency; `perform` is its effect. */
  readonly call: <Answer>(call: Omit<Call, 'occurrence' | 'site'> & { readonly target: string }, perform: (fault: FaultKind | undefined) => Answer) => Promise<Answer>;
  readonly sleep: (millis: number, signal?: AbortSignal) => Promise<void>;
  readonly hash: () => string;
}

/** What a dead invocation waits for. A new one each time: one for all would hold everything that ever waited. */
const never = (): Promise<never> => new Promise(() => undefined);
/** Longer than an API function, a delivery and a rendering may take. */
const lateMillis = [35_000, 70_000, 900_000] as const;

/** A world that stands at the beginning of its time. */
export function createWorld({ seed, time, dice, faults, clockSpreadMillis }: WorldOptions): World {
  const storage = new AsyncLocalStorage<Invocation>();
  const digest = createHash('sha256');
  const stream = createStream(seed);
  const bursts = new Map<string, FaultKind>();
  const clocks = createClocks(dice, clockSpreadMillis);
  let invocations = 0;

  const note = (text: string): void => {
    const line = `${new Date(time.now()).toISOString()} ${text}`;
    world.trace.push(line);
    digest.update(line).update('\n');
  };

  async function pause(millis: number): Promise<void> {
    await new Promise<void>((resolve) => { setTimeout(resolve, millis); });
  }

  /** Sleeps as an invocation: one that died meanwhile never wakes. */
  async function sleep(millis: number, signal?: AbortSignal): Promise<void> {
    const invocation = storage.getStore();
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        reject(new Error('aborted'));
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, Math.max(0, millis));
      if (signal?.aborted === true) stop();
      else signal?.addEventListener('abort', stop, { once: true });
    });
    if (invocation?.dead === true) await never();
  }

  /** The fault of this call: one that goes on from the call before, or a new one of the plan. */
  function faultOf(call: Call, owner: string): FaultKind | undefined {
    const burst = bursts.get(`${owner} ${call.site}`);
    if (burst) return burst;
    if (world.isCalm()) return undefined;
    const kind = faults(call);
    if (!kind) return undefined;
    world.injected.push({ site: call.site, occurrence: call.occurrence, kind });
    const goesOn = continuation[kind];
    if (goesOn) bursts.set(`${owner} ${call.site}`, goesOn);
    return kind;
  }

  const world: World = {
    time, dice,
    trace: [],
    injected: [],
    sites: new Map(),
    live: new Set(),
    mishaps: new Map(),
    clocks,
    isCalm: () => false,
    lastFaultAt: 0,
    randomBytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(stream() * 256)),
    now: () => {
      const invocation = storage.getStore();
      return time.now() + clocks.skewOf(invocation?.name) + (invocation?.skew ?? 0);
    },
    current: () => storage.getStore(),
    outside: (work) => storage.exit(work),
    note,
    sleep,
    hash: () => digest.copy().digest('hex'),
    invoke: (name, limitMillis, work) =>
      storage.exit(() => new Promise((resolve) => {
        invocations += 1;
        const id = `${name}#${invocations}`;
        const end = (result: InvocationResult): void => {
          if (invocation.dead) return;
          invocation.dead = true;
          world.live.delete(invocation);
          clearTimeout(limit);
          note(`${id} ${result.ok ? 'ends' : `fails ${result.error.errorType}`}`);
          resolve(result);
        };
        const fail = (errorType: string, errorMessage: string): void => end({ ok: false, error: { errorType, errorMessage } });
        const invocation: Invocation = {
          id, name,
          startedAt: time.now(),
          skew: clocks.environmentSkew(name, id),
          dead: false,
          wrote: new Set(),
          faulted: false,
          die: (errorType) => fail(errorType, 'the invocation ended'),
        };
        const limit = setTimeout(() => { invocation.die('Sandbox.Timedout'); }, limitMillis);
        world.live.add(invocation);
        note(`${id} begins`);
        storage.run(invocation, () => {
          work(id).then(
            (payload) => end({ ok: true, payload: payload === undefined ? null : (JSON.parse(JSON.stringify(payload)) as unknown) }),
            (error: unknown) => fail(error instanceof Error ? error.name : 'Error', error instanceof Error ? error.message : String(error)),
          );
        });
      })),
    call: async ({ service, operation, target }, perform) => {
      const invocation = storage.getStore();
      if (invocation?.dead === true) return never();
      const site = `${invocation?.name ?? 'world'} ${service}.${operation} ${target}`.trimEnd();
      const known = world.sites.get(site) ?? { call: { service, operation, site }, count: 0 };
      world.sites.set(site, known);
      known.count += 1;
      const call: Call = { service, operation, site, occurrence: known.count };
      const owner = invocation?.id ?? 'world';
      const fault = faultOf(call, owner);
      const name = `${site} ${known.count}`;
      if (fault) {
        world.lastFaultAt = time.now();
        if (invocation) invocation.faulted = true;
      }
      const says = (result: string): void => note(`${owner} ${service}.${operation} ${target} ${fault ? `{${fault}} ` : ''}${result}`);
      if (fault === 'crash_before') {
        says('crash');
        invocation?.die('Runtime.ExitError');
        return never();
      }
      await pause(fault === 'late' ? dice.pick(`late ${name}`, lateMillis) : dice.between(`before ${name}`, 1, 12));
      const [result, answer] = outcome(service, fault, perform);
      says(result);
      if (fault === 'crash_after') {
        invocation?.die('Runtime.ExitError');
        return never();
      }
      await pause(fault === 'late_answer' ? dice.pick(`late ${name}`, lateMillis) : dice.between(`after ${name}`, 0, 12));
      // Died while it waited, by its time limit or by a crash in another of its calls.
      if (isDead(invocation)) return never();
      return answer();
    },
  };
  return world;
}

/** What the calls behind a fault meet, as long as the same invocation goes on trying at the same site. */
const continuation: Readonly<Partial<Record<FaultKind, FaultKind>>> = {
  errors: 'errors',
  all_lost: 'all_lost',
  throttles: 'throttles',
  conflicts: 'conflicts',
  all_unprocessed: 'all_unprocessed',
  lost_then_throttled: 'throttles',
  lost_then_conflicts: 'conflicts',
};

/** The effect of a call and what is answered: its words for the trace, and the answer itself. */
function outcome<Answer>(service: string, fault: FaultKind | undefined, perform: (fault: FaultKind | undefined) => Answer): [string, () => Answer] {
  const refuse = (error: Error): [string, () => Answer] => [error instanceof Refused ? error.code : error.name, () => { throw error; }];
  switch (fault) {
    case 'error':
    case 'errors':
      return refuse(new Refused('InternalServerError', 'simulated'));
    case 'throttle':
    case 'throttles':
      return refuse(new Refused(service === 'dynamodb' ? 'ProvisionedThroughputExceededException' : 'ThrottlingException', 'simulated'));
    case 'conflict':
    case 'conflicts':
      return refuse(new Refused('TransactionConflictException', 'simulated'));
    case 'refused':
      return refuse(new Refused('AccessDeniedException', 'simulated'));
    default:
  }
  const done = attempt(perform, fault);
  const isLost = fault === 'lost' || fault === 'all_lost' || fault === 'lost_then_throttled' || fault === 'lost_then_conflicts';
  if (isLost) return [`${done[0]} (lost)`, () => { throw new AnswerLost('the connection broke'); }];
  return done;
}

function attempt<Answer>(perform: (fault: FaultKind | undefined) => Answer, fault: FaultKind | undefined): [string, () => Answer] {
  try {
    const answer = perform(fault);
    return ['ok', () => answer];
  } catch (error) {
    if (error instanceof Refused) {
      const reasons = error.fields['CancellationReasons'] as readonly { Code: string }[] | undefined;
      return [`${error.code}${reasons ? ` [${reasons.map(({ Code }) => Code).join(' ')}]` : ''}`, () => { throw error; }];
    }
    throw error;
  }
}

/** A conflict as a transaction of so many items words it. */
export function conflictOf(count: number): Refused {
  return cancelled(Array.from({ length: count }, (_, index) => (index === 0 ? { Code: 'TransactionConflict', Message: 'simulated' } : { Code: 'None' })));
}

/** Asked anew behind each wait: the compiler believes what was true before it. */
function isDead(invocation: Invocation | undefined): boolean {
  return invocation?.dead === true;
}
