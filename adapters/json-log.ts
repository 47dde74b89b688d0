import type { Log } from '../core/ports/runtime.ts';
import { embeddedMetrics } from './embedded-metrics.ts';

export interface JsonLogOptions {
  readonly component: string;
  /** Under which CloudWatch keeps the metrics: one of this deployment's own. */
  readonly namespace: string;
  readonly now: () => number;
}

/**
 * One JSON object a line, which is what CloudWatch Logs indexes, with the metrics that it
 * counts as. Past the console, whose lines Lambda would wrap in fields of its own.
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
