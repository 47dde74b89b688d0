/**
 * The alarms, one row each. `meaning` says what the alarm means to a customer, and `fix` what to do first.
 * docs/alarms.md has a row for each alarm; a test compares the page with the template. Another test shows to each
 * alarm ordinary traffic and the fault: ordinary failures raise no alarm (docs/decisions/0023).
 */
import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import {
  type AlarmRows,
  fiveMinutes,
  inBothWindows,
  oneHour,
  share,
  type AlarmInputs,
} from './alarm-definition.ts';
import { customerAlarms, trafficAlarms } from './customer-alarms.ts';
import { paymentAlarms } from './payment-alarms.ts';

/** The alarms of money, of the audit, of erasures and of operator keys: rows of alarm-table.ts. */
function moneyAlarms({ metrics, refundCharge, auditBooks, eraseContent }: AlarmInputs): AlarmRows {
  return {
    RefundsFailing: {
      ...share({
        bad: [refundCharge.metricErrors(fiveMinutes)],
        of: [refundCharge.metricInvocations(fiveMinutes)],
        percent: 20,
        least: 5,
      }),
      meaning:
        'Refunds need several tries, at last by the reconciler. Customers get their money seconds or minutes later.',
      fix: 'Read the log of RefundCharge. refund_busy means a busy table. Any other error is a fault of the service.',
    },
    RefundNotMade: {
      // The reconciler tries once a minute, so three are a charge that stays, or three customers.
      metric: metrics.alarms('refund_not_made'),
      threshold: 3,
      meaning:
        'Neither the execution nor the reconciler could refund a charge, because of conflicts or a busy table. The refund is tried every minute.',
      fix: 'Look for throttles of the table, and for one account that sends very many requests. If this lasts, run creations refund.',
    },
    BooksOutOfBalance: {
      // The audit runs once a day, and the alarm keeps its state until the next audit.
      metric: metrics.of('BooksOutOfBalance', { statistic: Stats.MAXIMUM }),
      threshold: 1,
      missing: TreatMissingData.IGNORE,
      meaning:
        'A balance, the month of a key, or a creation does not agree with the ledger. A customer may have been charged wrongly.',
      fix: 'Run audit --account for the account that the log names. Understand the difference first, then correct it with wallet adjust and a reason. The alarm ends with the next audit that finds no difference.',
    },
    AuditFailing: {
      // Lambda repeats a failed run twice.
      metric: auditBooks.metricErrors(oneHour),
      threshold: 3,
      meaning:
        'Customers notice nothing, but nobody may know today whether the books balance. Lambda repeats a failed run twice.',
      fix: 'Read the log of AuditBooks, then run the command audit. The next start goes on where the progress was stored.',
    },
    AuditOverdue: {
      // CloudWatch evaluates at most seven days when a period is an hour, and one day when it is shorter.
      metric: metrics.of('AuditFinished', oneHour),
      threshold: 1,
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      periods: 26,
      missing: TreatMissingData.BREACHING,
      meaning:
        'Customers notice nothing, but no audit has ended for 26 h, so nobody knows whether the books balance.',
      fix: 'Check that the rule of the audit is enabled, and read the log of AuditBooks. Then run the command audit. A new stack is in this state until its first audit has ended.',
    },
    ErasuresFailing: {
      metric: eraseContent.metricErrors(oneHour),
      threshold: 3,
      meaning:
        'Texts and images that are due for erasure stay longer. Nothing is lost: each start goes on where the last one ended.',
      fix: 'Read the log of EraseContent. If this lasts, check the table, the bucket and the role of the function.',
    },
    OperatorKeysRefused: {
      // An address is blocked after twenty in a minute.
      metric: metrics.of('OperatorKeysRefused'),
      threshold: 10,
      meaning:
        'Customers notice nothing. Somebody tries operator keys, or a back end of yours sends a key that expired or was revoked.',
      fix: 'Read operator_key_refused in the log of OperatorApi: it names the key and why it was refused. Give the back end a new key. The addresses of a stranger are blocked by themselves.',
    },
  };
}

