import type { Log } from '../core/ports.ts';

/** One JSON object a line on standard output, which is what CloudWatch Logs indexes. */
export function createJsonLog(component: string, now: () => number): Log {
  const write = (level: 'info' | 'alarm', event: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    console.log(JSON.stringify({ at: new Date(now()).toISOString(), level, component, event, ...fields }));
  };
  return {
    info: (event, fields) => write('info', event, fields),
    alarm: (event, fields) => write('alarm', event, fields),
  };
}
