import type { Log } from '../core/ports.ts';

/**
 * One JSON object a line, which is what CloudWatch Logs indexes. Past the console, whose
 * lines Lambda would wrap in fields of its own.
 */
export function createJsonLog(component: string, now: () => number): Log {
  const write = (level: 'info' | 'alarm', event: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    process.stdout.write(`${JSON.stringify({ at: new Date(now()).toISOString(), level, component, event, ...fields })}\n`);
  };
  return {
    info: (event, fields) => write('info', event, fields),
    alarm: (event, fields) => write('alarm', event, fields),
  };
}
