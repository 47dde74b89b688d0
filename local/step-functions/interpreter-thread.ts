/** The thread of the state machines. Its timers and its Date follow the virtual clock; the main thread's are real. */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
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

const { clock, machines } = workerData as InterpreterBootData;
const shared = readSharedClock(clock, Date.now);
const { setTimeout: setRealTimeout, clearTimeout: clearRealTimeout } = globalThis;
const timers = FakeTimers.install({ now: shared.now(), toFake: ['setTimeout', 'clearTimeout', 'Date'] });
const built = new Map<string, LocalStateMachine>();
const tokens = createTaskTokens(randomUUID);
const running = new Map<string, RunningExecution>();
const calls = new Map<number, (result: InvocationResult) => void>();
let lastCall = 0;
let sleeping: NodeJS.Timeout | undefined;

const say = (message: FromInterpreter): void => parentPort?.postMessage(message);

/** Sets this thread's time to the clock's, and fires all timers that are due by then, in order. */
function catchUp(): void {
  const instant = shared.now();
  if (instant > timers.now) timers.tick(instant - timers.now);
}

/** The instant of the next timer. The library keeps its timers in a map that is missing from its types. */
function nextTimer(): number | undefined {
  const all: unknown[] =
    'timers' in timers && timers.timers instanceof Map ? [...timers.timers.values()] : [];
  const instants = all.flatMap((timer) =>
    isObject(timer) && typeof timer['callAt'] === 'number' ? [timer['callAt']] : [],
  );
  return instants.length === 0 ? undefined : Math.min(...instants);
}

/** Brings this thread's time up to the clock's, then sleeps until its next timer. */
async function flow(): Promise<void> {
  catchUp();
  // By the next turn of the event loop every promise that could resolve has resolved.
  await setImmediate();
  clearRealTimeout(sleeping);
  const next = nextTimer();
  // A standing clock moves only by jumps, and a sync follows each jump.
  if (next === undefined || shared.isFrozen()) return;
  const millis = Math.min(Math.max(next - shared.now(), 1), 2_000_000_000);
  sleeping = setRealTimeout(() => void flow(), millis);
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
  say({ type: 'synced', sync: id, nextTimer: nextTimer() });
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
      calls.get(message.call)?.(message.result);
      calls.delete(message.call);
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
  catchUp();
  handle(message);
  if (message.type !== 'sync') void flow();
});
