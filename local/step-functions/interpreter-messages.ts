import type { InvocationResult } from '../lambda/messages.ts';
import type { ExecutionIdentity, HistoryEvent, Outcome, TaskCall } from './state-machine.ts';

/** What the interpreter's thread is started with. */
export interface InterpreterBootData {
  /** The virtual clock's shared cells, see clock.ts. */
  readonly clock: SharedArrayBuffer;
  /** The state machines: ARN and definition text. */
  readonly machines: readonly (readonly [arn: string, text: string])[];
}

/** To the interpreter's thread. */
export type ToInterpreter =
  | {
      readonly type: 'start';
      readonly machine: string;
      readonly execution: ExecutionIdentity;
      readonly input: unknown;
    }
  | { readonly type: 'abort'; readonly arn: string }
  | { readonly type: 'result'; readonly call: number; readonly result: InvocationResult }
  | { readonly type: 'sync'; readonly sync: number };

/** From it. Messages keep their order: all that was said before `synced` had happened before. */
export type FromInterpreter =
  | { readonly type: 'ready' }
  | { readonly type: 'task'; readonly call: number; readonly task: TaskCall }
  | { readonly type: 'history'; readonly arn: string; readonly event: HistoryEvent }
  | { readonly type: 'closed'; readonly arn: string; readonly outcome: Outcome }
  | { readonly type: 'synced'; readonly sync: number; readonly nextTimer: number | undefined };
