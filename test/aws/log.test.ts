import { describe, expect, it } from 'vitest';
import { embeddedMetrics } from '../../service/aws/log.ts';
import { alarmEvents, type MetricDefinition, metrics } from '../../service/contract/metrics.ts';

const at = Date.UTC(2026, 10, 21, 12);
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

  it('The line of an alarm is counted by its event', () => {
    expect(
      embeddedMetrics('Darkroom-staging', at, { event: 'start_refused', level: 'alarm', fields: {} }),
    ).toEqual({
      OperatorAlarms: 1,
      _aws: {
        Timestamp: at,
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

  it('The line of any other event gets no further members', () => {
    expect(
      embeddedMetrics('Darkroom', at, {
        event: 'creation_recovered',
        level: 'info',
        fields: { recovery: 1 },
      }),
    ).toEqual({});
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
    expect(
      embeddedMetrics('Darkroom', at, {
        event: 'webhook_attempted',
        level: 'info',
        fields: { outcome: undefined },
      }),
    ).toEqual({});
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
