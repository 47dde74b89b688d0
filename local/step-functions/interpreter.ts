import { Worker } from 'node:worker_threads';
import type { InvocationResult } from '../lambda/messages.ts';
import { readDefinition } from './definition.ts';
import type { ExecutionIdentity, HistoryEvent, Outcome, TaskCall } from './state-machine.ts';
import type { TaskMessage } from './task-tokens.ts';

export interface InterpreterListener {
  readonly invokeTask: (task: TaskCall) => Promise<InvocationResult>;
  readonly onHistory: (executionArn: string, event: HistoryEvent) => void;
  readonly onClosed: (executionArn: string, outcome: Outcome) => void;
}

/** The state machines of the template. They run in a thread whose timers follow the virtual clock. */
export interface Interpreter {
  readonly start: (machineArn: string, execution: ExecutionIdentity, input: unknown) => void;
  readonly abort: (executionArn: string) => void;
  /** Sends the message to the task of this token. False when no task waits for it any more. */
  readonly sendToTask: (token: string, message: TaskMessage) => Promise<boolean>;
  /** Lets the thread do all it can at the clock's time. Resolves with the instant of its next timer. */
  readonly sync: () => Promise<number | undefined>;
  readonly stop: () => Promise<void>;
}

const threadModule = new URL('./interpreter-thread.ts', import.meta.url);

export function createInterpreter(boot: InterpreterBootData, listener: InterpreterListener): Interpreter {
  for (const [, text] of boot.machines) readDefinition(text);
  const syncs = new Map<number, (nextTimer: number | undefined) => void>();
  const sent = new Map<number, (isOpen: boolean) => void>();
  let thread: Worker | undefined;
  let lastSync = 0;
  let lastSent = 0;
  let stopped = false;

  async function run(call: number, task: TaskCall): Promise<void> {
    const result = await listener.invokeTask(task);
    tell({ type: 'result', call, result });
  }
  function hear(message: FromInterpreter): void {
    switch (message.type) {
      case 'task':
        void run(message.call, message.task);
        break;
      case 'history':
        listener.onHistory(message.arn, message.event);
        break;
      case 'closed':
        listener.onClosed(message.arn, message.outcome);
        break;
      case 'token_answer':
        sent.get(message.call)?.(message.isOpen);
        sent.delete(message.call);
        break;
      case 'synced':
        syncs.get(message.sync)?.(message.nextTimer);
        syncs.delete(message.sync);
    }
  }
  function startThread(): Worker {
    const worker = new Worker(threadModule, {
      workerData: boot,
      execArgv: [],
      name: 'interpreter',
      // A small young generation keeps the thread small.
      resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 1_024 },
    });
    worker.on('message', hear);
    worker.on('exit', () => {
      for (const resolve of syncs.values()) resolve(undefined);
      syncs.clear();
      for (const resolve of sent.values()) resolve(false);
      sent.clear();
      // Without the interpreter no execution would ever finish, so its end and its errors end the service.
      if (!stopped) throw new Error('the interpreter of the state machines ended');
    });
    return worker;
  }
  function tell(message: ToInterpreter): void {
    if (stopped) return;
    thread ??= startThread();
    thread.postMessage(message);
  }

  return {
    start: (machine, execution, input) => tell({ type: 'start', machine, execution, input }),
    abort: (arn) => tell({ type: 'abort', arn }),
    sendToTask: (token, message) => {
      // The tokens of an earlier process are closed, and without a thread nothing runs.
      if (stopped || thread === undefined) return Promise.resolve(false);
      const call = ++lastSent;
      return new Promise((resolve) => {
        sent.set(call, resolve);
        tell({ type: 'token', call, token, message });
      });
    },
    sync: () => {
      if (stopped || thread === undefined) return Promise.resolve(undefined);
      const sync = ++lastSync;
      return new Promise((resolve) => {
        syncs.set(sync, resolve);
        tell({ type: 'sync', sync });
      });
    },
    stop: async () => {
      stopped = true;
      await thread?.terminate();
    },
  };
}

export interface InterpreterBootData {
  /** The virtual clock's shared memory. */
  readonly clock: SharedArrayBuffer;
  /** The state machines, each as its ARN and the text of its definition. */
  readonly machines: readonly (readonly [arn: string, text: string])[];
}

export type ToInterpreter =
  | {
      readonly type: 'start';
      readonly machine: string;
      readonly execution: ExecutionIdentity;
      readonly input: unknown;
    }
  | { readonly type: 'abort'; readonly arn: string }
  | { readonly type: 'result'; readonly call: number; readonly result: InvocationResult }
  | { readonly type: 'token'; readonly call: number; readonly token: string; readonly message: TaskMessage }
  | { readonly type: 'sync'; readonly sync: number };

/** A message from the thread. The events of every message before `synced` happened before the sync. */
export type FromInterpreter =
  | { readonly type: 'task'; readonly call: number; readonly task: TaskCall }
  | { readonly type: 'history'; readonly arn: string; readonly event: HistoryEvent }
  | { readonly type: 'closed'; readonly arn: string; readonly outcome: Outcome }
  | { readonly type: 'token_answer'; readonly call: number; readonly isOpen: boolean }
  | { readonly type: 'synced'; readonly sync: number; readonly nextTimer: number | undefined };