/** The alarms of the vendors: rows of alarm-table.ts. */
function providerAlarms({ metrics }: AlarmInputs): AlarmRows {
  const accepted = [metrics.of('CreationsAccepted')];
  return {
    ...inBothWindows(
      'ProvidersUnavailable',
      (window) => ({
        bad: [metrics.of('CreationsFailed', { ...window, by: { failure: 'ServiceUnavailable' } })],
        of: [metrics.of('CreationsAccepted', window)],
      }),
      {
        percent: 5,
        least: 5,
        meaning:
          'Creations fail with ServiceUnavailable: every provider of their models is down, throttles the service or refuses its key. Customers are refunded.',
        fix: 'Look at the answers by route on the dashboard and at the status pages of the providers. A further route in the catalog is the lasting solution.',
      },
    ),
    ProviderCredentialsRefused: {
      // A number and no share: with an open circuit only a few calls an hour reach the vendor.
      metric: metrics.alarms('provider_refused_credentials', oneHour.period),
      threshold: 3,
      meaning:
        'A provider answered 401, 402 or 403: your key or your credit is the cause. The next route renders its models. Without a next route, creations fail with ServiceUnavailable.',
      fix: 'Renew the key or the credit at the provider that the log names.',
    },
    ProviderCircuitOpened: {
      // The circuit itself opens at a share: when half of the calls of a minute fail.
      metric: metrics.alarms('provider_circuit_opened'),
      threshold: 1,
      meaning:
        'Half of the calls of a route failed in a minute. Creations ask their other routes first. Creations of a model without another route take longer, or fail and are refunded.',
      fix: 'Run providers health, and look at the status page of the provider that the log names. Nothing has to be switched back. If the circuit opens again and again, remove the provider or change the order of the routes.',
    },
    ProviderAnswersUnknown: {
      ...share({
        bad: [metrics.alarms('provider_answer_unknown', oneHour.period)],
        of: accepted,
        percent: 0.5,
        least: 3,
        period: oneHour.period,
      }),
      meaning:
        'A provider gives answers that its adapter does not know, or no images that can be delivered. The creations failed with InternalFailure and were refunded.',
      fix: 'Correct the adapter. The log names the provider, the model and the kind of answer (detail).',
    },
    ProviderCallsBreaking: {
      ...share({
        bad: [metrics.alarms('provider_call_broke', oneHour.period)],
        of: accepted,
        percent: 0.5,
        least: 3,
        period: oneHour.period,
      }),
      meaning:
        'Calls to a provider end in errors that its adapter did not expect. The creations failed with InternalFailure and were refunded.',
      fix: 'Correct the adapter. The log names the provider and the error.',
    },
    CallbacksRefused: {
      ...share({ bad: [metrics.alarms('callback_refused')], of: accepted, percent: 1, least: 5 }),
      meaning:
        'Callbacks came to the right addresses, but were not signed by the vendor, or came from another account of the vendor. If they were genuine, customers of this vendor wait up to a minute longer.',
      fix: 'Read why in the log. Account: compare the account of the callbacks with the account of your key. Signature: check whether the vendor has changed its keys or its scheme. Time: check the clock of the vendor.',
    },
  };
}

/** The alarms of the OpenAI-shaped endpoint and of MCP: rows of alarm-table.ts. */
function streamAlarms({ streaming: { apis, holding } }: Pick<AlarmInputs, 'streaming'>): AlarmRows {
  return {
    StreamServerErrors: {
      ...share({
        bad: apis.map((api) => api.metricServerError(fiveMinutes)),
        of: apis.map((api) => api.metricCount({ period: fiveMinutes.period })),
        percent: 2,
        least: 5,
      }),
      meaning:
        'Customers of the OpenAI-shaped endpoint or of MCP get answers of 500 and above. Some may be images that failed, or that took longer than 285 s: such a client gets 504, and its next try gets the image without a second charge.',
      fix: 'Compare with RequestsFailing, HeldRequestsRefused and ProvidersUnavailable. If none is raised, read the access log. Many 504 mean a slow provider. Many 503 with integrationError mean that a function died or timed out.',
    },
    HeldRequestsRefused: {
      ...share({
        bad: holding.map((fn) => fn.metricThrottles(fiveMinutes)),
        of: holding.map((fn) => fn.metricInvocations(fiveMinutes)),
        percent: 1,
        least: 5,
      }),
      meaning:
        'Customers of the OpenAI-shaped endpoint or of MCP get a 503 with Retry-After, because as many requests are held as the setting heldRequests allows. Nothing was charged.',
      fix: 'See on the dashboard whether a provider has become slow. Otherwise raise heldRequests. If fewer than 100 executions would be left unreserved, ask AWS for more before.',
    },
  };
}

