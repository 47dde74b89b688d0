/** An alarm is billed for each metric that it reads. */
import { describe, expect, it } from 'vitest';
import { billedMetrics } from '../../lab/cost/standing.ts';
import { alarms, alarmsOf } from '../stack/alarm-words.ts';

const billed = (name: string): number | undefined => {
  const alarm = alarms.find((known) => known.name === name);
  return alarm && billedMetrics(alarm);
};

describe('The bill of an alarm', () => {
  it.each([
    ['of one metric', 'AcceptSlow', 1],
    ['of a share of two metrics', 'RefundsFailing', 2],
    ['of six metrics as a share of a seventh', 'TableThrottled', 7],
  ])('An alarm %s is billed for each metric', (_what, name, count) => {
    expect(billed(name)).toBe(count);
  });

  it('An alarm on a learned band is billed for its metric and for the two edges of the band', () => {
    const [learned] = alarmsOf({ alarms: { trafficGone: 'anomaly' } });
    expect(learned?.name).toBe('TrafficGone');
    expect(billedMetrics(learned)).toBe(3);
  });

  it('An alarm of CloudWatch reads ten metrics at most', () => {
    for (const alarm of alarms) expect(billedMetrics(alarm), alarm.name).toBeLessThanOrEqual(10);
  });
});
