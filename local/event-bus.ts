import { randomUUID } from 'node:crypto';
import { isObject } from './json.ts';
import { localAccount, localRegion } from './aws/aws-call.ts';
import type { Execution } from './step-functions/executions.ts';

export interface BusEvent {
  readonly version: '0';
  readonly id: string;
  readonly 'detail-type': string;
  readonly source: string;
  readonly account: string;
  /** RFC 3339 in whole seconds. */
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: Readonly<Record<string, unknown>>;
}

export function executionEvent(execution: Execution): BusEvent {
  const {
    arn,
    machineArn,
    name,
    status,
    startedAt,
    stoppedAt = startedAt,
    input,
    output,
    error,
    cause,
  } = execution;
  return {
    ...envelope('aws.states', 'Step Functions Execution Status Change', stoppedAt, [arn]),
    detail: {
      executionArn: arn,
      stateMachineArn: machineArn,
      name,
      status,
      startDate: startedAt,
      stopDate: stoppedAt,
      input,
      output: output ?? null,
      error: error ?? null,
      cause: cause ?? null,
      inputDetails: { included: true },
      outputDetails: output === undefined ? null : { included: true },
      stateMachineVersionArn: null,
      stateMachineAliasArn: null,
      redriveCount: 0,
    },
  };
}

/** The event that a rule with a schedule sends. `at` is milliseconds since 1970. */
export function scheduledEvent(at: number): BusEvent {
  return { ...envelope('aws.events', 'Scheduled Event', at, []), detail: {} };
}

function envelope(
  source: string,
  detailType: string,
  at: number,
  resources: readonly string[],
): Omit<BusEvent, 'detail'> {
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': detailType,
    source,
    account: localAccount,
    time: new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z'),
    region: localRegion,
    resources,
  };
}

/** Whether the event matches. Of the content filters only prefix and exists are known; any other throws. */
export function matchesPattern(pattern: Readonly<Record<string, unknown>>, event: unknown): boolean {
  return Object.entries(pattern).every(([name, wanted]) => {
    const value = isObject(event) ? event[name] : undefined;
    if (!Array.isArray(wanted)) return isObject(wanted) && isObject(value) && matchesPattern(wanted, value);
    const held: readonly unknown[] = Array.isArray(value) ? value : [value];
    return wanted.some((one: unknown) => held.some((candidate) => matchesOne(one, candidate)));
  });
}

function matchesOne(wanted: unknown, value: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return wanted === value;
  const [[filter, argument] = ['', undefined], ...others] = Object.entries(wanted);
  if (others.length === 0 && filter === 'prefix')
    return typeof value === 'string' && value.startsWith(String(argument));
  if (others.length === 0 && filter === 'exists') return (value !== undefined) === argument;
  throw new Error(`the event pattern's filter ${JSON.stringify(wanted)} does not run locally`);
}
