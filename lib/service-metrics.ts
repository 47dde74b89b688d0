import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import {
  alarmMetric,
  metrics,
  type AlarmEvent,
  type MetricDefinition,
  type MetricName,
} from '../core/metrics.ts';

/** How a metric is summed up over its period. */
export interface Reading {
  readonly period?: Duration;
  readonly statistic?: string;
  /** Values of its dimensions, as core/metrics.ts lists them. */
  readonly by?: Readonly<Record<string, string>>;
}

const fiveMinutes = Duration.minutes(5);

/** The service's own metrics in CloudWatch: those of core/metrics.ts and no others. */
export class ServiceMetrics {
  private readonly namespace: string;

  constructor(namespace: string) {
    this.namespace = namespace;
  }

  /** Throws for dimensions by which the metric is not told apart: such a graph would stay empty. */
  of(name: MetricName, { period = fiveMinutes, statistic = Stats.SUM, by = {} }: Reading = {}): Metric {
    const definitions: readonly MetricDefinition[] = metrics;
    const wanted = Object.keys(by).sort().join();
    const isMeasured = definitions.some(
      (metric) => metric.name === name && metric.dimensions.some((set) => [...set].sort().join() === wanted),
    );
    if (!isMeasured) throw new Error(`the metric ${name} is not measured by ${wanted || 'nothing'}`);
    return new Metric({
      namespace: this.namespace,
      metricName: name,
      dimensionsMap: { ...by },
      period,
      statistic,
      label: Object.values(by).join(' ') || name,
    });
  }

  /** How often something was logged that an operator has to look at. */
  alarms(event: AlarmEvent): Metric {
    return new Metric({
      namespace: this.namespace,
      metricName: alarmMetric.name,
      dimensionsMap: { event },
      period: fiveMinutes,
      statistic: Stats.SUM,
      label: event,
    });
  }

  /** Every series of a metric that is told apart by these dimensions, whatever values there are. */
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
