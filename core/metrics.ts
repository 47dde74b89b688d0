/**
 * What is measured, and of which event of the log. A handler says once what happened; this
 * table says what of it is counted, so that a line of the log and a metric cannot disagree.
 */

export interface MetricDefinition {
  /** The event's name in the log. */
  readonly event: string;
  readonly name: string;
  readonly unit: 'Count' | 'Milliseconds' | 'None';
  /** The event's field that is the value; absent: each event is 1. */
  readonly field?: string;
  /** The fields by which it is told apart, one list a set; an empty list is the sum of all. Each combination of values is billed. */
  readonly dimensions: readonly (readonly string[])[];
}

const all = [[]] as const;

export const metrics = [
  { event: 'creation_accepted', name: 'CreationsAccepted', unit: 'Count', dimensions: all },
  { event: 'creation_completed', name: 'CreationsCompleted', unit: 'Count', dimensions: all },
  // From acceptance to the image.
  {
    event: 'creation_completed',
    name: 'CreationTime',
    unit: 'Milliseconds',
    field: 'millis',
    dimensions: all,
  },
  // A failed creation is one whose charge was given back: the number of failures is that of refunds.
  { event: 'creation_failed', name: 'CreationsFailed', unit: 'Count', dimensions: [[], ['failure']] },
  {
    event: 'creation_failed',
    name: 'RefundedMicros',
    unit: 'None',
    field: 'refundedMicros',
    dimensions: all,
  },
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
  // The five of the reconciler come of its runs by the schedule.
  { event: 'reconciled', name: 'ReconcilerRuns', unit: 'Count', dimensions: all },
  { event: 'reconciled', name: 'ReconcilerLooked', unit: 'Count', field: 'looked', dimensions: all },
  { event: 'reconciled', name: 'ReconcilerStarted', unit: 'Count', field: 'started', dimensions: all },
  { event: 'reconciled', name: 'ReconcilerRefunded', unit: 'Count', field: 'refunded', dimensions: all },
  { event: 'reconciled', name: 'OpenCreations', unit: 'Count', field: 'open', dimensions: all },
  { event: 'books_audited', name: 'BooksOutOfBalance', unit: 'Count', field: 'differences', dimensions: all },
  { event: 'books_audited', name: 'AccountsAudited', unit: 'Count', field: 'accounts', dimensions: all },
] as const satisfies readonly MetricDefinition[];

export type MetricName = (typeof metrics)[number]['name'];

/** Counts every line that an operator has to look at, by its event. */
export const alarmMetric = {
  name: 'OperatorAlarms',
  unit: 'Count',
  dimensions: [['event']],
} as const satisfies Omit<MetricDefinition, 'event'>;

/** Every event that is logged as an alarm; docs/operations.md says of each what to do. */
export const alarmEvents = [
  'books_out_of_balance',
  'creation_past_deadline',
  'creation_recovered_again',
  'image_not_stored',
  'provider_answer_unknown',
  'provider_call_broke',
  'provider_refused_credentials',
  'reconcile_failed',
  'refund_not_made',
  'request_failed',
  'start_refused',
  'webhook_delivery_broke',
  'webhook_secret_lost',
] as const;

export type AlarmEvent = (typeof alarmEvents)[number];
