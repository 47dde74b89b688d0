/** The alarms of what customers notice: rows of alarm-table.ts. */
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import {
  fiveMinutes,
  inBothWindows,
  oneHour,
  share,
  type AlarmDefinition,
  type Watched,
} from './alarm-definition.ts';

export function customerAlarms(watched: Watched): Readonly<Record<string, AlarmDefinition>> {
  return { ...requestAlarms(watched), ...creationAlarms(watched), ...deliveryAlarms(watched) };
}

function requestAlarms({ metrics, httpApi, alarms }: Watched): Readonly<Record<string, AlarmDefinition>> {
  const requests = [httpApi.metricCount({ period: fiveMinutes.period })];
  const accepted = [metrics.of('CreationsAccepted')];
  return {
    ServerErrors: {
      ...share({ bad: [httpApi.metricServerError(fiveMinutes)], of: requests, percent: 1, least: 5 }),
      meaning:
        'Customers get answers of 500 and above. Part of them may be creations that failed while they waited.',
      remedy: 'Compare with RequestsFailing and ProvidersUnavailable; read the access log for the route.',
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
        meaning: 'Customers got a 500 that nobody foresaw.',
        remedy: 'Read error and stack of the log lines with their request ids.',
      },
    ),
    RequestsShed: {
      ...share({ bad: [metrics.of('RequestsShed')], of: requests, percent: 1, least: 10 }),
      meaning: 'Customers get 503 "busy": the table threw out their requests. Nothing was charged.',
      remedy: 'Compare with TableThrottled and TransactionConflicts: one account may send too much at once.',
    },
    AcceptSlow: {
      metric: metrics.of('AcceptTime', { statistic: Stats.p(95) }),
      threshold: alarms.acceptMillis,
      periods: 3,
      meaning: 'Customers wait long for their 202: the charge or the start of an execution takes long.',
      remedy: 'Look at the latency of the table and of Step Functions, and at TransactionConflicts.',
    },
    StartsRefused: {
      ...share({ bad: [metrics.alarms('start_refused')], of: accepted, percent: 1, least: 3 }),
      meaning: 'Submissions fail: Step Functions refuses executions for good. Charges are given back.',
      remedy: 'Check the state of the stack and the role of the function; deploy again.',
    },
    StartsUnclear: {
      ...share({ bad: [metrics.of('StartsUnclear')], of: accepted, percent: 1, least: 10 }),
      meaning:
        'Creations are accepted and wait: Step Functions does not answer clearly whether it starts them. The reconciler starts them, or refunds them after their deadlines.',
      remedy:
        'Look at the AWS Health Dashboard and at throttled starts; ask AWS for a higher quota if traffic has outgrown it.',
    },
  };
}

function creationAlarms({
  metrics,
  stateMachines,
  alarms,
}: Watched): Readonly<Record<string, AlarmDefinition>> {
  const accepted = [metrics.of('CreationsAccepted')];
  return {
    CreationsPastDeadline: {
      ...share({ bad: [metrics.alarms('creation_past_deadline')], of: accepted, percent: 0.1, least: 3 }),
      meaning:
        'Customers waited past the deadline and were refunded by the reconciler, since the executions did not.',
      remedy: 'Look at the executions of the creations and at the log of RefundCharge.',
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
      remedy: 'Find why they die; refund the creations if it cannot be helped.',
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
          'Executions ended without a refund or a webhook that was due; the reconciler takes their creations up at once.',
        remedy: 'Open a failed execution: its graph names the reason.',
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
        meaning: 'Customers get "Generation failed." for something of ours, and are refunded.',
        remedy: 'Open one of the executions: the graph shows which state failed.',
      },
    ),
    ImagesNotStored: {
      ...share({ bad: [metrics.alarms('image_not_stored')], of: accepted, percent: 0.5, least: 3 }),
      meaning: 'Images were rendered and could not be kept: customers are refunded, the provider is paid.',
      remedy: 'Check the bucket and the roles of RenderImage, RenderImageSmall and RenderImageLarge.',
    },
    ImagesSlow: {
      metric: metrics.of('CreationTime', { statistic: Stats.p(95) }),
      threshold: alarms.imageSeconds * 1_000,
      periods: 3,
      meaning: 'Customers wait long for their images.',
      remedy:
        'Compare the times of the providers on the dashboard with FunctionsThrottled and StartsUnclear.',
    },
  };
}

function deliveryAlarms({ metrics }: Watched): Readonly<Record<string, AlarmDefinition>> {
  const accepted = [metrics.of('CreationsAccepted')];
  return {
    TasksNotEnded: {
      ...share({ bad: [metrics.alarms('task_not_ended')], of: accepted, percent: 0.5, least: 3 }),
      meaning:
        'Customers have their images, but webhooks are late: Step Functions refuses the end of renderings.',
      remedy:
        'Read the error in the log: a missing grant is a matter of the roles, everything else a defect.',
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
        meaning: 'Webhooks are late for a fault of ours, not of their receivers. They are tried again.',
        remedy: 'Read the error in the log of DeliverWebhook; the encryption secret is the first suspect.',
      },
    ),
    WebhookSecretsLost: {
      // No traffic causes this, and no repeat ends this.
      metric: metrics.alarms('webhook_secret_lost'),
      threshold: 1,
      meaning:
        'A webhook secret that receivers may still hold cannot be opened. Receivers with only that secret cannot verify.',
      remedy:
        'Tell the customer to use the secret issued last; run webhooks reseal, which removes the lost secret.',
    },
  };
}
