/**
 * CloudWatch's embedded metric format: a line of the log that says which of its members
 * are metrics. CloudWatch takes them out of the log by itself, without a call of ours and
 * without a grant (CloudWatch Logs user guide, "Embedded metric format specification").
 */
import { alarmMetric, metrics, type MetricDefinition } from '../core/metrics.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface LoggedEvent {
  readonly event: string;
  readonly level: 'info' | 'alarm';
  readonly fields: Fields;
}

/** What a line has to hold beside its fields so that its metrics are counted; nothing when it has none. */
export function embeddedMetrics(
  namespace: string,
  nowMillis: number,
  logged: LoggedEvent,
): Record<string, unknown> {
  const measured = definitionsOf(logged).flatMap((definition) => {
    const value = definition.field === undefined ? 1 : logged.fields[definition.field];
    return typeof value === 'number' && Number.isFinite(value) ? [{ definition, value }] : [];
  });
  if (measured.length === 0) return {};
  return {
    ...Object.fromEntries(measured.map(({ definition, value }) => [definition.name, value])),
    _aws: {
      Timestamp: nowMillis,
      // One directive for all that have the same dimensions: each byte of a line is billed.
      CloudWatchMetrics: [
        ...Map.groupBy(measured, ({ definition }) => JSON.stringify(definition.dimensions)).values(),
      ].map((alike) => ({
        Namespace: namespace,
        Dimensions: alike[0]?.definition.dimensions,
        Metrics: alike.map(({ definition: { name, unit } }) => ({ Name: name, Unit: unit })),
      })),
    },
  };
}

/** Those whose dimensions the event has: CloudWatch drops a metric with one that is missing. */
function definitionsOf({ event, level, fields }: LoggedEvent): Omit<MetricDefinition, 'event'>[] {
  const counted: readonly MetricDefinition[] = metrics;
  const own = counted.filter(
    (metric) =>
      metric.event === event && metric.dimensions.flat().every((name) => typeof fields[name] === 'string'),
  );
  return level === 'alarm' ? [...own, alarmMetric] : own;
}
