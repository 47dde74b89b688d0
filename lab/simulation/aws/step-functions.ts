/** Step Functions for the simulation: it runs the real definition of the state machine on virtual time. */
import {
  callbackDefinition,
  creationDefinition,
  noticeDefinition,
} from '../../../lib/machine-definitions.ts';
import { AwsError } from '../../../local/aws/aws-error.ts';
import type { InvocationResult } from '../../../local/lambda/messages.ts';
import {
  createStateMachine,
  type LocalStateMachine,
  type Outcome,
  type RunningExecution,
  type TaskCall,
} from '../../../local/step-functions/state-machine.ts';
import {
  isSendTask,
  readSendTask,
  type SendTaskOperation,
  taskDoesNotExist,
  taskTimedOut,
} from '../../../local/step-functions/states-service.ts';
import { createTaskTokens, type TaskTokens } from '../../../local/step-functions/task-tokens.ts';
import type { World } from '../world/simulated-world.ts';
import type { Release } from './lambda-environments.ts';
import type { StepFunctionsLimits } from './quotas.ts';
import type { Input } from './table-request.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

const machineArnStart = 'arn:aws:states:us-east-1:000000000000:stateMachine:';
/** The ARNs of the state machines. */
export const machineArns = {
  plain: `${machineArnStart}creation`,
  callback: `${machineArnStart}callback`,
  notices: `${machineArnStart}notices`,
} as const;

export interface Execution {
  readonly name: string;
  readonly arn: string;
  readonly machineArn: string;
  readonly input: string;
  readonly startedAt: number;
  /** The release with which it began. Its Tasks run this release, also after a redrive. */
  readonly release: Release;
  status: 'RUNNING' | Outcome['status'];
  run?: RunningExecution;
  /** Stands for the present run. A run invokes its first Task before `run` is known. */
  runKey?: object;
}

/** One call of a Task state. */
export interface SimulatedTask {
  readonly state: string;
  readonly functionName: string;
  readonly input: unknown;
  /** The JSON text with which the execution was started. */
  readonly startedWith: string;
  /** The release with which the execution began. */
  readonly release: Release;
  /** Stands for the run. A redrive makes another run of the same execution. */
  readonly run: object | undefined;
}

export interface StepFunctionsOptions {
  readonly now: () => number;
  /** The buckets of tokens of its API. */
  readonly limits: Pick<StepFunctionsLimits, 'startExecution' | 'sendTask' | 'describeExecution'>;
  /** Called when an empty bucket refused a call. */
  readonly onThrottled?: (operation: string) => void;
  /** Milliseconds that an execution waits before its next state. */
  readonly transitionWait?: () => number;
  /** Whether executions are forgotten once they have ended. */
  readonly forgets?: boolean;
  /** The release whose definition starts executions at present. */
  readonly release: () => Release;
  /** Runs work that goes on after its caller has ended. */
  readonly outside: <Result>(work: () => Result) => Result;
  readonly invokeTask: (task: SimulatedTask) => Promise<InvocationResult>;
  /** Receives each text in the history of an execution. */
  readonly onText: (text: string) => void;
  readonly onClosed: (execution: Execution) => void;
}

/** Building a machine takes 50 ms, so the same machines serve all worlds, one after the other. */
const built = new Map<string, LocalStateMachine>();
let invokeCurrent: (call: TaskCall) => Promise<InvocationResult> = () =>
  Promise.reject(new Error('no world runs'));
let noteText: (text: string) => void = () => undefined;
let tokensCurrent: TaskTokens | undefined;

function machineOf(arn: string): LocalStateMachine {
  const known = built.get(arn);
  if (known) return known;
  const definition = definitions()[arn];
  if (definition === undefined) throw new AwsError('StateMachineDoesNotExist', `no state machine ${arn}`);
  const machine = createStateMachine(definition, {
    invokeTask: (call) => invokeCurrent(call),
    // A test of the stack validates the definitions, so that the first run of a process need not.
    validates: false,
    openTask: (executionArn) => {
      if (!tokensCurrent) throw new Error('no world runs');
      return tokensCurrent.open(executionArn);
    },
    onEvent: (_execution, event) => {
      noteText(JSON.stringify(event));
    },
  });
  built.set(arn, machine);
  return machine;
}

const functionArnStart = 'arn:aws:lambda:us-east-1:000000000000:function:';

/** The definitions by the ARNs of their machines. */
function definitions(): Readonly<Record<string, string>> {
  const plain = creationDefinition().replace(
    /\$\{(\w+)Arn\}/g,
    (_, name: string) => `${functionArnStart}${name}`,
  );
  return {
    [machineArns.plain]: plain,
    [machineArns.callback]: callbackDefinition(plain),
    [machineArns.notices]: noticeDefinition(plain),
  };
}

