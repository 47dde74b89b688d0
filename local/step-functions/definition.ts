import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import { isObject } from '../json-object.ts';
import type { JsonObject } from '../json-object.ts';

/** A state machine's definition, adapted to the interpreter. */
export interface Definition {
  readonly definition: StateMachineDefinition;
  /**
   * The resource of each Task state, by the state's name: the ARN of a function, or `lambdaInvoke`, whose input
   * names the function.
   */
  readonly resources: ReadonlyMap<string, string>;
}

/** A JavaScript timer takes at most 2^31-1 ms (24.8 days). With a longer time it fires at once. */
const longestTimerSeconds = 2_147_483;
/** The resource of a Task whose Parameters name the function. */
export const lambdaInvoke = 'arn:aws:states:::lambda:invoke';
const lambdaArnPattern = /^arn:aws:lambda:[a-z0-9-]+:\d{12}:function:[\w-]+(:[\w$-]+)?$/;

/**
 * Reads a definition and adapts it where aws-local-stepfunctions 3.0.0 and Step Functions differ. A
 * difference that has no workaround is refused here, so that a run never ignores it silently. Throws an Error
 * that names the state.
 */
export function readDefinition(text: string): Definition {
  const definition = asObject(JSON.parse(text), 'the state machine');
  const resources = new Map<string, string>();
  adaptMachine(definition, 'the state machine', resources);
  return { definition: definition as unknown as StateMachineDefinition, resources };
}

function adaptMachine(machine: JsonObject, name: string, resources: Map<string, string>): void {
  refuseJsonata(machine, name);
  capTimeout(machine);
  for (const [stateName, state] of Object.entries(asObject(machine['States'], name))) {
    adaptState(asObject(state, stateName), stateName, resources);
  }
}

function adaptState(state: JsonObject, name: string, resources: Map<string, string>): void {
  refuseJsonata(state, name);
  refuseUnknownContext(state, name);
  if (state['Assign'] !== undefined) throw new Error(`${name}: variables (Assign) do not run locally`);
  // Step Functions replaces the whole input for "$". The library would store the result under a member named
  // "$".
  for (const part of [state, ...asArray(state['Catch'])])
    if (part['ResultPath'] === '$') delete part['ResultPath'];
  if (state['Type'] === 'Task') adaptTask(state, name, resources);
  if (state['Type'] === 'Wait' && Number(state['Seconds'] ?? 0) > longestTimerSeconds)
    throw new Error(`${name}: waits longer than ${longestTimerSeconds} s do not run locally`);
  const nested = [...asArray(state['Branches']), state['ItemProcessor'], state['Iterator']];
  for (const machine of nested)
    if (machine !== undefined) adaptMachine(asObject(machine, name), name, resources);
}

function adaptTask(state: JsonObject, name: string, resources: Map<string, string>): void {
  const resource = state['Resource'];
  if (typeof resource !== 'string' || (resource !== lambdaInvoke && !lambdaArnPattern.test(resource)))
    throw new Error(`${name}: only Lambda ARNs and ${lambdaInvoke} run locally, not ${String(resource)}`);
  if (resource === lambdaInvoke) checkInvoke(state, name);
  if (resources.has(name) && resources.get(name) !== resource)
    throw new Error(`${name}: two Tasks of one name with different functions do not run locally`);
  resources.set(name, resource);
  // Without a TimeoutSeconds AWS waits for 99,999,999 s, but the library waits for 60 s.
  if (state['TimeoutSecondsPath'] === undefined) state['TimeoutSeconds'] ??= longestTimerSeconds;
  capTimeout(state);
}

/** Refuses what the optimized integration can do and the stand-in cannot, such as an asynchronous call. */
function checkInvoke(state: JsonObject, name: string): void {
  const members = Object.keys(asObject(state['Parameters'], `Parameters of ${name}`));
  const served = ['FunctionName', 'Payload'].flatMap((member) => [member, `${member}.$`]);
  const unserved = members.find((member) => !served.includes(member));
  if (unserved !== undefined) throw new Error(`${name}: ${unserved} of ${lambdaInvoke} does not run locally`);
  if (!members.some((member) => member.startsWith('FunctionName')))
    throw new Error(`${name}: the Parameters of ${lambdaInvoke} name no function`);
}

function capTimeout(part: JsonObject): void {
  const seconds = part['TimeoutSeconds'];
  if (typeof seconds === 'number') part['TimeoutSeconds'] = Math.min(seconds, longestTimerSeconds);
}

function refuseJsonata(part: JsonObject, name: string): void {
  if (part['QueryLanguage'] === 'JSONata') throw new Error(`${name}: JSONata does not run locally`);
}

/**
 * Refuses parts of the context object that the library lacks. It knows only $$.Execution, $$.StateMachine and
 * $$.Map.
 */
function refuseUnknownContext(state: JsonObject, name: string): void {
  const path = /"(\$\$\.(State|Task)\b[^"]*)"/.exec(JSON.stringify(state))?.[1];
  if (path !== undefined) throw new Error(`${name}: ${path} does not run locally`);
}

function asObject(value: unknown, name: string): JsonObject {
  if (!isObject(value)) throw new Error(`${name} is not an object`);
  return value;
}

function asArray(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
