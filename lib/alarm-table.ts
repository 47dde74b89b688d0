/**
 * The alarms, one row each. `meaning` says what the alarm means to a customer, and `remedy`
 * what to do first. docs/alarms.md has a row for each alarm; a test compares the page
 * with the template. Another test shows to each alarm ordinary traffic and the
 * fault: ordinary failures raise no alarm (docs/decisions/0023).
 */
import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { fiveMinutes, share, type AlarmDefinition, type Watched } from './alarm-definition.ts';
import { customerAlarms } from './customer-alarms.ts';
import { moneyAlarms } from './money-alarms.ts';
import { providerAlarms } from './provider-alarms.ts';
import { streamAlarms } from './streams/stream-alarms.ts';
import { trafficAlarms } from './traffic-alarms.ts';

/** Every alarm, by its name. */
export function alarmTable(watched: Watched): Readonly<Record<string, AlarmDefinition>> {
  return {
    ...customerAlarms(watched),
    ...providerAlarms(watched),
    ...streamAlarms(watched),
    ...moneyAlarms(watched),
    ...capacityAlarms(watched),
    ...limitAlarms(watched),
    ...trafficAlarms(watched),
  };
}

function capacityAlarms({
  metrics,
  throttled,
  serviceCapacity,
}: Watched): Readonly<Record<string, AlarmDefinition>> {
  return {
    ReconcilerNotRunning: {
      metric: metrics.of('ReconcilerRuns', { period: Duration.minutes(1) }),
      threshold: 1,
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      periods: 5,
      missing: TreatMissingData.BREACHING,
      meaning:
        'A creation that is stuck stays stuck: nothing is restarted or refunded in time. The service also uses an old count for its capacity.',
      remedy:
        'Check that the rule EveryMinute is enabled, and read the log of Reconcile. A new stack is in this state for its first minutes.',
    },
    ReconcilingFailing: {
      ...share({
        bad: [metrics.alarms('reconcile_failed')],
        of: [metrics.of('ReconcilerLooked')],
        percent: 5,
        least: 5,
      }),
      meaning:
        'The reconciler could not look at creations that need help. It tries each of them again in a minute.',
      remedy:
        'Read the errors in the log of Reconcile. If the table is busy, RequestsShed shows this too. NewerRelease means that a newer release has accepted the creation: deploy that release again.',
    },
    FunctionsThrottled: {
      ...share({
        bad: throttled.map((fn) => fn.metricThrottles(fiveMinutes)),
        of: [metrics.of('CreationsAccepted')],
        percent: 1,
        least: 10,
      }),
      meaning:
        'Customers wait longer or get a 503, because Lambda runs as many functions at once as the account or a reservation allows.',
      remedy:
        'Ask AWS for more concurrent executions, or change the setting concurrency. Check whether another stack in the account uses them.',
    },
    CapacityNearlyUsed: {
      metric: metrics.of('OpenCreations', { statistic: Stats.MAXIMUM }),
      // Four fifths of the capacity, which leaves time to ask AWS for more.
      threshold: Math.max(1, Math.floor((serviceCapacity * 4) / 5)),
      meaning:
        'Soon customers get 429 with the scope "service": four fifths of serviceCapacity are open creations.',
      remedy:
        'Look at the providers on the dashboard: a slow provider fills the capacity. Otherwise raise serviceCapacity together with the quotas of Lambda.',
    },
  };
}

/** The limits of AWS. */
function limitAlarms({
  metrics,
  stateMachines,
  table,
  alarms,
  reservedExecutions,
}: Watched): Readonly<Record<string, AlarmDefinition>> {
  const accepted = [metrics.of('CreationsAccepted')];
  const unreserved = Math.max(alarms.concurrentExecutions - reservedExecutions, 1);
  return {
    ConcurrencyNearlyUsed: {
      // The functions of the whole account share what nothing reserves.
      metric: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'UnreservedConcurrentExecutions',
        period: fiveMinutes.period,
        statistic: Stats.MAXIMUM,
      }),
      threshold: Math.ceil((unreserved * 4) / 5),
      periods: 2,
      meaning:
        'Soon customers wait or get a 503: four fifths of the concurrent executions that no function reserves are in use, in the whole account and region.',
      remedy:
        'See on the dashboard whether a provider has become slow. Otherwise ask AWS for more concurrent executions, and then raise the setting alarms.concurrentExecutions.',
    },
    ExecutionsThrottled: {
      ...share({
        bad: stateMachines.map((machine) => machine.metricThrottled(fiveMinutes)),
        of: accepted,
        percent: 10,
        least: 20,
      }),
      meaning:
        'Customers wait longer, because Step Functions delays the steps of executions. Nothing is lost.',
      remedy:
        'Ask AWS for a higher quota of StateTransition. Look for other state machines in the account and region that use this quota.',
    },
    TableThrottled: {
      ...share({ bad: table.throttles, of: accepted, percent: 5, least: 50 }),
      periods: 2,
      meaning: 'Customers wait longer or get a 503, because the table or an index throttles reads or writes.',
      remedy:
        'See on the dashboard whether the table or an index is full. A new table takes 4,000 write units a second, and doubles by itself within half an hour. If traffic has outgrown the quota (40,000 write units a second), ask AWS for more. If one account sends most of the traffic, lower its post-rate.',
    },
    TransactionConflicts: {
      ...share({ bad: [table.conflicts], of: accepted, percent: 50, least: 100 }),
      periods: 2,
      meaning: 'Customers wait longer or get a 503, because the charges of one account wait for each other.',
      remedy:
        'Find the account that sends most (ChargeConflicts on the dashboard, and the log of GenerateImage). Lower its max-concurrent or its post-rate, or let the customer use several accounts.',
    },
  };
}
