import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import { isObject, type JsonObject } from '../json.ts';

export interface Definition {
  readonly definition: StateMachineDefinition;
  /** The Task states, by their names. */
  readonly tasks: ReadonlyMap<string, TaskDefinition>;
}

export interface TaskDefinition {
  /** The ARN of a function, or `lambdaInvoke` or `waitForToken`, whose input names the function. */
  readonly resource: string;
  /** Only of a task that waits for its token. */
  readonly waits?: WaitingLimits;
}

/** A JavaScript timer takes at most 2^31-1 ms (24.8 days). With a longer time it fires at once. */
const longestTimerSeconds = 2_147_483;
/** The resource of a Task whose Parameters name the function. */
export const lambdaInvoke = 'arn:aws:states:::lambda:invoke';
/** The same, and the Task waits until it is ended with its token. */
export const waitForToken = `${lambdaInvoke}.waitForTaskToken`;
const tokenPath = '$$.Task.Token';
const lambdaArnPattern = /^arn:aws:lambda:[a-z0-9-]+:\d{12}:function:[\w-]+(:[\w$-]+)?$/;

/** Adapts a definition to aws-local-stepfunctions 3.0.0. Throws an Error that names a state it cannot run. */
export function readDefinition(text: string): Definition {
  const definition = asObject(JSON.parse(text), 'the state machine');
  const tasks = new Map<string, TaskDefinition>();
  adaptMachine(definition, 'the state machine', tasks);
  return { definition: definition as unknown as StateMachineDefinition, tasks };
}

function adaptMachine(machine: JsonObject, name: string, tasks: Map<string, TaskDefinition>): void {
  refuseJsonata(machine, name);
  capTimeout(machine);
  for (const [stateName, state] of Object.entries(asObject(machine['States'], name))) {
    adaptState(asObject(state, stateName), stateName, tasks);
  }
}

function adaptState(state: JsonObject, name: string, tasks: Map<string, TaskDefinition>): void {
  refuseJsonata(state, name);
  refuseUnknownContext(state, name);
  if (state['Assign'] !== undefined) throw new Error(`${name}: variables (Assign) do not run locally`);
  // Step Functions replaces the whole input for "$", and the library would store a member of that name.
  for (const part of [state, ...asArray(state['Catch'])])
    if (part['ResultPath'] === '$') delete part['ResultPath'];
  if (state['Type'] === 'Task') adaptTask(state, name, tasks);
  if (state['Type'] === 'Wait' && Number(state['Seconds'] ?? 0) > longestTimerSeconds)
    throw new Error(`${name}: waits longer than ${longestTimerSeconds} s do not run locally`);
  const nested = [...asArray(state['Branches']), state['ItemProcessor'], state['Iterator']];
  for (const machine of nested) if (machine !== undefined) adaptMachine(asObject(machine, name), name, tasks);
}

function adaptTask(state: JsonObject, name: string, tasks: Map<string, TaskDefinition>): void {
  const resource = state['Resource'];
  const isInvoke = resource === lambdaInvoke || resource === waitForToken;
  if (typeof resource !== 'string' || (!isInvoke && !lambdaArnPattern.test(resource)))
    throw new Error(
      `${name}: only Lambda ARNs, ${lambdaInvoke} and ${waitForToken} run locally, not ${String(resource)}`,
    );
  if (isInvoke) checkInvoke(state, name);
  // Without a TimeoutSeconds AWS waits for 99,999,999 s, but the library waits for 60 s.
  if (state['TimeoutSecondsPath'] === undefined) state['TimeoutSeconds'] ??= longestTimerSeconds;
  capTimeout(state);
  const task = resource === waitForToken ? { resource, waits: adaptWaiting(state, name) } : { resource };
  if (['HeartbeatSeconds', 'HeartbeatSecondsPath'].some((member) => state[member] !== undefined))
    throw new Error(`${name}: a heartbeat without ${waitForToken} does not run locally`);
  if (tasks.has(name) && JSON.stringify(tasks.get(name)) !== JSON.stringify(task))
    throw new Error(`${name}: two Tasks of one name with different functions do not run locally`);
  tasks.set(name, task);
}

/** Takes the time limits from the library, which would not close the token when a limit has passed. */
function adaptWaiting(state: JsonObject, name: string): WaitingLimits {
  const { TimeoutSeconds: timeoutSeconds, HeartbeatSeconds: heartbeatSeconds } = state;
  for (const path of ['TimeoutSecondsPath', 'HeartbeatSecondsPath'])
    if (state[path] !== undefined)
      throw new Error(`${name}: ${path} of ${waitForToken} does not run locally`);
  if (!JSON.stringify(state['Parameters']).includes(`"${tokenPath}"`))
    throw new Error(`${name}: nobody can end the Task, because its Parameters do not have ${tokenPath}`);
  if (heartbeatSeconds !== undefined && Number(heartbeatSeconds) >= Number(timeoutSeconds))
    throw new Error(`${name}: HeartbeatSeconds must be less than TimeoutSeconds`);
  state['TimeoutSeconds'] = longestTimerSeconds;
  delete state['HeartbeatSeconds'];
  return {
    timeoutSeconds: Number(timeoutSeconds),
    heartbeatSeconds: heartbeatSeconds === undefined ? undefined : Number(heartbeatSeconds),
  };
}

/** Refuses what the optimized integration can do and the stand-in cannot, such as an asynchronous call. */
function checkInvoke(state: JsonObject, name: string): void {
  const resource = String(state['Resource']);
  const members = Object.keys(asObject(state['Parameters'], `Parameters of ${name}`));
  const served = ['FunctionName', 'Payload'].flatMap((member) => [member, `${member}.$`]);
  const unserved = members.find((member) => !served.includes(member));
  if (unserved !== undefined) throw new Error(`${name}: ${unserved} of ${resource} does not run locally`);
  if (!members.some((member) => member.startsWith('FunctionName')))
    throw new Error(`${name}: the Parameters of ${resource} name no function`);
}

function capTimeout(part: JsonObject): void {
  const seconds = part['TimeoutSeconds'];
  if (typeof seconds === 'number') part['TimeoutSeconds'] = Math.min(seconds, longestTimerSeconds);
}

function refuseJsonata(part: JsonObject, name: string): void {
  if (part['QueryLanguage'] === 'JSONata') throw new Error(`${name}: JSONata does not run locally`);
}

/** Refuses parts of the context object that neither the library nor state-machine.ts knows. */
function refuseUnknownContext(state: JsonObject, name: string): void {
  const text = JSON.stringify(
    state['Resource'] === waitForToken ? { ...state, Parameters: withoutToken(state['Parameters']) } : state,
  );
  const path = /"(\$\$\.(State|Task)\b[^"]*)"/.exec(text)?.[1];
  if (path !== undefined) throw new Error(`${name}: ${path} does not run locally`);
}

function withoutToken(parameters: unknown): string {
  return JSON.stringify(parameters ?? null).replaceAll(`"${tokenPath}"`, '""');
}

function asObject(value: unknown, name: string): JsonObject {
  if (!isObject(value)) throw new Error(`${name} is not an object`);
  return value;
}

function asArray(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

// One attempt of a task that waits for its token: the invocation of the function, then the wait.

export interface WaitingLimits {
  /** The whole attempt. */
  readonly timeoutSeconds: number;
  /** From the start of the attempt, or a heartbeat, to the next: the strict reading of what AWS documents. */
  readonly heartbeatSeconds: number | undefined;
}
