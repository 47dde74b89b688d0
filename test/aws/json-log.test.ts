/** The lines of the log, as they go to the standard output. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createJsonLog } from '../../service/aws/log.ts';

const at = Date.UTC(2026, 10, 21, 12, 0, 30, 7);
afterEach(() => vi.restoreAllMocks());

/** What one use of the log writes. */
function written(use: (log: ReturnType<typeof createJsonLog>) => void): string[] {
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    lines.push(String(text));
    return true;
  });
  use(createJsonLog({ component: 'render-image', namespace: 'Darkroom', now: () => at }));
  vi.restoreAllMocks();
  return lines;
}

describe('A line of the log', () => {
  it('A line is one JSON object with time, level, component, event and fields, in this order', () => {
    expect(written((log) => log.info('creation_recovered', { recovery: 1, account: 'a' }))).toEqual([
      '{"at":"2026-11-21T12:00:30.007Z","level":"info","component":"render-image","event":"creation_recovered","recovery":1,"account":"a"}\n',
    ]);
  });

  it('A line needs no fields', () => {
    expect(written((log) => log.info('creation_recovered'))).toEqual([
      '{"at":"2026-11-21T12:00:30.007Z","level":"info","component":"render-image","event":"creation_recovered"}\n',
    ]);
  });

  it('The line of an alarm has its level, and holds the metric that counts it', () => {
    const [line] = written((log) => log.alarm('start_refused', { why: 'no grant' }));
    expect(JSON.parse(line ?? '')).toEqual({
      at: '2026-11-21T12:00:30.007Z',
      level: 'alarm',
      component: 'render-image',
      event: 'start_refused',
      why: 'no grant',
      OperatorAlarms: 1,
      _aws: {
        Timestamp: at,
        CloudWatchMetrics: [
          {
            Namespace: 'Darkroom',
            Dimensions: [['event']],
            Metrics: [{ Name: 'OperatorAlarms', Unit: 'Count' }],
          },
        ],
      },
    });
  });
});
