import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import {
  alarmMetric,
  metrics,
  type AlarmEvent,
  type MetricDefinition,
  type MetricName,
} from '../service/contract/metrics.ts';
import { routeOutcomes } from '../service/contract/route-outcome.ts';

/** Period, statistic and dimensions of a metric. */
export interface Reading {
  readonly period?: Duration;
  readonly statistic?: string;
  /** The values of the dimensions that service/contract/metrics.ts lists. */
  readonly by?: Readonly<Record<string, string>>;
}

const fiveMinutes = Duration.minutes(5);
const knownOutcomes: readonly string[] = routeOutcomes;

/** The service's own metrics in CloudWatch. All of them are in service/contract/metrics.ts. */
export class ServiceMetrics {
  private readonly namespace: string;

  constructor(namespace: string) {
    this.namespace = namespace;
  }

  /**
   * Throws when the metric does not have these dimensions, or never has this outcome: its graph or alarm
   * would never have data.
   */
  of(name: MetricName, { period = fiveMinutes, statistic = Stats.SUM, by = {} }: Reading = {}): Metric {
    const definitions: readonly MetricDefinition[] = metrics;
    const wanted = Object.keys(by).sort().join();
    const isMeasured = definitions.some(
      (metric) => metric.name === name && metric.dimensions.some((set) => [...set].sort().join() === wanted),
    );
    if (!isMeasured) throw new Error(`the metric ${name} is not measured by ${wanted || 'nothing'}`);
    const { outcome } = by;
    if (name === 'ProviderAnswers' && outcome !== undefined && !knownOutcomes.includes(outcome))
      throw new Error(`no provider answer has the outcome ${outcome}`);
    return new Metric({
      namespace: this.namespace,
      metricName: name,
      dimensionsMap: { ...by },
      period,
      statistic,
      label: Object.values(by).join(' ') || name,
    });
  }

  /** Counts the lines of the log with this alarm event. */
  alarms(event: AlarmEvent, period = fiveMinutes): Metric {
    return new Metric({
      namespace: this.namespace,
      metricName: alarmMetric.name,
      dimensionsMap: { event },
      period,
      statistic: Stats.SUM,
      label: event,
    });
  }

  /** All series of a metric with these dimensions, for every combination of values that occurs. */
  each(name: MetricName, dimensions: readonly string[], statistic: string): MathExpression {
    const schema = [this.namespace, ...dimensions]
      .map((part) => (/^\w+$/.test(part) ? part : `"${part}"`))
      .join(',');
    return new MathExpression({
      expression: `SEARCH('{${schema}} MetricName="${name}"', '${statistic}', 300)`,
      usingMetrics: {},
      label: '',
      period: fiveMinutes,
    });
  }
}
