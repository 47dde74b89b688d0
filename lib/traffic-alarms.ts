/** The alarms of what should happen and does not: customers' creations, and those of the canary. */
import { Duration } from 'aws-cdk-lib';
import {
  ComparisonOperator,
  MathExpression,
  TreatMissingData,
  type IMetric,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { AlarmDefinition, Watched } from './alarm-definition.ts';

type TrafficWatched = Pick<Watched, 'metrics' | 'alarms' | 'canary'>;

/** The alarms that the settings ask for. */
export function trafficAlarms(watched: TrafficWatched): Readonly<Record<string, AlarmDefinition>> {
  return { ...trafficGone(watched), ...canaryAlarm(watched) };
}

function trafficGone(watched: TrafficWatched): Readonly<Record<string, AlarmDefinition>> {
  const { trafficGone: setting } = watched.alarms;
  if (setting === 'off') return {};
  const texts = {
    meaning: 'Customers do not reach the service, or nobody orders images.',
    remedy:
      'Call the API from outside. Compare with ServerErrors. Check the DNS of your domain, its certificate, and the 429 of API Gateway in the access log.',
  };
  if (setting === 'anomaly')
    return {
      TrafficGone: {
        metric: watched.metrics.of('CreationsAccepted'),
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
      metric: customersCreations(watched, Duration.minutes(setting.minutes)),
      threshold: 1,
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      missing: TreatMissingData.BREACHING,
      ...texts,
    },
  };
}

/** The creations without those of the canary, which would hide that all customers are gone. */
function customersCreations({ metrics, canary }: TrafficWatched, period: Duration): IMetric {
  const accepted = metrics.of('CreationsAccepted', { period });
  if (canary === 'off') return accepted;
  return new MathExpression({
    expression: 'FILL(m0, 0) - FILL(m1, 0)',
    usingMetrics: { m0: accepted, m1: metrics.of('CanarySucceeded', { period }) },
    period,
    label: 'creations of customers',
  });
}

function canaryAlarm({ metrics, canary }: TrafficWatched): Readonly<Record<string, AlarmDefinition>> {
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
      remedy:
        'Read the event canary_failed in the log of Canary: step and why. A new stack is in this state until you run canary setup.',
    },
  };
}
