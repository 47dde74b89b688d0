import { describe, expect, it, afterEach, vi } from 'vitest';
import { embeddedMetrics, createJsonLog } from '../../service/aws/log.ts';
import { alarmEvents, type MetricDefinition, metrics } from '../../service/contract/metrics.ts';

const at = Date.UTC(2026, 10, 21, 12, 0, 30);
const definitions: readonly MetricDefinition[] = metrics;

describe('A line of the log', () => {
  it('The line of a counted event holds its metrics in the form that CloudWatch reads', () => {
    expect(
      embeddedMetrics('Darkroom', at, {
        event: 'creation_failed',
        level: 'info',
        fields: { failure: 'NothingRendered', refundedMicros: 40_000 },
      }),
    ).toEqual({
      CreationsFailed: 1,
      RefundedMicros: 40_000,
      _aws: {
        Timestamp: at,
        CloudWatchMetrics: [
          {
            Namespace: 'Darkroom',
            Dimensions: [[], ['failure']],
            Metrics: [{ Name: 'CreationsFailed', Unit: 'Count' }],
          },
          { Namespace: 'Darkroom', Dimensions: [[]], Metrics: [{ Name: 'RefundedMicros', Unit: 'None' }] },
        ],
      },
    });
  });

  it('A line counts a value of 0, and leaves out a value that is missing or not a number', () => {
    const measured = (fields: object): string[] =>
      Object.keys(
        embeddedMetrics('Darkroom', at, { event: 'reconciled', level: 'info', fields: { ...fields } }),
      ).filter((name) => name !== '_aws');
    expect(measured({ looked: 0, open: 7, refunded: NaN })).toEqual([
      'ReconcilerRuns',
      'ReconcilerLooked',
      'OpenCreations',
    ]);
  });

  it('A line leaves out a metric with a missing dimension, because CloudWatch would drop it silently', () => {
    const attempted = { event: 'webhook_attempted', level: 'info', fields: { outcome: undefined } } as const;
    expect(embeddedMetrics('Darkroom', at, attempted)).toEqual({});
  });
});

describe('The table of metrics', () => {
  it('Each name belongs to one event only', () => {
    const names = definitions.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('No metric has a name that a field of the log could have', () => {
    for (const { name } of definitions) expect(name).toMatch(/^[A-Z]/);
    for (const event of alarmEvents) expect(event).toMatch(/^[a-z_]+$/);
  });
});

afterEach(() => vi.restoreAllMocks());

/** What one use of the log writes. */
function written(use: (log: ReturnType<typeof createJsonLog>) => void): string[] {
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    lines.push(String(text));
    return true;
  });
  use(createJsonLog({ component: 'render-image', namespace: 'Darkroom-staging', now: () => at + 7 }));
  vi.restoreAllMocks();
  return lines;
}

describe('A line of the log', () => {
  it.each([
    [{ recovery: 1, account: 'a' }, ',"recovery":1,"account":"a"'],
    [undefined, ''],
  ])(
    'A line is one JSON object with time, level, component, event and the fields %j, in this order',
    (fields, text) => {
      expect(written((log) => log.info('creation_recovered', fields))).toEqual([
        `{"at":"2026-11-21T12:00:30.007Z","level":"info","component":"render-image","event":"creation_recovered"${text}}\n`,
      ]);
    },
  );

  it('The line of an alarm has its level, and holds the metric that counts it by its event', () => {
    const [line] = written((log) => log.alarm('start_refused', { why: 'no grant' }));
    expect(JSON.parse(line ?? '')).toEqual({
      at: '2026-11-21T12:00:30.007Z',
      level: 'alarm',
      component: 'render-image',
      event: 'start_refused',
      why: 'no grant',
      OperatorAlarms: 1,
      _aws: {
        Timestamp: at + 7,
        CloudWatchMetrics: [
          {
            Namespace: 'Darkroom-staging',
            Dimensions: [['event']],
            Metrics: [{ Name: 'OperatorAlarms', Unit: 'Count' }],
          },
        ],
      },
    });
  });
});
