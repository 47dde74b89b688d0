/** What CloudWatch sees of the service: with ordinary traffic, and with a fault. */
import type { ValueOf } from './alarm-math.ts';
import type { MetricOf } from './alarm-words.ts';
import { wordOf } from './template.ts';

/** Values of metrics, by their names or by "NAME VALUE-OF-A-DIMENSION". */
export type Values = Readonly<Record<string, number | undefined>>;

const fiveMinutes = 300;

/** Metrics that are no count: a longer period does not make them larger. */
const levels = ['AcceptTime', 'CreationTime', 'OpenCreations', 'UnreservedConcurrentExecutions'];
/** Counts of a timer, which has one tick in each of its periods, whatever the period of the alarm. */
const ticks = ['ReconcilerRuns', 'AuditFinished', 'CanarySucceeded'];
/** What happens once an hour by chance, however little traffic there is. */
const onceAnHour = ['OperatorAlarms'];
/** What no traffic causes: one is a fault. */
const neverOrdinary = ['webhook_secret_lost', 'provider_circuit_opened', 'books_out_of_balance'];

/**
 * Ordinary traffic: 1 % of the requests are refused as the client's own mistakes, 1 % of the creations fail at
 * their provider, one of a thousand requests meets a fault of ours or of AWS, and so does one creation an hour.
 * @param perSecond creations
 */
export function ordinary(perSecond: number): Values {
  const accepted = perSecond * fiveMinutes;
  const requests = accepted * 8;
  // A service without traffic has no data.
  const some = (count: number): number | undefined => (accepted === 0 ? undefined : count);
  return {
    CreationsAccepted: some(accepted),
    Count: some(requests),
    '4xx': some(requests / 100),
    '4XXError': some(requests / 100),
    // Creations that failed at their provider while the client waited, and a fault of ours.
    '5xx': some(1 + requests / 1_000),
    '5XXError': some(1 + requests / 1_000),
    Invocations: some(requests),
    'Invocations @RefundCharge': some(2 + accepted / 50),
    Errors: some(1),
    'Errors @RefundCharge': some(1 + accepted / 2_000),
    'Errors @AuditBooks': 0,
    'Throttles @GenerateImage': some(1 + accepted / 1_000),
    Throttles: 0,
    'CreationsFailed ServiceUnavailable': some(1 + accepted / 100),
    'CreationsFailed InternalFailure': some(1 + accepted / 1_000),
    StartsUnclear: some(1 + accepted / 1_000),
    RequestsShed: some(1 + accepted / 1_000),
    'ExecutionsFailed @CreationStateMachine': some(1 + accepted / 1_000),
    ExecutionsFailed: 0,
    ExecutionsTimedOut: 0,
    ExecutionsAborted: 0,
    ExecutionThrottled: some(accepted / 1_000),
    WriteThrottleEvents: some(accepted / 1_000),
    ReadThrottleEvents: 0,
    TransactionConflict: some(1 + accepted / 20),
    AcceptTime: some(300),
    CreationTime: some(45_000),
    OpenCreations: Math.min(perSecond * 20, 1_000),
    UnreservedConcurrentExecutions: some(Math.min(perSecond * 20, 400)),
    ReconcilerRuns: 1,
    ReconcilerLooked: some(accepted / 100),
    AuditFinished: 1,
    CanarySucceeded: 1,
    BooksOutOfBalance: 0,
    OperatorAlarms: some(1),
  };
}

/** The value of a metric in a period. `values` are those of five minutes. */
export function valuesIn(values: Values): ValueOf {
  return ({ MetricName: name, Dimensions = [] }: MetricOf, seconds) => {
    const by = Dimensions.map(({ Value }) => wordOf(Value));
    const key = by.map((value) => `${name} ${value}`).find((known) => known in values);
    if (key === undefined && by.some((value) => neverOrdinary.includes(value))) return undefined;
    if (key === undefined && !(name in values)) throw new Error(`no value of ${name} ${by.join(' ')}`);
    const value = values[key ?? name];
    const isCount = !levels.includes(name) && !ticks.includes(name);
    const isRare = key === undefined && onceAnHour.includes(name);
    return value === undefined || !isCount || isRare ? value : (value * seconds) / fiveMinutes;
  };
}
