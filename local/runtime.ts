import path from 'node:path';
import type { FunctionVersions } from './aws/function-versions.ts';
import type { VirtualClock } from './clock.ts';
import type { OnWriteFailed } from './disk.ts';
import { executionEvent, matchesPattern, scheduledEvent } from './event-bus.ts';
import { createLocalFunctions, type LocalFunctions } from './lambda/functions.ts';
import type { FunctionLogLine, InvocationResult } from './lambda/messages.ts';
import { poolLimitsIn } from './lambda/worker-pool.ts';
import { type LocalAws, startLocalAws } from './local-aws.ts';
import { createSchedule, type Job, type Schedule } from './schedule.ts';
import {
  type Execution,
  type Executions,
  type ExecutionStatus,
  openExecutions,
} from './step-functions/executions.ts';
import { createInterpreter, type Interpreter } from './step-functions/interpreter.ts';
import type { TaskCall } from './step-functions/state-machine.ts';
import { createStatesService } from './step-functions/states-service.ts';
import type { LocalTemplate } from './template.ts';
import { idOfArn } from './template/local-names.ts';

/** An event behind the API. `execution` is the execution's name, `error` the error's name. */
export type RuntimeEvent =
  | {
      readonly event: 'execution';
      readonly execution: string;
      readonly status: ExecutionStatus;
      readonly error?: string;
    }
  /** An invocation has ended. `cpuMillis` is the processor time that it used. */
  | { readonly event: 'invocation'; readonly functionId: string; readonly cpuMillis: number }
  | {
      readonly event: 'task';
      readonly execution: string;
      readonly state: string;
      readonly ok: boolean;
      readonly error?: string;
    };

/**
 * Everything behind the gateway: functions, state machines, schedule, and the AWS services that they call.
 */
export interface Runtime {
  readonly aws: LocalAws;
  readonly functions: LocalFunctions;
  readonly interpreter: Interpreter;
  readonly executions: Executions;
  readonly schedule: Schedule;
  readonly hasOpenExecutions: () => boolean;
  /** Resumes the open executions and starts the schedule. */
  readonly begin: () => void;
  readonly stop: () => Promise<void>;
}

export interface RuntimeOptions {
  readonly template: LocalTemplate;
  readonly folder: string;
  readonly clock: VirtualClock;
  readonly versions: FunctionVersions;
  /** How long a transaction of DynamoDB holds its items. The default is 0. */
  readonly transactionHoldMillis?: number | undefined;
  /** How far back a table can be restored. The default is 0: not at all. */
  readonly recoverMillis?: number | undefined;
  readonly memoryMegabytes?: number | undefined;
  readonly privateNetworks?: string | undefined;
  /** Of a service for others: the secret key of its functions, and where their clients upload. */
  readonly access?: { readonly secretKey: string; readonly uploadsUrl: string } | undefined;
  /** false: a function with a schedule runs only in an advance of the clock. The default is true. */
  readonly firesByItself?: boolean | undefined;
  readonly onWriteFailed: OnWriteFailed;
  readonly onLog?: ((line: FunctionLogLine) => void) | undefined;
  readonly onEvent?: ((event: RuntimeEvent) => void) | undefined;
}

const hourSeconds = 3_600;

/** Opens the folder and starts all parts. Executions and schedule begin to run only with begin(). */
export async function startRuntime({
  template,
  folder,
  clock,
  versions,
  transactionHoldMillis = 0,
  recoverMillis = 0,
  memoryMegabytes,
  privateNetworks,
  access,
  firesByItself,
  onWriteFailed,
  onLog,
  onEvent,
}: RuntimeOptions): Promise<Runtime> {
  // Parts refer to parts below them: none is called before all are made.
  const aws = await startLocalAws({
    template,
    folder,
    now: clock.now,
    transactionHoldMillis,
    recoverMillis,
    secretKey: access?.secretKey,
    onWriteFailed,
    states: (call) => states(call),
    lambda: versions.serviceFor(
      template.functions.map(({ id }) => id),
      template.aliases,
    ),
  });
  const functions = createLocalFunctions({
    functions: template.functions,
    clock,
    awsUrl: aws.url,
    ...access,
    limits: poolLimitsIn(memoryMegabytes),
    ...(privateNetworks !== undefined && { privateNetworks }),
    log: (line) => onLog?.(line),
    onUsed: (functionId, cpuMillis) => onEvent?.({ event: 'invocation', functionId, cpuMillis }),
  });
  const machines = template.stateMachines.map(({ arn, definition }) => [arn, definition] as const);
  const interpreter = createInterpreter(
    { clock: clock.shared, machines },
    {
      invokeTask: (task) => invokeTask(functions, task, onEvent),
      onHistory: (arn, event) => executions.onHistory(arn, event),
      onClosed: (arn, outcome) => executions.onClosed(arn, outcome),
    },
  );
  const executions = openExecutions({
    file: path.join(folder, 'executions.jsonl'),
    now: clock.now,
    engine: interpreter,
    onWriteFailed,
    onStatusChange: (execution) => {
      onEvent?.(statusEvent(execution));
      publish(template, functions, execution);
    },
  });
  const states = createStatesService(executions, new Map(machines), interpreter.sendToTask);
  const onError = (job: string, error: unknown): void => console.error(`${job}:`, error);
  const schedule = createSchedule(jobsOf(template, functions, aws), clock, onError, firesByItself);

  return {
    aws,
    functions,
    interpreter,
    executions,
    schedule,
    hasOpenExecutions: () => executions.list().some(({ status }) => status === 'RUNNING'),
    begin: () => {
      executions.resume();
      schedule.start();
    },
    stop: async () => {
      schedule.pause();
      // First the state machines, or the tasks that the end of the workers breaks off would fail them.
      await interpreter.stop();
      await functions.stop();
      // Calls that are still under way may start and stop executions.
      await aws.close();
      executions.close();
    },
  };
}

function statusEvent({ name, status, error }: Execution): RuntimeEvent {
  return { event: 'execution', execution: name, status, ...(error === undefined ? {} : { error }) };
}

async function invokeTask(
  functions: LocalFunctions,
  { resource, input, state, execution }: TaskCall,
  onEvent: RuntimeOptions['onEvent'],
): Promise<InvocationResult> {
  const result = await functions.invoke(idOfArn('function', resource) ?? resource, input, 'task');
  onEvent?.({
    event: 'task',
    execution: execution.name,
    state,
    ok: result.ok,
    ...(result.ok ? {} : { error: result.error.errorType }),
  });
  return result;
}

/** Sends the end of an execution to the functions of all event rules that match it. */
function publish({ rules }: LocalTemplate, functions: LocalFunctions, execution: Execution): void {
  const event = executionEvent(execution);
  for (const { functionId, pattern } of rules)
    if (matchesPattern(pattern, event)) void functions.invoke(functionId, event, 'event');
}

function jobsOf({ schedules }: LocalTemplate, functions: LocalFunctions, aws: LocalAws): Job[] {
  const invocations = schedules.map(({ functionId, everySeconds, input }): Job => ({
    name: functionId,
    everySeconds,
    run: (at) =>
      functions.invoke(functionId, input === undefined ? scheduledEvent(at) : JSON.parse(input), 'schedule'),
  }));
  const expiry = { name: 'expiry', everySeconds: hourSeconds, run: () => aws.expire(), isAwaited: true };
  return [...invocations, expiry];
}
