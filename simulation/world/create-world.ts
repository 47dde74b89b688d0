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
import {
  Aborted,
  attempt,
  lost,
  losesTheAnswer,
  Ongoing,
  refusedAtTheDoor,
  type Effect,
  type Outcome,
} from './effects.ts';
import { createEnvironments } from '../aws/lambda-environments.ts';
import type { Call, Fault, FaultKind, FaultPlan } from './faults.ts';
import type { VirtualTime } from './time.ts';

/** One run of a function, or of an operator's command. */
export interface Invocation {
  readonly id: string;
  readonly name: string;
  readonly startedAt: number;
  /** What the clock of its environment is set wrong against the others, in milliseconds. */
  readonly skew: number;
  /** After a crash or a time-out of its environment; what a dead one does has no effect any more. */
  dead: boolean;
  /** It has answered. What it still does, it does in a frozen environment that serves again. */
  hasAnswered: boolean;
  /** Whether a fault touched it. */
  faulted: boolean;
  /** The faults that struck its calls. */
  readonly faults: Fault[];
  readonly die: (errorType: string) => void;
}

export interface WorldOptions {
  readonly seed: number;
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly faults: FaultPlan;
  /** The clocks of two environments differ by at most twice as much. */
  readonly clockSpreadMillis: number;
  /** How long a transaction holds its items at least and at most, in milliseconds. */
  readonly holdMillis: readonly [least: number, most: number];
  /** How long each call of the bucket takes on top, in milliseconds. */
  readonly slowBucketMillis: number;
}

/** A call of a dependency as its caller names it. */
export interface Asking {
  readonly service: string;
  readonly operation: string;
  /** What it is about: two places of the code are two sites. */
  readonly target: string;
  /** Ends the waiting for an answer, not the effect. */
  readonly signal?: AbortSignal;
}

/** A call that an invocation makes behind its own answer. */
export interface LateCall {
  readonly invocation: Invocation;
  readonly operation: string;
  readonly target: string;
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
  /** Whether the bucket of a slow scenario is slow, for now. */
  isBucketSlow: () => boolean;
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
  /** Runs an action as a part of an invocation: at once, when it is thawed, or never. */
  readonly whenAwake: (invocation: Invocation | undefined, action: () => void) => void;
  /** Live invocations. */
  readonly live: Set<Invocation>;
  readonly note: (text: string) => void;
  /** Counts something that a scenario made go wrong. */
  readonly mishap: (name: string) => void;
  /** Runs a function as Lambda does: once, in its time limit, with a crash that ends its environment for good. */
  readonly invoke: (
    name: string,
    limitMillis: number,
    work: (id: string) => Promise<unknown>,
  ) => Promise<InvocationResult>;
  /** Runs an operator's command: a process of its own, which ends with its work. */
  readonly command: (
    name: string,
    limitMillis: number,
    work: (id: string) => Promise<unknown>,
  ) => Promise<InvocationResult>;
  /** Hears of each call that an invocation makes behind its own answer. */
  onLateCall: (call: LateCall) => void;
  /** Hears how each invocation ends; `errorType` is undefined for a payload. */
  onEnded: (invocation: Invocation, errorType: string | undefined) => void;
  /** One call of a dependency. Rejects with what its effect refused, with AnswerLost, or with Aborted. */
  readonly call: <Answer>(asking: Asking, effect: Effect<Answer>) => Promise<Answer>;
  readonly sleep: (millis: number, signal?: AbortSignal) => Promise<void>;
  readonly hash: () => string;
}

/** What a dead invocation waits for. A new one each time: one for all would hold everything that ever waited. */
const never = (): Promise<never> => new Promise(() => undefined);
/** Longer than an API function, a delivery and a rendering may take. */
const lateMillis = [35_000, 70_000, 900_000] as const;
/** How long a fault goes on that lasts: longer than a request's time, and not for ever. */
const burstMillis = 45_000;
/** How often a lost answer or a crash comes before the end of the transaction that it belongs to, not behind. */
const early = 0.5;
/** How often a call without any answer has its effect. */
const hangsBehindEffect = 0.5;

