import { describe, expect, it } from 'vitest';
import { forecastFrom, forecastOf } from '../../service/usage/forecast.ts';

const spent = (days: Readonly<Record<string, number>>) =>
  Object.entries(days).map(([day, spentMicros]) => ({ day, spentMicros }));

describe('The forecast of a month', () => {
  it('adds the mean of the last seven whole days for each day that is left', () => {
    const days = Object.fromEntries(
      Array.from({ length: 20 }, (_, place) => [`2026-11-${String(place + 1).padStart(2, '0')}`, 100]),
    );
    // 20 days of 100, and ten more.
    expect(forecastOf(spent(days), '2026-11-20', '2026-01-01')).toEqual({
      spentMicros: 2_000,
      forecastMicros: 3_000,
    });
  });

  it('counts today with the mean at least, and with what was spent when that is more', () => {
    const before = { '2026-11-28': 100, '2026-11-29': 100 };
    const of = (today: number) =>
      forecastOf(spent({ ...before, '2026-11-30': today }), '2026-11-30', '2026-11-28');
    expect(of(0).forecastMicros).toBe(300);
    expect(of(40).forecastMicros).toBe(300);
    expect(of(250).forecastMicros).toBe(450);
  });

  it('counts days of the month before, and no day before the account was created', () => {
    expect([forecastFrom('2026-11-03'), forecastFrom('2026-11-20')]).toEqual(['2026-10-27', '2026-11-01']);
    const days = spent({ '2026-10-30': 0, '2026-10-31': 70, '2026-11-01': 30, '2026-11-02': 0 });
    const { spentMicros, forecastMicros } = forecastOf(days, '2026-11-02', '2026-10-31');
    expect([spentMicros, forecastMicros]).toEqual([30, 30 + 50 + 28 * 50]);
    expect(forecastOf(spent({ '2026-11-02': 9 }), '2026-11-02', '2026-11-02')).toEqual({
      spentMicros: 9,
      forecastMicros: undefined,
    });
  });
});
