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
        'What gets stuck stays stuck: nobody restarts or refunds it, and capacity is judged by an old count.',
      remedy:
        'Check the rule EveryMinute and the log of Reconcile. A new stack is in this state for its first minutes.',
    },
    ReconcilingFailing: {
      ...share({
        bad: [metrics.alarms('reconcile_failed')],
        of: [metrics.of('ReconcilerLooked')],
        percent: 5,
        least: 5,
      }),
      meaning: 'Creations that are stuck could not be looked at; it is tried again each minute.',
      remedy: 'Read the errors in the log of Reconcile.',
    },
    FunctionsThrottled: {
      ...share({
        bad: throttled.map((fn) => fn.metricThrottles(fiveMinutes)),
        of: [metrics.of('CreationsAccepted')],
        percent: 1,
        least: 10,
      }),
      meaning:
        'Customers wait longer, or get a 503: Lambda runs as many functions at once as the account may.',
      remedy:
        'Ask AWS for more concurrent executions; look for another stack in the account that takes them.',
    },
    CapacityNearlyUsed: {
      metric: metrics.of('OpenCreations', { statistic: Stats.MAXIMUM }),
      // Four fifths of the capacity, which leaves time to ask AWS for more.
      threshold: Math.max(1, Math.floor((serviceCapacity * 4) / 5)),
      meaning: 'Soon customers get 429 "capacity": four fifths of the creations that may be open are.',
      remedy: 'See whether a provider has become slow; else raise serviceCapacity and what stands behind it.',
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
        'Soon customers wait or get a 503: four fifths of the concurrent executions that nothing reserves are in use.',
      remedy:
        'Ask AWS for more concurrent executions, then raise the setting alarms.concurrentExecutions; see whether a provider has become slow.',
    },
    ExecutionsThrottled: {
      ...share({
        bad: stateMachines.map((machine) => machine.metricThrottled(fiveMinutes)),
        of: accepted,
        percent: 10,
        least: 20,
      }),
      meaning: 'Customers wait longer: Step Functions delays the steps of executions.',
      remedy: 'Ask AWS for a higher quota of StateTransition; look for other state machines in the account.',
    },
    TableThrottled: {
      ...share({ bad: table.throttles, of: accepted, percent: 5, least: 50 }),
      periods: 2,
      meaning: 'Customers wait longer, or get a 503: the table or an index throws out reads or writes.',
      remedy:
        'See on the dashboard whether the table or an index is full. A new table grows by itself within half an hour; else ask AWS for a higher quota of the table, or lower the limits of the account that sends most.',
    },
    TransactionConflicts: {
      ...share({ bad: [table.conflicts], of: accepted, percent: 50, least: 100 }),
      periods: 2,
      meaning: 'Customers wait longer, or get a 503: charges of one account wait for each other.',
      remedy: 'Find the account that sends most, and lower its max-concurrent or its post-rate.',
    },
  };
}
