/** The spend of an account at the end of a month, if the next days are like the last seven. */
import { asMicros, type Micros } from '../values/money.ts';
import { dayBefore } from './day-sums.ts';

const meanOfDays = 7;

export interface SpentDay {
  /** "2026-11-21", in UTC. */
  readonly day: string;
  readonly spentMicros: number;
}

export interface Forecast {
  readonly spentMicros: Micros;
  /** Undefined: the account has no whole day yet. */
  readonly forecastMicros: Micros | undefined;
}

/** The first day whose spend the forecast needs. */
export function forecastFrom(today: string): string {
  let first = today;
  for (let count = 0; count < meanOfDays; count += 1) first = dayBefore(first);
  return first < `${today.slice(0, 7)}-01` ? first : `${today.slice(0, 7)}-01`;
}

/**
 * The spend so far, plus the mean of the last whole days for each remaining day. Today adds the part of the
 * mean that it has not spent.
 * @param since the day on which the account was opened: earlier days do not count as days without spend
 */
export function forecastOf(days: readonly SpentDay[], today: string, since: string): Forecast {
  const month = today.slice(0, 7);
  const sumOf = (some: readonly SpentDay[]): number =>
    some.reduce((sum, { spentMicros }) => sum + spentMicros, 0);
  const spent = sumOf(days.filter(({ day }) => day.startsWith(month)));
  const whole = days.filter(({ day }) => day < today && day >= since).slice(-meanOfDays);
  if (whole.length === 0) return { spentMicros: asMicros(spent), forecastMicros: undefined };
  const mean = sumOf(whole) / whole.length;
  const ofToday = sumOf(days.filter(({ day }) => day === today));
  const left = daysIn(month) - Number(today.slice(8));
  const rest = Math.max(0, mean - ofToday) + mean * left;
  return { spentMicros: asMicros(spent), forecastMicros: asMicros(Math.round(spent + rest)) };
}

function daysIn(month: string): number {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 0)).getUTCDate();
}