/** A world that stands at the beginning of its time. */
export function createWorld({
  seed,
  time,
  dice,
  faults,
  clockSpreadMillis,
  holdMillis,
  slowBucketMillis,
}: WorldOptions): World {
  const storage = new AsyncLocalStorage<Invocation>();
  const digest = createHash('sha256');
  const stream = createStream(seed);
  const bursts = new Map<string, { readonly kind: FaultKind; readonly until: number }>();
  const clocks = createClocks(dice, clockSpreadMillis);
  const environments = createEnvironments<Invocation>(dice, time.after, ({ id }) => {
    note(`${id} is thawed`);
    world.mishap('invocation thawed');
  });
  let invocations = 0;

  const note = (text: string): void => {
    const line = `${new Date(time.now()).toISOString()} ${text}`;
    world.trace.push(line);
    digest.update(line).update('\n');
  };

  const whenAwake = (invocation: Invocation | undefined, action: () => void): void => {
    if (invocation) environments.whenAwake(invocation, action);
    else action();
  };

  // A timer belongs to the invocation that set it, and stands still with it. Of an interval one tick at most comes due meanwhile.
  time.guardTimers((callback, stop) => {
    const invocation = storage.getStore();
    if (!invocation) return callback;
    let isDue = false;
    return () => {
      if (invocation.dead) stop?.();
      if (isDue) return;
      isDue = true;
      environments.whenAwake(invocation, () => {
        isDue = false;
        storage.run(invocation, callback);
      });
    };
  });

  /** Time of the other end and of the way there: it passes whatever became of the caller. */
  async function pause(millis: number): Promise<void> {
    await new Promise<void>((resolve) => {
      time.after(millis, resolve);
    });
  }

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

  /** The fault of this call: one that goes on from the call before, or a new one of the plan. */
  function faultOf(call: Call, owner: string): FaultKind | undefined {
    const burst = bursts.get(`${owner} ${call.site}`);
    if (burst && time.now() < burst.until) return burst.kind;
    if (world.isCalm()) return undefined;
    const kind = faults(call);
    if (!kind) return undefined;
    world.injected.push({ site: call.site, occurrence: call.occurrence, kind });
    const goesOn = continuation[kind];
    if (goesOn) bursts.set(`${owner} ${call.site}`, { kind: goesOn, until: time.now() + burstMillis });
    return kind;
  }

  function begin(
    name: string,
    hasEnvironment: boolean,
    limitMillis: number,
    work: (id: string) => Promise<unknown>,
  ): Promise<InvocationResult> {
    return storage.exit(
      () =>
        new Promise((resolve) => {
          invocations += 1;
          const id = `${name}#${invocations}`;
          const end = (result: InvocationResult, survives: boolean): void => {
            if (invocation.hasAnswered || invocation.dead) return;
            invocation.hasAnswered = true;
            world.live.delete(invocation);
            stopLimit();
            note(`${id} ${result.ok ? 'ends' : `fails ${result.error.errorType}`}`);
            if (survives) environments.freeze(invocation);
            else environments.destroy(invocation);
            world.onEnded(invocation, result.ok ? undefined : result.error.errorType);
            resolve(result);
          };
          const fail = (errorType: string, errorMessage: string, survives: boolean): void =>
            end({ ok: false, error: { errorType, errorMessage } }, survives);
          const invocation: Invocation = {
            id,
            name,
            startedAt: time.now(),
            skew: clocks.environmentSkew(name, id),
            dead: false,
            hasAnswered: false,
            faulted: false,
            faults: [],
            die: (errorType) => {
              if (invocation.dead) return;
              // Behind its own answer it dies inside another invocation, and takes that one with it.
              const host = invocation.hasAnswered ? environments.hostOf(invocation) : undefined;
              host?.faults.push(...invocation.faults);
              if (invocation.hasAnswered) host?.die(errorType);
              else fail(errorType, 'the invocation ended', false);
            },
          };
          const stopLimit = time.after(limitMillis, () => {
            invocation.die('Sandbox.Timedout');
          });
          world.live.add(invocation);
          if (hasEnvironment) environments.enter(invocation);
          note(`${id} begins`);
          storage.run(invocation, () => {
            work(id).then(
              (payload) =>
                end(
                  {
                    ok: true,
                    payload: payload === undefined ? null : (JSON.parse(JSON.stringify(payload)) as unknown),
                  },
                  hasEnvironment,
                ),
              (error: unknown) =>
                fail(
                  error instanceof Error ? error.name : 'Error',
                  error instanceof Error ? error.message : String(error),
                  hasEnvironment,
                ),
            );
          });
        }),
    );
  }

  /** The other end of a call: what happens there, and when. Never rejects, but for a defect of the simulation. */
  async function serve<Answer>(
    service: string,
    fault: FaultKind | undefined,
    name: string,
    effect: Effect<Answer>,
    says: (text: string) => void,
  ): Promise<Outcome<Answer> | 'crash' | 'silence'> {
    const refusedEarly = refusedAtTheDoor(service, fault);
    await pause(
      fault === 'late' ? dice.pick(`late ${name}`, lateMillis) : dice.between(`before ${name}`, 1, 12),
    );
    if (service === 'images' && slowBucketMillis > 0 && world.isBucketSlow()) {
      world.lastFaultAt = time.now();
      await pause(slowBucketMillis);
    }
    if (fault === 'hang' && !dice.chance(`effect of ${name}`, hangsBehindEffect)) {
      says('hangs');
      return 'silence';
    }
    let outcome: Outcome<Answer | Ongoing<Answer>> = refusedEarly ?? attempt(() => effect(fault));
    const arrived = outcome.text === 'ok' ? outcome.answer() : undefined;
    if (arrived instanceof Ongoing) {
      const finish = async (): Promise<Outcome<Answer>> => {
        await pause(dice.between(`hold ${name}`, ...holdMillis));
        return attempt(arrived.finish);
      };
      if ((losesTheAnswer(fault) || fault === 'crash_after') && dice.chance(`early ${name}`, early)) {
        void finish().then(({ text }) => {
          says(`${text} (unheard)`);
        });
        return fault === 'crash_after' ? 'crash' : lost('in flight');
      }
      outcome = await finish();
    }
    if (losesTheAnswer(fault)) outcome = lost(outcome.text);
    says(outcome.text);
    if (fault === 'crash_after') return 'crash';
    if (fault === 'hang') return 'silence';
    await pause(
      fault === 'late_answer' ? dice.pick(`late ${name}`, lateMillis) : dice.between(`after ${name}`, 0, 12),
    );
    return outcome as Outcome<Answer>;
  }

  async function call<Answer>(
    { service, operation, target, signal }: Asking,
    effect: Effect<Answer>,
  ): Promise<Answer> {
    const invocation = storage.getStore();
    if (invocation?.dead === true) return never();
    if (invocation && environments.isFrozen(invocation))
      await new Promise<void>((resolve) => {
        whenAwake(invocation, resolve);
      });
    if (signal?.aborted === true) throw new Aborted('the call was aborted');
    if (invocation?.hasAnswered === true) world.onLateCall({ invocation, operation, target });
    const site = `${invocation?.name ?? 'world'} ${service}.${operation} ${target}`.trimEnd();
    const known = world.sites.get(site) ?? { call: { service, operation, site }, count: 0 };
    world.sites.set(site, known);
    known.count += 1;
    const one: Call = { service, operation, site, occurrence: known.count };
    const owner = invocation?.id ?? 'world';
    const fault = faultOf(one, owner);
    if (fault) {
      world.lastFaultAt = time.now();
      if (invocation) invocation.faulted = true;
      invocation?.faults.push({ site, occurrence: one.occurrence, kind: fault });
    }
    const says = (result: string): void =>
      note(`${owner} ${service}.${operation} ${target} ${fault ? `{${fault}} ` : ''}${result}`);
    if (fault === 'crash_before') {
      says('crash');
      invocation?.die('Runtime.ExitError');
      return never();
    }
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        says('aborted');
        reject(new Aborted('the call was aborted'));
      };
      signal?.addEventListener('abort', stop, { once: true });
      const hear = (outcome: Outcome<Answer> | 'crash' | 'silence'): void => {
        if (outcome === 'silence') return;
        if (outcome === 'crash') {
          invocation?.die('Runtime.ExitError');
          return;
        }
        // It stands still, or died while it waited: by its time limit, or by a crash in another of its calls.
        whenAwake(invocation, () => {
          signal?.removeEventListener('abort', stop);
          // The call may have been aborted before: then nobody hears its refusal.
          given(outcome).then(resolve, reject);
        });
      };
      serve(service, fault, `${site} ${known.count}`, effect, says).then(hear, reject);
    });
  }

  const world: World = {
    time,
    dice,
    trace: [],
    injected: [],
    sites: new Map(),
    live: new Set(),
    mishaps: new Map(),
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
    outside: (work) => storage.exit(work),
    whenAwake,
    note,
    mishap: (name) => void world.mishaps.set(name, (world.mishaps.get(name) ?? 0) + 1),
    sleep,
    call,
    hash: () => digest.copy().digest('hex'),
    invoke: (name, limitMillis, work) => begin(name, true, limitMillis, work),
    command: (name, limitMillis, work) => begin(name, false, limitMillis, work),
  };
  return world;
}

/** An answer that is thrown rejects. */
async function given<Answer>({ answer }: Outcome<Answer>): Promise<Answer> {
  return Promise.resolve(answer());
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
