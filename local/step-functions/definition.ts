import type { StateMachineDefinition } from 'aws-local-stepfunctions';

/** A state machine's text made ready for the interpreter. */
export interface Definition {
  readonly definition: StateMachineDefinition;
  /** The ARN behind each Task state's name. */
  readonly resources: ReadonlyMap<string, string>;
}

type Json = Record<string, unknown>;

/** A JavaScript timer holds 2^31-1 ms and fires at once beyond it: 24.8 days. */
const longestTimerSeconds = 2_147_483;
const lambdaArnPattern = /^arn:aws:lambda:[a-z0-9-]+:\d{12}:function:[\w-]+(:[\w$-]+)?$/;

/**
 * Reads a definition and levels out where aws-local-stepfunctions 3.0.0 and Step Functions differ:
 * what can be worked around is, what cannot is refused here and not silently ignored in a run.
 * Throws an Error that names the state.
 */
export function readDefinition(text: string): Definition {
  const definition = JSON.parse(text) as Json;
  const resources = new Map<string, string>();
  level(definition, 'the state machine', resources);
  return { definition: definition as unknown as StateMachineDefinition, resources };
}

function level(machine: Json, name: string, resources: Map<string, string>): void {
  refuseJsonata(machine, name);
  capTimeout(machine);
  for (const [stateName, state] of Object.entries(asObject(machine['States'], name))) {
    levelState(asObject(state, stateName), stateName, resources);
  }
}

function levelState(state: Json, name: string, resources: Map<string, string>): void {
  refuseJsonata(state, name);
  refuseUnknownContext(state, name);
  if (state['Assign'] !== undefined) throw new Error(`${name}: variables (Assign) do not run locally`);
  // The library would store the result under a member that is called "$".
  for (const part of [state, ...asArray(state['Catch'])])
    if (part['ResultPath'] === '$') delete part['ResultPath'];
  if (state['Type'] === 'Task') levelTask(state, name, resources);
  if (state['Type'] === 'Wait' && Number(state['Seconds'] ?? 0) > longestTimerSeconds)
    throw new Error(`${name}: waits longer than ${longestTimerSeconds} s do not run locally`);
  const nested = [...asArray(state['Branches']), state['ItemProcessor'], state['Iterator']];
  for (const machine of nested) if (machine !== undefined) level(asObject(machine, name), name, resources);
}

function levelTask(state: Json, name: string, resources: Map<string, string>): void {
  const resource = state['Resource'];
  if (typeof resource !== 'string' || !lambdaArnPattern.test(resource))
    throw new Error(`${name}: only Lambda ARNs run locally, not ${String(resource)}`);
  if (resources.has(name) && resources.get(name) !== resource)
    throw new Error(`${name}: two Tasks of one name with different functions do not run locally`);
  resources.set(name, resource);
  // Without one AWS waits for 99,999,999 s; the library would for 60.
  if (state['TimeoutSecondsPath'] === undefined) state['TimeoutSeconds'] ??= longestTimerSeconds;
  capTimeout(state);
}

function capTimeout(part: Json): void {
  const seconds = part['TimeoutSeconds'];
  if (typeof seconds === 'number') part['TimeoutSeconds'] = Math.min(seconds, longestTimerSeconds);
}

function refuseJsonata(part: Json, name: string): void {
  if (part['QueryLanguage'] === 'JSONata') throw new Error(`${name}: JSONata does not run locally`);
}

/** The library knows $$.Execution, $$.StateMachine and $$.Map only. */
function refuseUnknownContext(state: Json, name: string): void {
  const path = /"(\$\$\.(State|Task)\b[^"]*)"/.exec(JSON.stringify(state))?.[1];
  if (path !== undefined) throw new Error(`${name}: ${path} does not run locally`);
}

function asObject(value: unknown, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${name} is not an object`);
  return value as Json;
}

function asArray(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}
