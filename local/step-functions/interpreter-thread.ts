/**
 * The thread of the state machines. Its timers and its Date follow the virtual clock, while the main thread
 * keeps the real ones. No other thread drives its timers: the thread reads the shared clock, sleeps until its
 * next timer is due, and catches up with the clock at every message.
 */
import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import * as FakeTimers from '@sinonjs/fake-timers';
import { readSharedClock } from '../clock.ts';
import { isObject } from '../json.ts';
import type { InvocationResult } from '../lambda/messages.ts';
import type { FromInterpreter, InterpreterBootData, ToInterpreter } from './interpreter.ts';
import {
  createStateMachine,
  type LocalStateMachine,
  type RunningExecution,
  type TaskCall,
} from './state-machine.ts';
import { createTaskTokens } from './task-tokens.ts';

/** The timers of a thread whose time another part of the code sets. Instants are milliseconds since 1970. */
export interface VirtualTimers {
  /**
   * Sets the time to the instant and fires all timers that are due by then, in order. An instant in the past
   * changes nothing.
   */
  readonly flowTo: (instant: number) => void;
  /** The instant at which the next timer is due. */
  readonly next: () => number | undefined;
  /** Resolves when every promise that could resolve has resolved. */
  readonly settled: () => Promise<void>;
  /** Calls back after this many real milliseconds. Returns a function that cancels the call. */
  readonly inReal: (millis: number, callback: () => void) => () => void;
}

/** Replaces this thread's setTimeout, clearTimeout and Date for good. */
function installVirtualTimers(now: number): VirtualTimers {
  const {
    setTimeout: realSetTimeout,
    clearTimeout: realClearTimeout,
    setImmediate: realSetImmediate,
  } = globalThis;
  const clock = FakeTimers.install({ now, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  return {
    flowTo: (instant) => {
      if (instant > clock.now) clock.tick(instant - clock.now);
    },
    next: () => earliest(clock),
    settled: () =>
      new Promise((resolve) => {
        realSetImmediate(resolve);
      }),
    inReal: (millis, callback) => {
      const timer = realSetTimeout(callback, millis);
      return () => realClearTimeout(timer);
    },
  };
}

/** The library keeps its timers in a map that is missing from its types. */
function earliest(clock: FakeTimers.Clock): number | undefined {
  const timers: unknown[] =
    'timers' in clock && clock.timers instanceof Map ? [...clock.timers.values()] : [];
  const instants = timers.flatMap((timer) =>
    isObject(timer) && typeof timer['callAt'] === 'number' ? [timer['callAt']] : [],
  );
  return instants.length === 0 ? undefined : Math.min(...instants);
}

const { clock, machines } = workerData as InterpreterBootData;
const shared = readSharedClock(clock, Date.now);
const timers = installVirtualTimers(shared.now());
const built = new Map<string, LocalStateMachine>();
const tokens = createTaskTokens(randomUUID);
const running = new Map<string, RunningExecution>();
const calls = new Map<number, (result: InvocationResult) => void>();
let lastCall = 0;
let stopSleeping = (): void => undefined;

const say = (message: FromInterpreter): void => parentPort?.postMessage(message);

/** Brings this thread's time up to the clock's, then sleeps until its next timer. */
async function flow(): Promise<void> {
  timers.flowTo(shared.now());
  await timers.settled();
  stopSleeping();
  const next = timers.next();
  // A standing clock moves only by jumps, and a sync follows each jump.
  if (next === undefined || shared.isFrozen()) return;
  const millis = Math.min(Math.max(next - shared.now(), 1), 2_000_000_000);
  stopSleeping = timers.inReal(millis, () => void flow());
}

function invokeTask(task: TaskCall): Promise<InvocationResult> {
  const call = ++lastCall;
  say({ type: 'task', call, task });
  return new Promise((resolve) => {
    calls.set(call, resolve);
  });
}

function start({ machine, execution, input }: Extract<ToInterpreter, { type: 'start' }>): void {
  const { arn } = execution;
  const one = built.get(machine)?.start(execution, input);
  if (one === undefined) throw new Error(`the interpreter knows no ${machine}`);
  running.set(arn, one);
  void one.outcome.then((outcome) => {
    running.delete(arn);
    say({ type: 'closed', arn, outcome });
  });
}

function answerTask(call: number, result: InvocationResult): void {
  calls.get(call)?.(result);
  calls.delete(call);
}

/** A task whose time is over by now is closed before the message reaches it. */
async function sendToTask({
  call,
  token,
  message,
}: Extract<ToInterpreter, { type: 'token' }>): Promise<void> {
  await flow();
  say({ type: 'token_answer', call, isOpen: tokens.send(token, message) });
  await flow();
}

async function sync(id: number): Promise<void> {
  await flow();
  say({ type: 'synced', sync: id, nextTimer: timers.next() });
}

function handle(message: ToInterpreter): void {
  switch (message.type) {
    case 'start':
      start(message);
      break;
    case 'abort':
      running.get(message.arn)?.abort();
      break;
    case 'result':
      answerTask(message.call, message.result);
      break;
    case 'token':
      void sendToTask(message);
      break;
    case 'sync':
      void sync(message.sync);
  }
}

for (const [arn, text] of machines) {
  built.set(
    arn,
    createStateMachine(text, {
      invokeTask,
      openTask: tokens.open,
      // A test of the stack validates the definition, so that a start need not.
      validates: false,
      onEvent: ({ arn: execution }, event) => say({ type: 'history', arn: execution, event }),
    }),
  );
}
parentPort?.on('message', (message: ToInterpreter) => {
  timers.flowTo(shared.now());
  handle(message);
  if (message.type !== 'sync') void flow();
});
