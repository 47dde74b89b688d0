/**
 * CloudWatch's embedded metric format: a line of the log says which of its fields are metrics. CloudWatch
 * reads the metrics from the log, so that the service needs no call and no permission for them (CloudWatch
 * Logs user guide, "Embedded metric format specification").
 */
import { alarmMetric, metrics, type MetricDefinition } from '../core/metrics.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface LoggedEvent {
  readonly event: string;
  readonly level: 'info' | 'alarm';
  readonly fields: Fields;
}

/** The further members of a line that make CloudWatch count its metrics. A line without metrics gets none. */
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
      // CloudWatch bills each byte of a line, so metrics with the same dimensions share one directive.
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

/**
 * The metrics of an event. A metric with a missing dimension is left out, because CloudWatch would drop it
 * silently.
 */
function definitionsOf({ event, level, fields }: LoggedEvent): Omit<MetricDefinition, 'event'>[] {
  const counted: readonly MetricDefinition[] = metrics;
  const own = counted.filter(
    (metric) =>
      metric.event === event && metric.dimensions.flat().every((name) => typeof fields[name] === 'string'),
  );
  return level === 'alarm' ? [...own, alarmMetric] : own;
}
