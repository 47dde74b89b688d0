import { ExecutionAbortedError, ExecutionTimeoutError, StateMachine } from 'aws-local-stepfunctions';
import { isObject } from '../json.ts';
import type { InvocationResult } from '../lambda/messages.ts';
import {
  lambdaInvoke,
  readDefinition,
  type TaskDefinition,
  waitForToken,
  type WaitingLimits,
} from './definition.ts';
import type { TaskEnd, WaitingTask } from './task-tokens.ts';

/** Runs one attempt. Rejects with States.Timeout after a time limit. 'closed': the execution ended first. */
async function runWaitingAttempt(
  task: WaitingTask,
  { timeoutSeconds, heartbeatSeconds }: WaitingLimits,
  invoke: () => Promise<unknown>,
): Promise<TaskEnd | 'closed'> {
  try {
    return await withinSeconds(timeoutSeconds, async () => {
      const invoked = invoke();
      const broken = invoked.then(() => new Promise<never>(() => undefined));
      for (;;) {
        const wait = async (): Promise<TaskEnd | 'closed' | 'heartbeat'> =>
          Promise.race([task.ended, task.heartbeat(), broken]);
        const event =
          heartbeatSeconds === undefined ? await wait() : await withinSeconds(heartbeatSeconds, wait);
        if (event === 'heartbeat') continue;
        await invoked;
        return event;
      }
    });
  } finally {
    task.close();
  }
}

/** Runs work as the only task of a machine, as only the library itself can throw its unexported time-out. */
async function withinSeconds<Value>(seconds: number, work: () => Promise<Value>): Promise<Value> {
  let value: Promise<Value> | undefined;
  const { result } = timerOf(seconds).run(null, {
    overrides: {
      taskResourceLocalHandlers: {
        Wait: async () => {
          value = work();
          await value;
          return null;
        },
      },
    },
  });
  try {
    await result;
  } catch (error) {
    throw error instanceof Error ? (error.cause ?? error) : error;
  }
  if (value === undefined) throw new Error('the work did not begin');
  return value;
}

const timers = new Map<number, StateMachine>();

function timerOf(seconds: number): StateMachine {
  const known = timers.get(seconds);
  if (known !== undefined) return known;
  const made = new StateMachine(
    {
      StartAt: 'Wait',
      States: { Wait: { Type: 'Task', Resource: 'wait', TimeoutSeconds: seconds, End: true } },
    },
    { validationOptions: { noValidate: true } },
  );
  timers.set(seconds, made);
  return made;
}

export interface TaskCall {
  readonly execution: ExecutionIdentity;
  readonly state: string;
  readonly resource: string;
  readonly input: unknown;
}

/** One event of an execution's history. `at` is milliseconds since 1970. */
export interface HistoryEvent {
  readonly type: string;
  readonly state?: string;
  readonly at: number;
  /** The error's name, for a step that failed. */
  readonly error?: string;
  /** The names in the entry of Retry or Catch that took the error. */
  readonly entry?: readonly string[];
  /** What a task that waits for its token gave to its function. */
  readonly parameters?: unknown;
}

export type Outcome =
  | { readonly status: 'SUCCEEDED'; readonly output: unknown }
  | { readonly status: 'FAILED'; readonly error: string; readonly cause: string }
  | { readonly status: 'TIMED_OUT' }
  | { readonly status: 'ABORTED' };

/** The name and ARN of an execution, as the context object ($$) has them. */
export interface ExecutionIdentity {
  readonly name: string;
  readonly arn: string;
}

export interface RunningExecution {
  /** Never rejects. */
  readonly outcome: Promise<Outcome>;
  readonly abort: () => void;
}

/** A state machine that is ready to start. To start an execution takes almost no time. */
export interface LocalStateMachine {
  readonly start: (execution: ExecutionIdentity, input: unknown) => RunningExecution;
}

export interface StateMachineOptions {
  readonly invokeTask: (call: TaskCall) => Promise<InvocationResult>;
  /** Makes the token for an attempt of a task that waits for it. */
  readonly openTask: (executionArn: string) => WaitingTask;
  readonly onEvent?: (execution: ExecutionIdentity, event: HistoryEvent) => void;
  /** Whether the text is checked as a whole. The check takes 200 ms of processor time. The default is true. */
  readonly validates?: boolean;
}

/** Builds a state machine on the global setTimeout and Date. Throws for a text that cannot run locally. */
export function createStateMachine(
  text: string,
  { invokeTask, openTask, onEvent, validates = true }: StateMachineOptions,
): LocalStateMachine {
  const { definition, tasks } = readDefinition(text);
  const machine = new StateMachine(definition, { validationOptions: { noValidate: !validates } });
  return {
    start: (execution, input) => {
      const onTask = (event: HistoryEvent): void => onEvent?.(execution, event);
      const attempts = createAttempts(execution, { invokeTask, openTask, onTask });
      const handlers: Handlers = {};
      for (const [state, task] of tasks)
        handlers[state] = async (taskInput) => attempts.run(state, task, taskInput);
      const run = machine.run(input as JsonValue, {
        overrides: { taskResourceLocalHandlers: handlers },
        context: { Execution: { Id: execution.arn, Name: execution.name }, Task: attempts.context },
      });
      const told = tell(run.eventLogs, (event) => onEvent?.(execution, event));
      return {
        // The outcome resolves only after the history is complete.
        outcome: outcomeOf(run.result).then(async (outcome) => {
          attempts.end();
          await told;
          return outcome;
        }),
        abort: () => {
          attempts.end();
          run.abort();
        },
      };
    },
  };
}

