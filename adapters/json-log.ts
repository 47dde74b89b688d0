import type { Log } from '../core/ports/runtime.ts';
import { embeddedMetrics } from './embedded-metrics.ts';

export interface JsonLogOptions {
  readonly component: string;
  /** The CloudWatch namespace of the metrics. Each deployment has its own. */
  readonly namespace: string;
  readonly now: () => number;
}

/**
 * Writes one JSON object a line, because CloudWatch Logs indexes the fields of such lines. Each line also
 * holds its metrics. The lines bypass the console, because Lambda would wrap console output in further
 * fields.
 */
export function createJsonLog({ component, namespace, now }: JsonLogOptions): Log {
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
