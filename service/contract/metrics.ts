/** The metrics, each with the event of the log that it counts, so that the two cannot disagree. */
import type { LogEvent, LogMember } from './log-lines.ts';

export interface MetricDefinition {
  readonly event: LogEvent;
  readonly name: string;
  readonly unit: 'Count' | 'Milliseconds' | 'None';
  /** The field of the event that holds the value. Absent: each event counts as 1. */
  readonly field?: string;
  /** Sets of fields. CloudWatch bills a series for each combination of values. Empty: one of all events. */
  readonly dimensions: readonly (readonly string[])[];
}

const all = [[]] as const;

type Dimensions<Event extends LogEvent> = readonly (readonly LogMember<Event>[])[];

/** A function has this table in its bundle, so the rows are short. */
const counted = <Event extends LogEvent, Name extends string>(
  event: Event,
  name: Name,
  field?: LogMember<Event>,
  dimensions: Dimensions<Event> = all,
) => ({ event, name, unit: 'Count', ...(field !== undefined && { field }), dimensions }) as const;
const timed = <Event extends LogEvent, Name extends string>(
  event: Event,
  name: Name,
  field: LogMember<Event>,
  dimensions: Dimensions<Event> = all,
) => ({ event, name, unit: 'Milliseconds', field, dimensions }) as const;

export const metrics = [
  counted('creation_accepted', 'CreationsAccepted'),
  // The time of the charge and of the start. The time in which the sources are fetched is the customer's.
  timed('creation_accepted', 'AcceptTime', 'acceptMillis'),
  counted('creation_completed', 'CreationsCompleted'),
  // The time from acceptance to the image.
  timed('creation_completed', 'CreationTime', 'millis'),
  // Every failed creation is refunded: the number of failures is the number of refunds.
  counted('creation_failed', 'CreationsFailed', undefined, [[], ['failure']]),
  {
    event: 'creation_failed',
    name: 'RefundedMicros',
    unit: 'None',
    field: 'refundedMicros',
    dimensions: all,
  },
  // Step Functions gave no clear answer to the start of an execution.
  counted('start_unclear', 'StartsUnclear'),
  counted('refund_busy', 'RefundsBusy'),
  counted('provider_answered', 'ProviderAnswers', undefined, [['provider', 'providerModel', 'outcome']]),
  timed('provider_answered', 'ProviderTime', 'millis', [['provider', 'providerModel']]),
  counted('webhook_attempted', 'WebhookAttempts', undefined, [['outcome']]),
  counted('charge_conflict', 'ChargeConflicts'),
  counted('request_shed', 'RequestsShed'),
  // Keys of the form of an operator key that the operator API answered with 401.
  counted('operator_key_refused', 'OperatorKeysRefused'),
  // Only the scheduled runs of the reconciler log this event, not those that an event started.
  counted('reconciled', 'ReconcilerRuns'),
  counted('reconciled', 'ReconcilerLooked', 'looked'),
  counted('reconciled', 'ReconcilerStarted', 'started'),
  counted('reconciled', 'ReconcilerRefunded', 'refunded'),
  counted('reconciled', 'OpenCreations', 'open'),
  counted('books_audited', 'BooksOutOfBalance', 'differences'),
  // Each invocation that worked on a run, and each run that has audited every account.
  counted('books_audit_part', 'AuditRuns'),
  counted('books_audited', 'AuditFinished'),
  counted('books_audited', 'AccountsAudited', 'accounts'),
  // The setting canary switches the canary on.
  counted('canary_succeeded', 'CanarySucceeded'),
  timed('canary_succeeded', 'CanaryMillis', 'millis'),
] as const satisfies readonly MetricDefinition[];

export type MetricName = (typeof metrics)[number]['name'];

/** Counts the lines that need an operator, one series for each event. */
export const alarmMetric = {
  name: 'OperatorAlarms',
  unit: 'Count',
  dimensions: [['event']],
} as const satisfies Omit<MetricDefinition, 'event'>;

/** The events that are logged as alarms. docs/alarms.md says what to do about each of them. */
export const alarmEvents = [
  'books_out_of_balance',
  'callback_refused',
  'creation_past_deadline',
  'creation_recovered_again',
  'image_not_stored',
  'payment_held',
  'payment_key_refused',
  'payment_unknown',
  'payments_behind',
  'provider_answer_unknown',
  'provider_call_broke',
  'provider_circuit_opened',
  'provider_refused_credentials',
  'reconcile_failed',
  'refund_not_made',
  'request_failed',
  'start_refused',
  'task_not_ended',
  'webhook_delivery_broke',
  'webhook_secret_lost',
] as const;

export type AlarmEvent = (typeof alarmEvents)[number];
