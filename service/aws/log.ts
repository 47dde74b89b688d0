/**
 * CloudWatch's embedded metric format: a line of the log says which of its fields are metrics. CloudWatch
 * reads the metrics from the log, so that the service needs no call and no permission for them (CloudWatch
 * Logs user guide, "Embedded metric format specification").
 */
import { alarmMetric, type MetricDefinition, metrics } from '../contract/metrics.ts';
import type { AnyLog } from '../values/runtime.ts';

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

/** The metrics of an event, without those that miss a dimension: CloudWatch would drop them silently. */
function definitionsOf({ event, level, fields }: LoggedEvent): Omit<MetricDefinition, 'event'>[] {
  const counted: readonly MetricDefinition[] = metrics;
  const own = counted.filter(
    (metric) =>
      metric.event === event && metric.dimensions.flat().every((name) => typeof fields[name] === 'string'),
  );
  return level === 'alarm' ? [...own, alarmMetric] : own;
}

export interface JsonLogOptions {
  readonly component: string;
  /** The CloudWatch namespace of the metrics. Each deployment has its own. */
  readonly namespace: string;
  readonly now: () => number;
}

/** Writes a JSON object a line with its metrics, past the console, which Lambda would wrap. */
export function createJsonLog({ component, namespace, now }: JsonLogOptions): AnyLog {
  const write = (
    level: 'info' | 'alarm',
    event: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): void => {
    const at = now();
    const metrics = embeddedMetrics(namespace, at, { event, level, fields });
    process.stdout.write(
      `${JSON.stringify({ at: new Date(at).toISOString(), level, component, event, ...fields, ...metrics })}\n`,
    );
  };
  return {
    info: (event, fields) => write('info', event, fields),
    alarm: (event, fields) => write('alarm', event, fields),
  };
}