/** Creates the executions of one world. */
export function createStepFunctions({
  now,
  limits,
  onThrottled,
  transitionWait,
  forgets = false,
  release,
  outside,
  invokeTask,
  onText,
  onClosed,
}: StepFunctionsOptions) {
  const executions = new Map<string, Execution>();
  let tokens = 0;
  const taskTokens = createTaskTokens(() => String((tokens += 1)));
  tokensCurrent = taskTokens;
  noteText = onText;
  invokeCurrent = async ({ execution, state, resource, input }) => {
    if (!forgets) onText(JSON.stringify(input));
    const one = executions.get(execution.arn);
    const wait = transitionWait?.() ?? 0;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const result = await invokeTask({
      state,
      functionName: resource.replace(functionArnStart, ''),
      input,
      startedWith: one?.input ?? '',
      release: one?.release ?? release(),
      run: one?.runKey,
    });
    if (!forgets) onText(JSON.stringify(result));
    return result;
  };

  function run(execution: Execution): void {
    outside(() => {
      runOutside(execution);
    });
  }

  function runOutside(execution: Execution): void {
    execution.status = 'RUNNING';
    execution.runKey = {};
    const { name, arn, machineArn, input } = execution;
    const one = machineOf(machineArn).start({ name, arn }, JSON.parse(input));
    execution.run = one;
    void one.outcome.then((outcome) => {
      // A redrive has replaced this run, so its outcome no longer counts.
      if (execution.run !== one) return;
      execution.status = outcome.status;
      if (forgets) executions.delete(arn);
      else onText(JSON.stringify(outcome));
      onClosed(execution);
    });
  }

  const starts = createTokenBucket(now, limits.startExecution);
  const questions = createTokenBucket(now, limits.describeExecution);
  /** Each operation has a bucket of its own. */
  const sends = new Map<string, TokenBucket>();

  function takeToken(bucket: TokenBucket, operation: string): void {
    if (bucket.take()) return;
    onThrottled?.(operation);
    throw new AwsError('ThrottlingException', 'Rate exceeded');
  }

  function sendsOf(operation: string): TokenBucket {
    const bucket = sends.get(operation) ?? createTokenBucket(now, limits.sendTask);
    sends.set(operation, bucket);
    return bucket;
  }

  function start(input: Input): object {
    takeToken(starts, 'StartExecution');
    const name = String(input['name']);
    const text = String(input['input']);
    const machineArn = String(input['stateMachineArn']);
    const arn = `${machineArn.replace(':stateMachine:', ':execution:')}:${name}`;
    const known = executions.get(arn);
    if (known && (known.status !== 'RUNNING' || known.input !== text))
      throw new AwsError('ExecutionAlreadyExists', `Execution Already Exists: '${arn}'`);
    if (!known) {
      const execution: Execution = {
        name,
        arn,
        machineArn,
        input: text,
        startedAt: now(),
        release: release(),
        status: 'RUNNING',
      };
      executions.set(arn, execution);
      onText(text);
      run(execution);
    }
    return { executionArn: arn, startDate: (executions.get(arn)?.startedAt ?? now()) / 1000 };
  }

  function sendTask(operation: SendTaskOperation, input: Input): object {
    takeToken(sendsOf(operation), operation);
    const { token, executionArn, message } = readSendTask(operation, input);
    if (!executions.has(executionArn)) throw taskDoesNotExist();
    if (!taskTokens.send(token, message)) throw taskTimedOut();
    return {};
  }

  return {
    executions,
    running: (): Execution[] => [...executions.values()].filter(({ status }) => status === 'RUNNING'),
    abort: (execution: Execution) => execution.run?.abort(),
    /** Runs a closed execution again, as an operator's redrive does. */
    redrive: run,
    perform: (operation: string, input: Input): object => {
      if (operation === 'StartExecution') return start(input);
      if (isSendTask(operation)) return sendTask(operation, input);
      if (operation !== 'DescribeExecution') throw new Error(`the simulation has no ${operation}`);
      takeToken(questions, operation);
      const execution = executions.get(String(input['executionArn']));
      if (!execution) throw new AwsError('ExecutionDoesNotExist', 'Execution Does Not Exist');
      const { arn, machineArn, name, status, startedAt } = execution;
      return { executionArn: arn, stateMachineArn: machineArn, name, status, startDate: startedAt / 1000 };
    },
  };
}

// The invocation of a function by a Task of the state machine, with the faults between Step Functions and
// Lambda.

/** `run` invokes the function of the state. */
export async function invokeTask(
  world: World,
  state: string,
  run: () => Promise<InvocationResult>,
): Promise<InvocationResult> {
  const asked = world.call({ service: 'task', operation: 'invoke', target: state }, (fault) => fault);
  const fault = await asked.catch((error: unknown) => {
    if (error instanceof AwsError) return 'error' as const;
    throw error;
  });
  switch (fault) {
    case 'error':
      return failed('Lambda.ServiceException');
    case 'no_room':
      return failed('Lambda.TooManyRequestsException');
    case 'twice':
      return Promise.race([run(), run()]);
    case 'unheard':
      void run();
      return failed('Lambda.Unknown');
    default:
      return run();
  }
}

function failed(errorType: string): InvocationResult {
  return { ok: false, error: { errorType, errorMessage: 'simulated' } };
}
