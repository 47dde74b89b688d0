/**
 * The alarms, one row each. `meaning` says what the alarm means to a customer, and `remedy`
 * what to do first. docs/operations.md has a row and a section for each alarm; a test
 * compares the page with the template.
 */
import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { fiveMinutes, sumOf, type AlarmDefinition, type Watched } from './alarm-definition.ts';
import { streamAlarms } from './streams/stream-alarms.ts';

/** Every alarm, by its name. */
export function alarmTable(watched: Watched): Readonly<Record<string, AlarmDefinition>> {
  return {
    ...customerAlarms(watched),
    ...streamAlarms(watched),
    ...moneyAlarms(watched),
    ...capacityAlarms(watched),
  };
}

function customerAlarms({
  metrics,
  httpApi,
  stateMachines,
}: Watched): Readonly<Record<string, AlarmDefinition>> {
  const machines = stateMachines.flatMap((machine) => [
    machine.metricFailed(fiveMinutes),
    machine.metricTimedOut(fiveMinutes),
    machine.metricAborted(fiveMinutes),
  ]);
  return {
    CreationsPastDeadline: {
      metric: metrics.alarms('creation_past_deadline'),
      threshold: 1,
      meaning:
        'A customer waited past the deadline and was refunded by the reconciler, since the execution did not.',
      remedy: 'Look at the executions of the creation and at the log of RefundCharge.',
    },
    CreationsRecoveredAgain: {
      metric: metrics.alarms('creation_recovered_again'),
      threshold: 1,
      meaning: 'A customer waits for a creation whose executions died three times or more.',
      remedy: 'Find why they die; refund the creation if it cannot be helped.',
    },
    ExecutionsFailing: {
      metric: sumOf(machines, 'failed, timed out, aborted'),
      threshold: 1,
      meaning:
        'An execution ended without a refund or a webhook that was due; the reconciler takes its creation up at once.',
      remedy: 'Open the failed execution: its graph names the reason.',
    },
    ServerErrors: {
      metric: httpApi.metricServerError(fiveMinutes),
      threshold: 5,
      meaning:
        'Customers get answers of 500 and above. Part of them may be creations that failed while they waited.',
      remedy: 'Compare with RequestsFailing and ProvidersUnavailable; read the access log for the route.',
    },
    RequestsFailing: {
      metric: metrics.alarms('request_failed'),
      threshold: 1,
      meaning: 'A customer got a 500 that nobody foresaw.',
      remedy: 'Read error and stack of the log line with its request id.',
    },
    StartsRefused: {
      metric: metrics.alarms('start_refused'),
      threshold: 1,
      meaning: 'Every submission fails: Step Functions refuses executions for good. Charges are given back.',
      remedy: 'Check the state of the stack and the role of the function; deploy again.',
    },
    StartsUnclear: {
      metric: metrics.of('StartsUnclear'),
      threshold: 10,
      meaning:
        'Creations are accepted and wait: Step Functions does not answer clearly whether it starts them. The reconciler starts them, or refunds them after their deadlines.',
      remedy:
        'Look at the AWS Health Dashboard and at throttled starts; ask AWS for a higher quota if traffic has outgrown it.',
    },
    InternalFailures: {
      metric: metrics.of('CreationsFailed', { by: { failure: 'InternalFailure' } }),
      threshold: 3,
      meaning: 'Customers get "Generation failed." for something of ours, and are refunded.',
      remedy: 'Open one of the executions: the graph shows which state failed.',
    },
    ProvidersUnavailable: {
      metric: metrics.of('CreationsFailed', { by: { failure: 'ServiceUnavailable' } }),
      threshold: 5,
      meaning:
        'Customers get "temporarily unavailable": no provider of their models takes orders. They are refunded.',
      remedy: 'Look at the outcomes by route on the dashboard and at the status pages of the providers.',
    },
    ProviderCredentialsRefused: {
      metric: metrics.alarms('provider_refused_credentials'),
      threshold: 1,
      meaning:
        'A provider refuses our key or our bill; customers get its models from the next route or not at all.',
      remedy: 'Renew key or credit at the provider that the log names.',
    },
    ProviderCircuitOpened: {
      metric: metrics.alarms('provider_circuit_opened'),
      threshold: 1,
      meaning:
        'A provider fails: customers of its models wait a little longer, or get them from the next route. Without a next route their creations fail and are refunded.',
      remedy: 'Run `providers health`, and look at the status page of the provider that the log names.',
    },
    ProviderAnswersUnknown: {
      metric: metrics.alarms('provider_answer_unknown'),
      threshold: 1,
      meaning:
        'A provider answered what its adapter does not know, or no image that can be given out; the creation failed and was refunded.',
      remedy: 'Correct the adapter: the log names provider, model and the kind of answer.',
    },
    CallbacksRefused: {
      metric: metrics.alarms('callback_refused'),
      threshold: 5,
      meaning:
        'Customers wait up to a minute longer: callbacks that came to the right address were not signed by the vendor, or came from another account of the vendor.',
      remedy:
        'Compare the account that the provider is pinned to with the account of its key; look whether the vendor has changed its keys.',
    },
    ProviderCallsBreaking: {
      metric: metrics.alarms('provider_call_broke'),
      threshold: 1,
      meaning:
        'A call to a provider ended in an error that its adapter did not expect; the creation failed and was refunded.',
      remedy: 'Correct the adapter: the log names provider and error.',
    },
    ImagesNotStored: {
      metric: metrics.alarms('image_not_stored'),
      threshold: 1,
      meaning: 'An image was rendered and could not be kept: the customer is refunded, the provider is paid.',
      remedy: 'Check the bucket and the roles of RenderImage, RenderImageSmall and RenderImageLarge.',
    },
    TasksNotEnded: {
      metric: metrics.alarms('task_not_ended'),
      threshold: 1,
      meaning:
        'A customer has the image, but the webhook is late: Step Functions refuses the end of the rendering.',
      remedy:
        'Read the error in the log: a missing grant is a matter of the roles, everything else a defect.',
    },
    WebhookDeliveriesBroken: {
      metric: metrics.alarms('webhook_delivery_broke'),
      threshold: 1,
      meaning: 'A webhook is late for a fault of ours, not of its receiver. It is tried again.',
      remedy: 'Read the error in the log of DeliverWebhook; the encryption secret is the first suspect.',
    },
    WebhookSecretsLost: {
      metric: metrics.alarms('webhook_secret_lost'),
      threshold: 1,
      meaning:
        'A webhook secret that receivers may still hold cannot be opened. Receivers with only that secret cannot verify.',
      remedy:
        'Tell the customer to use the secret issued last; run webhooks reseal, which removes the lost secret.',
    },
  };
}

