/** The alarms of the template. */
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { makeAlarm } from '../../lib/alarms.ts';
import { ServiceMetrics } from '../../lib/service-metrics.ts';
import { parseSettings, type SettingsInput } from '../../lib/settings.ts';
import { trafficAlarms } from '../../lib/customer-alarms.ts';
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

/** The alarms that only settings add, as CloudFormation gets them. */
type Named = AlarmProperties & { readonly name: string };

/** The alarms of a stack that holds nothing else. */
export function alarmsOf(settings: Pick<SettingsInput, 'alarms' | 'canary'>): readonly Named[] {
  const stack = new Stack(new App(), 'Darkroom');
  const metrics = new ServiceMetrics('Darkroom');
  const { alarms, canary } = parseSettings('test', settings);
  for (const [name, definition] of Object.entries(trafficAlarms({ metrics, alarms, canary })))
    makeAlarm(stack, name, definition);
  const found = Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm') as Readonly<
    Record<string, { readonly Properties: AlarmProperties }>
  >;
  return Object.values(found).map(({ Properties }) => ({
    ...Properties,
    name: Properties.AlarmName.replace('Darkroom-', ''),
  }));
}

/** The canary runs every five minutes, and customers order something at least twice an hour. */
export const optionalAlarms = alarmsOf({
  alarms: { trafficGone: { minutes: 30 } },
  canary: { everyMinutes: 5 },
});
