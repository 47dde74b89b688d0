/** What CloudWatch sees of the service: with ordinary traffic, and with a fault. */
import type { ValueOf } from './alarm-math.ts';
import type { MetricOf } from './alarm-words.ts';
import { wordOf } from './template.ts';

/** Failures that traffic causes, and those that happen by chance beside them. */
interface Failures {
  readonly ofTraffic: number;
}

/** Values of metrics, by their names or by "NAME VALUE-OF-A-DIMENSION". */
export type Values = Readonly<Record<string, number | Failures | undefined>>;

const fiveMinutes = 300;

/** Metrics that are no count: a longer period does not make them larger. */
const levels = ['AcceptTime', 'CreationTime', 'OpenCreations', 'UnreservedConcurrentExecutions'];
/** Counts of a timer, which has one tick in each of its periods, whatever the period of the alarm. */
const ticks = ['ReconcilerRuns', 'AuditFinished', 'CanarySucceeded'];
/** What no traffic causes: one is a fault. */
const neverOrdinary = [
  ...['webhook_secret_lost', 'provider_circuit_opened', 'books_out_of_balance'],
  ...['payment_held', 'payment_key_refused', 'payment_unknown', 'payments_behind'],
];

/**
 * Ordinary traffic: 1 % of the requests are refused as the client's own mistakes, 1 % of the creations fail at
 * their provider, one of a thousand requests meets a fault of ours or of AWS. One thing an hour goes wrong by chance
 * as well, or less where there are fewer than fifty creations an hour.
 * @param perSecond creations
 */
export function ordinary(perSecond: number): Values {
  const accepted = perSecond * fiveMinutes;
  const requests = accepted * 8;
  // A service without traffic has no data.
  const some = <Count extends number | Failures>(count: Count): Count | undefined =>
    accepted === 0 ? undefined : count;
  return {
    CreationsAccepted: some(accepted),
    Count: some(requests),
    '4xx': some(requests / 100),
    '4XXError': some(requests / 100),
    // Creations that failed at their provider while the client waited, and a fault of ours.
    '5xx': some({ ofTraffic: requests / 1_000 }),
    '5XXError': some({ ofTraffic: requests / 1_000 }),
    Invocations: some(requests),
    'Invocations @RefundCharge': some(2 + accepted / 50),
    Errors: some({ ofTraffic: 0 }),
    'Errors @RefundCharge': some({ ofTraffic: accepted / 2_000 }),
    'Errors @AuditBooks': 0,
    'Throttles @GenerateImage': some({ ofTraffic: accepted / 1_000 }),
    Throttles: 0,
    'CreationsFailed ServiceUnavailable': some({ ofTraffic: accepted / 100 }),
    'CreationsFailed InternalFailure': some({ ofTraffic: accepted / 1_000 }),
    StartsUnclear: some({ ofTraffic: accepted / 1_000 }),
    RequestsShed: some({ ofTraffic: accepted / 1_000 }),
    'ExecutionsFailed @CreationStateMachine': some({ ofTraffic: accepted / 1_000 }),
    ExecutionsFailed: 0,
    ExecutionsTimedOut: 0,
    ExecutionsAborted: 0,
    ExecutionThrottled: some(accepted / 1_000),
    WriteThrottleEvents: some(accepted / 1_000),
    ReadThrottleEvents: 0,
    TransactionConflict: some({ ofTraffic: accepted / 20 }),
    AcceptTime: some(300),
    CreationTime: some(45_000),
    OpenCreations: Math.min(perSecond * 20, 1_000),
    UnreservedConcurrentExecutions: some(Math.min(perSecond * 20, 400)),
    ReconcilerRuns: 1,
    ReconcilerLooked: some(accepted / 100),
    AuditFinished: 1,
    CanarySucceeded: 1,
    BooksOutOfBalance: 0,
    OperatorKeysRefused: some({ ofTraffic: 0 }),
    OperatorAlarms: some({ ofTraffic: 0 }),
  };
}

/** The value of a metric in a period. `values` are those of five minutes. */
export function valuesIn(values: Values): ValueOf {
  return ({ MetricName: name, Dimensions = [] }: MetricOf, seconds) => {
    const inPeriod = (count: number): number => (count * seconds) / fiveMinutes;
    const by = Dimensions.map(({ Value }) => wordOf(Value));
    const key = by.map((value) => `${name} ${value}`).find((known) => known in values);
    if (key === undefined && by.some((value) => neverOrdinary.includes(value))) return undefined;
    if (key === undefined && !(name in values)) throw new Error(`no value of ${name} ${by.join(' ')}`);
    const value = values[key ?? name];
    if (typeof value === 'object') return inPeriod(value.ofTraffic) + byChance(values, seconds);
    const isCount = !levels.includes(name) && !ticks.includes(name);
    return value === undefined || !isCount ? value : inPeriod(value);
  };
}

/** At least one, because chance does not respect the length of a window. */
function byChance({ CreationsAccepted: accepted }: Values, seconds: number): number {
  const anHour = typeof accepted === 'number' ? accepted * (3_600 / fiveMinutes) : 0;
  return Math.max(1, (seconds / 3_600) * Math.min(1, anHour / 50));
}
