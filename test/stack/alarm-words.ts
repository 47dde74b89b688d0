/** The alarms of the template, and what docs/alarms.md says of each in its table. */
import { resourcesOf, wordOf } from './template.ts';

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

/** The formula of a share (lib/alarm-definition.ts). */
const shareForm = /^100 \* \((.+)\) \/ IF\(\((.+)\) > (\d+), \(\2\), \3\)$/;

/** A share: the metrics of its two sums, and the smallest total. Undefined: the alarm watches something else. */
function shareOf(
  alarm: AlarmProperties,
):
  | { readonly bad: readonly MetricOf[]; readonly of: readonly MetricOf[]; readonly smallest: number }
  | undefined {
  const { Metrics: parts = [] } = alarm;
  const formula = parts.find(({ Expression }) => Expression)?.Expression ?? '';
  const [, bad, of, smallest] = shareForm.exec(formula) ?? [];
  if (bad === undefined || of === undefined) return undefined;
  const metricsOf = (sum: string): MetricOf[] =>
    parts.flatMap(({ Id, MetricStat }) =>
      MetricStat && sum.split(' + ').includes(`FILL(${Id}, 0)`) ? [MetricStat.Metric] : [],
    );
  return { bad: metricsOf(bad), of: metricsOf(of), smallest: Number(smallest) };
}

/**
 * What an alarm watches, in the words of the table: metrics that are added up, a share, or a label and a
 * formula.
 */
export function watchesText(alarm: AlarmProperties): string {
  const share = shareOf(alarm);
  if (share) return `${sumText(share.bad)} / ${sumText(share.of)}`;
  const { Expression: formula, Label: label } = alarm.Metrics?.find(({ Expression }) => Expression) ?? {};
  if (formula === undefined || formula === sumOf(alarm)) return sumText(watchedBy(alarm));
  const words = (alarm.Metrics ?? []).reduce(
    (text, { Id, MetricStat }) =>
      MetricStat ? text.replace(new RegExp(`\\b${Id}\\b`, 'g'), metricText(MetricStat.Metric)) : text,
    formula,
  );
  return `${label}: \`${words}\``;
}

/** The formula of a sum of all metrics of an alarm, in which a metric without a value counts as 0. */
function sumOf({ Metrics = [] }: AlarmProperties): string {
  return Metrics.flatMap(({ Id, MetricStat }) => (MetricStat ? [`FILL(${Id}, 0)`] : [])).join(' + ');
}

/** "CreationsFailed with failure: InternalFailure". */
function metricText({ MetricName, Dimensions = [] }: MetricOf): string {
  return Dimensions.reduce((text, { Name, Value }) => `${text} with ${Name}: ${wordOf(Value)}`, MetricName);
}

function sumText(metrics: readonly MetricOf[]): string {
  const names = [...new Set(metrics.map(({ MetricName }) => MetricName))];
  const code = names.map((name) => `\`${name}\``).join(', ');
  const dimensions = metrics.flatMap(({ Dimensions = [] }) => Dimensions);
  const values = dimensions.map(({ Value }) => wordOf(Value).replace('@', ''));
  switch (metrics[0]?.Namespace) {
    case 'AWS/Lambda':
      return values.length === 0 ? `${code} of the account` : `${code} of ${values.join(', ')}`;
    case 'AWS/DynamoDB':
      return `${code} of the table${metrics.length > names.length ? ' and its indexes' : ''}`;
    case 'AWS/ApiGateway':
      return dimensions[0]?.Name === 'ApiId'
        ? `${code} of the API`
        : `${code} of ${values.map((name) => name.replace('Darkroom-', '')).join(', ')}`;
    case 'AWS/States':
      return code;
    default:
      if (names.join() === 'OperatorAlarms') return `event \`${values.join()}\``;
      return dimensions.reduce((text, { Name, Value }) => `${text} with \`${Name}: ${wordOf(Value)}\``, code);
  }
}

/** How a value crosses a threshold, in the words of the table. */
const comparisons: Readonly<Record<string, (threshold: string) => string>> = {
  GreaterThanOrEqualToThreshold: (threshold) => threshold,
  GreaterThanThreshold: (threshold) => `more than ${threshold}`,
  LessThanThreshold: (threshold) => `fewer than ${threshold}`,
  LessThanOrEqualToThreshold: (threshold) => `${threshold} or fewer`,
};

/** The meaning of a period without data, in the words of the table. */
const silences: Readonly<Record<string, string>> = {
  notBreaching: '',
  breaching: ', or no data',
  ignore: ', and stays until the next value',
  missing: ', and is unknown without data',
};

/** From which value on an alarm begins, in the words of the table. Every setting has its words. */
export function fromText(alarm: AlarmProperties): string {
  const [stat] = alarm.Metrics?.flatMap(({ MetricStat }) => MetricStat ?? []) ?? [];
  const { Threshold: threshold, EvaluationPeriods: periods, ComparisonOperator, TreatMissingData } = alarm;
  const statistic = alarm.Statistic ?? alarm.ExtendedStatistic ?? stat?.Stat ?? '';
  const minutes = (alarm.Period ?? stat?.Period ?? 0) / 60;
  const isSum = statistic === 'Sum';
  const repeats = periods === 1 ? '' : `, ${periods} times in a row`;
  const share = shareOf(alarm);
  // The least number is the whole number at which the smallest total has the share.
  if (share)
    return `${threshold} % and at least ${Math.ceil((threshold * share.smallest) / 100)} in ${spanText(minutes)}${repeats}`;
  const isBelowOne = ComparisonOperator === 'LessThanThreshold' && threshold === 1;
  if (isSum && isBelowOne && TreatMissingData === 'breaching')
    return `none for ${spanText(minutes * periods)}`;
  const value = comparisons[ComparisonOperator]?.(threshold.toLocaleString('en-US'));
  const span = statistic === 'Maximum' && minutes === 5 ? '' : ` in ${minutes} min`;
  const kind = isSum || statistic === 'Maximum' ? '' : ` (${statistic})`;
  return `${value}${kind}${span}${repeats}${silences[TreatMissingData]}`;
}

function spanText(minutes: number): string {
  return minutes > 120 ? `${minutes / 60} h` : `${minutes} min`;
}