/** Every alarm, by its name. */
export function alarmTable(inputs: AlarmInputs): AlarmRows {
  return {
    ...customerAlarms(inputs),
    ...providerAlarms(inputs),
    ...streamAlarms(inputs),
    ...moneyAlarms(inputs),
    ...paymentAlarms(inputs),
    ...capacityAlarms(inputs),
    ...limitAlarms(inputs),
    ...trafficAlarms(inputs),
  };
}

function capacityAlarms({ metrics, throttled, serviceCapacity }: AlarmInputs): AlarmRows {
  return {
    ReconcilerNotRunning: {
      metric: metrics.of('ReconcilerRuns', { period: Duration.minutes(1) }),
      threshold: 1,
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      periods: 5,
      missing: TreatMissingData.BREACHING,
      meaning:
        'A creation that is stuck stays stuck: nothing is restarted or refunded in time. The service also uses an old count for its capacity.',
      fix: 'Check that the rule EveryMinute is enabled, and read the log of Reconcile. A new stack is in this state for its first minutes.',
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
      fix: 'Read the errors in the log of Reconcile. If the table is busy, RequestsShed shows this too. NewerRelease means that a newer release has accepted the creation: deploy that release again.',
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
      fix: 'Ask AWS for more concurrent executions, or change the setting concurrency. Check whether another stack in the account uses them.',
    },
    CapacityNearlyUsed: {
      metric: metrics.of('OpenCreations', { statistic: Stats.MAXIMUM }),
      // Four fifths of the capacity, which leaves time to ask AWS for more.
      threshold: Math.max(1, Math.floor((serviceCapacity * 4) / 5)),
      meaning:
        'Soon customers get 429 with the scope "service": four fifths of serviceCapacity are open creations.',
      fix: 'Look at the providers on the dashboard: a slow provider fills the capacity. Otherwise raise serviceCapacity together with the quotas of Lambda.',
    },
  };
}

/** The limits of AWS. */
function limitAlarms({ metrics, stateMachines, table, alarms, reservedExecutions }: AlarmInputs): AlarmRows {
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
      fix: 'See on the dashboard whether a provider has become slow. Otherwise ask AWS for more concurrent executions, and then raise the setting alarms.concurrentExecutions.',
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
      fix: 'Ask AWS for a higher quota of StateTransition. Look for other state machines in the account and region that use this quota.',
    },
    TableThrottled: {
      ...share({ bad: table.throttles, of: accepted, percent: 5, least: 50 }),
      periods: 2,
      meaning: 'Customers wait longer or get a 503, because the table or an index throttles reads or writes.',
      fix: 'See on the dashboard whether the table or an index is full. A new table takes 4,000 write units a second, and doubles by itself within half an hour. If traffic has outgrown the quota (40,000 write units a second), ask AWS for more. If one account sends most of the traffic, lower its post-rate.',
    },
    TransactionConflicts: {
      ...share({ bad: [table.conflicts], of: accepted, percent: 50, least: 100 }),
      periods: 2,
      meaning: 'Customers wait longer or get a 503, because the charges of one account wait for each other.',
      fix: 'Find the account that sends most (ChargeConflicts on the dashboard, and the log of GenerateImage). Lower its max-concurrent or its post-rate, or let the customer use several accounts.',
    },
  };
}