function moneyAlarms({
  metrics,
  refundCharge,
  auditBooks,
}: Watched): Readonly<Record<string, AlarmDefinition>> {
  return {
    RefundsFailing: {
      metric: refundCharge.metricErrors(fiveMinutes),
      threshold: 3,
      meaning:
        'Customers wait for their money: tries to refund fail. Each is repeated, at last by the reconciler.',
      remedy: 'Read the log of RefundCharge; look for throttles of the table.',
    },
    RefundNotMade: {
      metric: metrics.alarms('refund_not_made'),
      threshold: 1,
      meaning:
        'A customer’s charge could be given back neither by the execution nor by the reconciler; it tries each minute.',
      remedy: 'Look for throttles of the table; refund the creation by hand if it lasts.',
    },
    BooksOutOfBalance: {
      // The audit runs once a day, and the alarm keeps its state until the next audit.
      metric: metrics.of('BooksOutOfBalance', { statistic: Stats.MAXIMUM }),
      threshold: 1,
      missing: TreatMissingData.IGNORE,
      meaning: 'A customer’s balance, or a creation, does not agree with the ledger.',
      remedy: 'Run the audit for the account that the log names; correct by an adjustment with its reason.',
    },
    AuditFailing: {
      metric: auditBooks.metricErrors(fiveMinutes),
      threshold: 1,
      meaning: 'No customer notices; whether the books balance is not known today.',
      remedy: 'Read the log of AuditBooks; run the audit by hand.',
    },
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
      metric: metrics.alarms('reconcile_failed'),
      threshold: 3,
      meaning: 'Creations that are stuck could not be looked at; it is tried again each minute.',
      remedy: 'Read the errors in the log of Reconcile.',
    },
    FunctionsThrottled: {
      metric: sumOf(
        throttled.map((fn) => fn.metricThrottles(fiveMinutes)),
        'throttles',
      ),
      threshold: 1,
      meaning:
        'Customers wait longer, or get a 503: Lambda runs as many functions at once as the account may.',
      remedy:
        'Ask AWS for more concurrent executions; look for another stack in the account that takes them.',
    },
    RequestsShed: {
      metric: metrics.of('RequestsShed'),
      threshold: 10,
      meaning: 'Customers get 503 "busy": the table threw out their requests. Nothing was charged.',
      remedy:
        'Look at the throttles of the table and at charge conflicts: one account may send too much at once.',
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