interface Attempts {
  /** The member Task of the context object. Who reads the token makes the one of the next attempt. */
  readonly context: { readonly Token: string };
  readonly run: (state: string, task: TaskDefinition, input: unknown) => Promise<JsonValue>;
  /** Closes every open token. No task begins any more, although the library retries after an abort. */
  readonly end: () => void;
}

function createAttempts(
  execution: ExecutionIdentity,
  {
    invokeTask,
    openTask,
    onTask,
  }: Pick<StateMachineOptions, 'invokeTask' | 'openTask'> & {
    /** Called for the attempts of tasks that wait. */
    readonly onTask: (event: HistoryEvent) => void;
  },
): Attempts {
  const open = new Set<WaitingTask>();
  let next: WaitingTask | undefined;
  let isOver = false;

  async function runWaiting(waits: WaitingLimits, call: TaskCall): Promise<JsonValue> {
    const task = next ?? openTask(execution.arn);
    next = undefined;
    open.add(task);
    const tell = (type: string, more: Partial<HistoryEvent> = {}): void =>
      onTask({ type, state: call.state, at: Date.now(), ...more });
    tell('TaskScheduled', { parameters: { FunctionName: call.resource, Payload: call.input } });
    try {
      const end = await runWaitingAttempt(task, waits, async () => {
        const payload = payloadOf(await invokeTask(call));
        tell('TaskSubmitted');
        return payload;
      });
      if (end === 'closed') return await never();
      const output = outputOf(end);
      tell('TaskSucceeded');
      return output;
    } catch (error) {
      const name = error instanceof Error ? error.name : String(error);
      tell(name === 'States.Timeout' ? 'TaskTimedOut' : 'TaskFailed', { error: name });
      throw error;
    } finally {
      open.delete(task);
    }
  }

  return {
    context: {
      get Token() {
        next ??= openTask(execution.arn);
        return next.token;
      },
    },
    run: async (state, { resource, waits }, input) => {
      if (isOver) return never();
      if (resource !== lambdaInvoke && resource !== waitForToken)
        return payloadOf(await invokeTask({ execution, state, resource, input }));
      const { functionArn, payload } = invocationOf(input, state);
      const call = { execution, state, resource: functionArn, input: payload };
      if (waits !== undefined) return runWaiting(waits, call);
      return invokeAnswer(payloadOf(await invokeTask(call)));
    },
    end: () => {
      isOver = true;
      next?.close();
      for (const task of open) task.close();
    },
  };
}

async function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** The output of SendTaskSuccess. Throws what SendTaskFailure says. */
function outputOf(end: TaskEnd): JsonValue {
  if (end.kind === 'success') return end.output as JsonValue;
  const failure = new Error(end.cause);
  failure.name = end.error;
  throw failure;
}

/** What the evaluated Parameters of lambda:invoke ask for. Without a Payload, Lambda gets an empty object. */
function invocationOf(input: unknown, state: string): { functionArn: string; payload: unknown } {
  const { FunctionName: functionArn, Payload: payload = {} } = isObject(input) ? input : {};
  if (typeof functionArn !== 'string') throw new Error(`${state}: the FunctionName is not a text`);
  return { functionArn, payload };
}

/** The result of the optimized integration, as far as it is the same for each call. */
function invokeAnswer(payload: JsonValue): JsonValue {
  return { ExecutedVersion: '$LATEST', Payload: payload, StatusCode: 200 };
}

type JsonValue = Parameters<StateMachine['run']>[0];
type RunOptions = NonNullable<Parameters<StateMachine['run']>[1]>;
type Handlers = NonNullable<NonNullable<RunOptions['overrides']>['taskResourceLocalHandlers']>;

/** Returns the payload, or throws errorType with the whole error as JSON for its cause. */
function payloadOf(result: InvocationResult): JsonValue {
  if (result.ok) return result.payload as JsonValue;
  const failure = new Error(JSON.stringify(result.error));
  failure.name = result.error.errorType;
  throw failure;
}

async function outcomeOf(result: Promise<unknown>): Promise<Outcome> {
  try {
    return { status: 'SUCCEEDED', output: await result };
  } catch (error) {
    if (error instanceof ExecutionTimeoutError) return { status: 'TIMED_OUT' };
    if (error instanceof ExecutionAbortedError) return { status: 'ABORTED' };
    const { name, message } = rootOf(error);
    return { status: 'FAILED', error: name, cause: message };
  }
}

/** The library wraps the error of a state in an error of its own. */
function rootOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? error.cause : error;
}

type EventLogs = ReturnType<StateMachine['run']>['eventLogs'];

async function tell(events: EventLogs, listen: (event: HistoryEvent) => void): Promise<void> {
  for await (const event of events) {
    listen({
      type: event.type,
      at: event.timestamp,
      ...('state' in event ? { state: event.state.name } : {}),
      ...('Error' in event ? { error: event.Error } : {}),
      ...('retry' in event ? { entry: event.retry.retrier.ErrorEquals } : {}),
      ...('catch' in event ? { entry: event.catch.catcher.ErrorEquals } : {}),
    });
  }
}
