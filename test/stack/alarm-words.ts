/** The alarms of the template. */
import { resourcesOf } from './template.ts';

export interface MetricOf {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

export interface AlarmProperties extends MetricOf {
  readonly Statistic?: string;
  readonly ExtendedStatistic?: string;
  readonly Period?: number;
  readonly ComparisonOperator: string;
  readonly Threshold: number;
  readonly EvaluationPeriods: number;
  readonly TreatMissingData: string;
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly AlarmActions: readonly unknown[];
  readonly OKActions: readonly unknown[];
  /** Metrics with a label of their own, and the formula that computes with them. */
  readonly Metrics?: readonly {
    readonly Id: string;
    readonly Expression?: string;
    readonly Label?: string;
    readonly MetricStat?: { readonly Metric: MetricOf; readonly Stat: string; readonly Period: number };
  }[];
}

/** The alarms of the template, each with its name without the name of the stack. */
export const alarms = resourcesOf('AWS::CloudWatch::Alarm')
  .map(([, { Properties }]) => Properties as unknown as AlarmProperties)
  .map((alarm) => ({ ...alarm, name: alarm.AlarmName.replace('Darkroom-', '') }));

/** The metrics that an alarm watches. */
export const watchedBy = (alarm: AlarmProperties): readonly MetricOf[] =>
  alarm.Metrics?.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []) ?? [alarm];
