import type { InvocationResult } from '../lambda/messages.ts';
import type { ExecutionIdentity, HistoryEvent, Outcome, TaskCall } from './state-machine.ts';
import type { TaskMessage } from './task-tokens.ts';

/** The data with which the interpreter's thread starts. */
export interface InterpreterBootData {
  /** The virtual clock's shared memory, see shared-clock.ts. */
  readonly clock: SharedArrayBuffer;
  /** The state machines, each as its ARN and the text of its definition. */
  readonly machines: readonly (readonly [arn: string, text: string])[];
}

/** A message to the interpreter's thread. */
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

/**
 * A message from the interpreter's thread. Messages keep their order: everything that a message before
 * `synced` tells has happened before the sync.
 */
export type FromInterpreter =
  | { readonly type: 'task'; readonly call: number; readonly task: TaskCall }
  | { readonly type: 'history'; readonly arn: string; readonly event: HistoryEvent }
  | { readonly type: 'closed'; readonly arn: string; readonly outcome: Outcome }
  | { readonly type: 'token_answer'; readonly call: number; readonly isOpen: boolean }
  | { readonly type: 'synced'; readonly sync: number; readonly nextTimer: number | undefined };
