/**
 * A world for loads: time and invocations as in the worlds of the seeds, without faults, traces, frozen
 * environments and named dice. A second of 1,000 creations has some 100,000 calls, so each of these costs minutes.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { AwsError } from '../../../../local/aws/aws-error.ts';
import type { InvocationResult } from '../../../../local/lambda/messages.ts';
import { createStream } from '../../world/dice.ts';
import { Aborted, type Effect, Ongoing } from '../../world/effects.ts';
import type { CallRequest, Invocation, RunWork, World } from '../../world/simulated-world.ts';
import type { VirtualTime } from '../../world/time.ts';

export interface LoadWorldOptions {
  readonly seed: number;
  readonly time: VirtualTime;
  /** How long a transaction holds its items at least and at most, in milliseconds. */
  readonly holdMillis: readonly [least: number, most: number];
}

/** The way of a call to its service and back, in milliseconds, each way. */
const travelMillis = { least: 1, most: 6 } as const;

const never = (): Promise<never> => new Promise(() => undefined);
const nothing = (): void => undefined;

/** Creates a world at the beginning of its time. */
export function createLoadWorld({ seed, time, holdMillis: [leastHold, mostHold] }: LoadWorldOptions): World {
  const storage = new AsyncLocalStorage<Invocation>();
  const outside = AsyncLocalStorage.snapshot();
  const stream = createStream(seed);
  const between = (least: number, most: number): number => least + Math.floor(stream() * (most - least + 1));
  // A seed names its dice for shrinking, and a load test is never shrunk.
  const dice: World['dice'] = {
    unit: () => stream(),
    chance: (_name, probability) => stream() < probability,
    between: (_name, least, most) => between(least, most),
    pick: (_name, values) => values[Math.floor(stream() * values.length)] ?? values[0],
  };
  let invocations = 0;
  const live = new Set<Invocation>();

  // A timer runs for the invocation that set it, and never for one that has ended.
  time.guardTimers((callback, stop) => {
    const invocation = storage.getStore();
    if (!invocation) return callback;
    return () => {
      if (invocation.dead) stop?.();
      else storage.run(invocation, callback);
    };
  });

  function call<Answer>({ signal }: CallRequest, effect: Effect<Answer>): Promise<Answer> {
    const invocation = storage.getStore();
    if (invocation?.dead === true) return never();
    if (signal?.aborted === true) return Promise.reject(new Aborted('the call was aborted'));
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(new Aborted('the call was aborted'));
      signal?.addEventListener('abort', stop, { once: true });
      const hear = (settle: () => void): void => {
        time.after(between(travelMillis.least, travelMillis.most), () => {
          signal?.removeEventListener('abort', stop);
          if (invocation?.dead !== true) settle();
        });
      };
      const refuse = (error: unknown): void => {
        // Everything but a refusal of the service is a defect of the simulation.
        if (!(error instanceof AwsError)) throw error;
        hear(() => reject(error));
      };
      const perform = (work: () => Answer | Ongoing<Answer>): void => {
        try {
          const answer = work();
          if (answer instanceof Ongoing)
            time.after(between(leastHold, mostHold), () => {
              perform(answer.finish);
            });
          else hear(() => resolve(answer));
        } catch (error) {
          refuse(error);
        }
      };
      time.after(between(travelMillis.least, travelMillis.most), () => {
        perform(() => effect(undefined));
      });
    });
  }

  function run(...[name, limitMillis, work]: Parameters<RunWork>): Promise<InvocationResult> {
    return new Promise((resolve) => {
      invocations += 1;
      const id = `${name}#${invocations}`;
      const end = (result: InvocationResult): void => {
        if (invocation.hasAnswered) return;
        invocation.hasAnswered = true;
        // Nothing of the product goes on behind its answer, so the end of its work is the end of all its timers.
        invocation.dead = true;
        live.delete(invocation);
        stopLimit();
        world.onEnded(invocation, result.ok ? undefined : result.error.errorType);
        resolve(result);
      };
      const fail = (errorType: string, errorMessage: string): void =>
        end({ ok: false, error: { errorType, errorMessage } });
      const invocation: Invocation = {
        id,
        name,
        startedAt: time.now(),
        skew: 0,
        dead: false,
        hasAnswered: false,
        faulted: false,
        faults: [],
        die: (errorType) => fail(errorType, 'the invocation ended'),
      };
      const stopLimit = time.after(limitMillis, () => fail('Sandbox.Timedout', 'the time is over'));
      live.add(invocation);
      storage.run(invocation, () => {
        work(id).then(
          (payload) => end({ ok: true, payload: payload ?? null }),
          (error: unknown) =>
            error instanceof Error ? fail(error.name, error.message) : fail('Error', String(error)),
        );
      });
    });
  }

  const runOutside: RunWork = (...of) => outside(() => run(...of));
  const world: World = {
    time,
    dice,
    trace: [],
    injected: [],
    sites: new Map(),
    live,
    incidents: new Map(),
    clocks: {
      set: nothing,
      setOf: nothing,
      skewOf: () => 0,
      environmentSkew: () => 0,
      largestSkew: () => 0,
    },
    isCalm: () => true,
    isBucketSlow: () => false,
    lastFaultAt: 0,
    onLateCall: nothing,
    onEnded: nothing,
    randomBytes: (count) => {
      const bytes = new Uint8Array(count);
      for (let index = 0; index < count; index += 1) bytes[index] = stream() * 256;
      return bytes;
    },
    now: time.now,
    current: () => storage.getStore(),
    outside,
    whenAwake: (invocation, action) => {
      if (invocation?.dead !== true) action();
    },
    note: nothing,
    noteIncident: nothing,
    sleep: (millis, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(new Aborted('the sleep was aborted'));
          return;
        }
        const stop = (): void => {
          clear();
          reject(new Aborted('the sleep was aborted'));
        };
        const clear = time.after(Math.max(0, millis), () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        });
        signal?.addEventListener('abort', stop, { once: true });
      }),
    call,
    hash: () => '',
    invoke: runOutside,
    command: runOutside,
  };
  return world;
}
