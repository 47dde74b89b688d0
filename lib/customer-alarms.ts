/** The alarms of what customers notice: rows of alarm-table.ts. */
import { Duration } from 'aws-cdk-lib';
import {
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import {
  type AlarmRows,
  fiveMinutes,
  inBothWindows,
  oneHour,
  share,
  type AlarmInputs,
} from './alarm-definition.ts';

export function customerAlarms(inputs: AlarmInputs): AlarmRows {
  return { ...requestAlarms(inputs), ...creationAlarms(inputs), ...deliveryAlarms(inputs) };
}

function requestAlarms({ metrics, httpApi, alarms }: AlarmInputs): AlarmRows {
  const requests = [httpApi.metricCount({ period: fiveMinutes.period })];
  const accepted = [metrics.of('CreationsAccepted')];
  return {
    ServerErrors: {
      ...share({ bad: [httpApi.metricServerError(fiveMinutes)], of: requests, percent: 1, least: 5 }),
      meaning:
        'Customers get answers of 500 and above. Some may be creations that failed while the customer waited (Prefer: wait).',
      fix: 'Compare with RequestsFailing and ProvidersUnavailable. If neither is raised, a function died or timed out: the access log has the route and integrationError.',
    },
    ...inBothWindows(
      'RequestsFailing',
      ({ period }) => ({
        bad: [metrics.alarms('request_failed', period)],
        of: [httpApi.metricCount({ period })],
      }),
      {
        percent: 0.1,
        least: 3,
        meaning: 'Customers got a 500 from an unexpected error. A creation that was accepted continues.',
        fix: 'Read error and stack in the log lines with these request ids (requestId). Charges need no correction by hand.',
      },
    ),
    RequestsShed: {
      ...share({ bad: [metrics.of('RequestsShed')], of: requests, percent: 1, least: 10 }),
      meaning: 'Customers get 503 "overloaded", because the table was too busy. Nothing was charged.',
      fix: 'Compare with TableThrottled and TransactionConflicts. If charges of one account conflict (ChargeConflicts), lower its max-concurrent or its post-rate.',
    },
    AcceptSlow: {
      metric: metrics.of('AcceptTime', { statistic: Stats.p(95) }),
      threshold: alarms.acceptMillis,
      periods: 3,
      meaning:
        'Five of 100 customers wait longer than alarms.acceptMillis for the charge and the start of an execution.',
      fix: 'Look at the latency of the table and of Step Functions. Compare with TransactionConflicts, TableThrottled and FunctionsThrottled. If nothing is wrong there, look at the AWS Health Dashboard.',
    },
    StartsRefused: {
      ...share({ bad: [metrics.alarms('start_refused')], of: accepted, percent: 1, least: 3 }),
      meaning:
        'Submissions fail, because Step Functions refuses executions for good: no permission, or no such state machine. Each charge is reversed.',
      fix: 'Check the state of the stack and the role of the function. Then deploy again.',
    },
    StartsUnclear: {
      ...share({ bad: [metrics.of('StartsUnclear')], of: accepted, percent: 1, least: 10 }),
      meaning:
        'Creations are accepted and wait, because Step Functions throttles their starts, fails, or does not answer. The reconciler starts them, the earliest deadline first, and refunds those whose deadline has passed.',
      fix: 'Look at the AWS Health Dashboard and at ThrottledEvents of StartExecution. In an outage of AWS do nothing. If traffic has outgrown the quota, ask AWS for a higher one, then raise startsPerSecond. If another application starts executions, lower startsPerSecond by its share.',
    },
  };
}

function creationAlarms({ metrics, stateMachines, alarms }: AlarmInputs): AlarmRows {
  const accepted = [metrics.of('CreationsAccepted')];
  return {
    CreationsPastDeadline: {
      ...share({ bad: [metrics.alarms('creation_past_deadline')], of: accepted, percent: 0.1, least: 3 }),
      meaning:
        'Customers waited past the deadline. The reconciler failed and refunded the creations, because the executions did not.',
      fix: 'Look at the executions of these creations (executionId) and at the log of RefundCharge.',
    },
    CreationsRecoveredAgain: {
      ...share({
        bad: [metrics.alarms('creation_recovered_again')],
        of: accepted,
        percent: 0.1,
        least: 3,
        period: oneHour.period,
      }),
      meaning: 'Customers wait for creations whose executions died three times or more.',
      fix: 'Run creations show, and find why the executions died. If you cannot repair the cause, run creations refund.',
    },
    ...inBothWindows(
      'ExecutionsFailing',
      (window) => ({
        bad: stateMachines.flatMap((machine) => [
          machine.metricFailed(window),
          machine.metricTimedOut(window),
          machine.metricAborted(window),
        ]),
        of: [metrics.of('CreationsAccepted', window)],
      }),
      {
        percent: 1,
        least: 5,
        meaning:
          'Executions ended before their refunds or webhooks. The reconciler takes up the creations at once: customers wait longer and lose nothing.',
        fix: 'Open a failed execution in the console. Its graph shows the state, and the name of the error is the reason.',
      },
    ),
    ...inBothWindows(
      'InternalFailures',
      (window) => ({
        bad: [metrics.of('CreationsFailed', { ...window, by: { failure: 'InternalFailure' } })],
        of: [metrics.of('CreationsAccepted', window)],
      }),
      {
        percent: 1,
        least: 3,
        meaning:
          'Creations fail with InternalFailure because of a fault of the service. Customers are refunded.',
        fix: 'Open one of the executions: the graph shows which state failed. ImagesNotStored, ProviderAnswersUnknown or ProviderCallsBreaking may report the same fault.',
      },
    ),
    ImagesNotStored: {
      ...share({ bad: [metrics.alarms('image_not_stored')], of: accepted, percent: 0.5, least: 3 }),
      meaning:
        'Images were rendered, and the bucket refused them. Customers are refunded, and you still pay the provider.',
      fix: 'Check the bucket and the roles of RenderImage, RenderImageSmall and RenderImageLarge.',
    },
    ImagesSlow: {
      metric: metrics.of('CreationTime', { statistic: Stats.p(95) }),
      threshold: alarms.imageSeconds * 1_000,
      periods: 3,
      meaning:
        'Five of 100 customers wait longer than alarms.imageSeconds for their images, three times in a row.',
      fix: 'Look at the times of the providers on the dashboard. If no provider became slow, compare with FunctionsThrottled, ExecutionsThrottled and StartsUnclear. If your models usually take this long, raise the setting.',
    },
  };
}

function deliveryAlarms({ metrics }: AlarmInputs): AlarmRows {
  const accepted = [metrics.of('CreationsAccepted')];
  return {
    TasksNotEnded: {
      ...share({ bad: [metrics.alarms('task_not_ended')], of: accepted, percent: 0.5, least: 3 }),
      meaning:
        'Customers have their images, and webhooks are late: Step Functions refuses to end tasks of the callback machine. Each rendering waits a minute for its heartbeat, up to fifteen times.',
      fix: 'Read the error in the log of the renderers and of ReceiveCallback. AccessDeniedException means that a role lacks a permission: check the stack, and deploy again. InvalidToken and InvalidOutput are defects of the service.',
    },
    ...inBothWindows(
      'WebhookDeliveriesBroken',
      (window) => ({
        bad: [metrics.alarms('webhook_delivery_broke', window.period)],
        of: [metrics.of('CreationsAccepted', window)],
      }),
      {
        percent: 0.5,
        least: 3,
        meaning:
          'Webhooks are late because of a fault of the service, not of a receiver. They are sent again.',
        fix: 'Read the error in the logs of the renderers, of ReceiveCallback and of DeliverWebhook. First check whether a secret can no longer be opened: webhooks secret ACCOUNT says so, and webhooks rotate ACCOUNT issues a new one.',
      },
    ),
    WebhookSecretsLost: {
      // No traffic causes this, and no repeat ends this.
      metric: metrics.alarms('webhook_secret_lost'),
      threshold: 1,
      meaning:
        'Webhooks are signed with the current secret only, because a replaced secret cannot be opened. A receiver that holds only the replaced secret cannot verify them, although its 24 h are not over.',
      fix: 'The log names the account and when the secret was issued (issuedAt). Tell the customer to use the secret that webhooks secret ACCOUNT shows. Then run webhooks reseal, which removes the lost secret and ends the alarm.',
    },
  };
}

/** The alarms of what should happen and does not: customers' creations, and those of the canary. */
type TrafficInputs = Pick<AlarmInputs, 'metrics' | 'alarms' | 'canary'>;

/** The alarms that the settings ask for. */
export function trafficAlarms(inputs: TrafficInputs): AlarmRows {
  return { ...trafficGone(inputs), ...canaryAlarm(inputs) };
}

function trafficGone(inputs: TrafficInputs): AlarmRows {
  const { trafficGone: setting } = inputs.alarms;
  if (setting === 'off') return {};
  const texts = {
    meaning: 'Customers do not reach the service, or nobody orders images.',
    fix: 'Call the API from outside. Compare with ServerErrors. Check the DNS of your domain, its certificate, and the 429 of API Gateway in the access log.',
  };
  if (setting === 'anomaly')
    return {
      TrafficGone: {
        metric: inputs.metrics.of('CreationsAccepted'),
        // CloudWatch compares with its own band.
        threshold: 0,
        deviationsBelow: 3,
        periods: 3,
        missing: TreatMissingData.BREACHING,
        ...texts,
      },
    };
  return {
    TrafficGone: {
      metric: customersCreations(inputs, Duration.minutes(setting.minutes)),
      threshold: 1,
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      missing: TreatMissingData.BREACHING,
      ...texts,
    },
  };
}

/** The creations without those of the canary, which would hide that all customers are gone. */
function customersCreations({ metrics, canary }: TrafficInputs, period: Duration): IMetric {
  const accepted = metrics.of('CreationsAccepted', { period });
  if (canary === 'off') return accepted;
  return new MathExpression({
    expression: 'FILL(m0, 0) - FILL(m1, 0)',
    usingMetrics: { m0: accepted, m1: metrics.of('CanarySucceeded', { period }) },
    period,
    label: 'creations of customers',
  });
}

function canaryAlarm({ metrics, canary }: TrafficInputs): AlarmRows {
  if (canary === 'off') return {};
  return {
    CanaryFailing: {
      metric: metrics.of('CanarySucceeded', { period: Duration.minutes(canary.everyMinutes) }),
      threshold: 1,
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      periods: 3,
      missing: TreatMissingData.BREACHING,
      meaning:
        'Customers probably cannot order an image, cannot get it, or are charged wrongly: the canary failed three times in a row.',
      fix: 'Read the event canary_failed in the log of Canary: step and why. A new stack is in this state until you run canary setup.',
    },
  };
}
