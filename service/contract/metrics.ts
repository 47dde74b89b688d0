/** The metrics, each with the event of the log that it counts, so that the two cannot disagree. */

export interface MetricDefinition {
  readonly event: string;
  readonly name: string;
  readonly unit: 'Count' | 'Milliseconds' | 'None';
  /** The field of the event that holds the value. Absent: each event counts as 1. */
  readonly field?: string;
  /** Sets of fields. CloudWatch bills a series for each combination of values. Empty: one of all events. */
  readonly dimensions: readonly (readonly string[])[];
}

const all = [[]] as const;

export const metrics = [
  { event: 'creation_accepted', name: 'CreationsAccepted', unit: 'Count', dimensions: all },
  // The time of the charge and of the start. The time in which the sources are fetched is the customer's.
  {
    event: 'creation_accepted',
    name: 'AcceptTime',
    unit: 'Milliseconds',
    field: 'acceptMillis',
    dimensions: all,
  },
  { event: 'creation_completed', name: 'CreationsCompleted', unit: 'Count', dimensions: all },
  // The time from acceptance to the image.
  {
    event: 'creation_completed',
    name: 'CreationTime',
    unit: 'Milliseconds',
    field: 'millis',
    dimensions: all,
  },
  // Every failed creation is refunded: the number of failures is the number of refunds.
  { event: 'creation_failed', name: 'CreationsFailed', unit: 'Count', dimensions: [[], ['failure']] },
  {
    event: 'creation_failed',
    name: 'RefundedMicros',
    unit: 'None',
    field: 'refundedMicros',
    dimensions: all,
  },
  // Step Functions gave no clear answer to the start of an execution.
  { event: 'start_unclear', name: 'StartsUnclear', unit: 'Count', dimensions: all },
  { event: 'refund_busy', name: 'RefundsBusy', unit: 'Count', dimensions: all },
  {
    event: 'provider_answered',
    name: 'ProviderAnswers',
    unit: 'Count',
    dimensions: [['provider', 'providerModel', 'outcome']],
  },
  {
    event: 'provider_answered',
    name: 'ProviderTime',
    unit: 'Milliseconds',
    field: 'millis',
    dimensions: [['provider', 'providerModel']],
  },
  { event: 'webhook_attempted', name: 'WebhookAttempts', unit: 'Count', dimensions: [['outcome']] },
  { event: 'charge_conflict', name: 'ChargeConflicts', unit: 'Count', dimensions: all },
  { event: 'request_shed', name: 'RequestsShed', unit: 'Count', dimensions: all },
  // Keys of the form of an operator key that the operator API answered with 401.
  { event: 'operator_key_refused', name: 'OperatorKeysRefused', unit: 'Count', dimensions: all },
  // Only the scheduled runs of the reconciler log this event, not those that an event started.
  { event: 'reconciled', name: 'ReconcilerRuns', unit: 'Count', dimensions: all },
  { event: 'reconciled', name: 'ReconcilerLooked', unit: 'Count', field: 'looked', dimensions: all },
  { event: 'reconciled', name: 'ReconcilerStarted', unit: 'Count', field: 'started', dimensions: all },
  { event: 'reconciled', name: 'ReconcilerRefunded', unit: 'Count', field: 'refunded', dimensions: all },
  { event: 'reconciled', name: 'OpenCreations', unit: 'Count', field: 'open', dimensions: all },
  { event: 'books_audited', name: 'BooksOutOfBalance', unit: 'Count', field: 'differences', dimensions: all },
  // Each invocation that worked on a run, and each run that has audited every account.
  { event: 'books_audit_part', name: 'AuditRuns', unit: 'Count', dimensions: all },
  { event: 'books_audited', name: 'AuditFinished', unit: 'Count', dimensions: all },
  { event: 'books_audited', name: 'AccountsAudited', unit: 'Count', field: 'accounts', dimensions: all },
  // The setting canary switches the canary on.
  { event: 'canary_succeeded', name: 'CanarySucceeded', unit: 'Count', dimensions: all },
  {
    event: 'canary_succeeded',
    name: 'CanaryMillis',
    unit: 'Milliseconds',
    field: 'millis',
    dimensions: all,
  },
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
