/** Amounts in USD and times, in words. */

/** An amount has two digits after the decimal point at least, and this many at most. */
const most = 6;

/** How many digits after the decimal point an amount has: 2 to 6. */
function digitsOf(amount: number): number {
  const text = amount.toFixed(most).replace(/0+$/, '');
  return Math.max(2, text.length - text.indexOf('.') - 1);
}

/** The digits that a column needs, so that its decimal points are aligned. */
export const digitsFor = (amounts: readonly number[]): number => Math.max(2, ...amounts.map(digitsOf));

export function money(amount: number, digits = digitsOf(amount)): string {
  const text = Math.abs(amount).toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${amount < 0 ? '−' : ''}$${text}`;
}

/** With a sign in front, for movements. */
export const movement = (amount: number, digits?: number): string =>
  amount > 0 ? `+${money(amount, digits)}` : money(amount, digits);

/** What a person typed, or undefined when it is no amount. An empty text is null: no limit. */
export function parseAmount(text: string): number | null | undefined {
  const trimmed = text.trim().replace(/^\$/, '');
  if (trimmed === '') return null;
  return /^\d+(\.\d{1,6})?$/.test(trimmed) ? Number(trimmed) : undefined;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const shortFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const fullFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

export const dayText = (at: string): string => dayFormat.format(new Date(at));
export const shortText = (at: string): string => shortFormat.format(new Date(at));
export const fullText = (at: string): string => fullFormat.format(new Date(at));

/** "2026-11-22 18:44:35 UTC" */
export const utcText = (at: string): string =>
  `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

function amountOfTime(millis: number): string {
  const count = (value: number, unit: string): string =>
    `${Math.floor(value)} ${unit}${Math.floor(value) === 1 ? '' : 's'}`;
  if (millis < minute) return count(millis / 1000, 'second');
  if (millis < hour) return count(millis / minute, 'minute');
  if (millis < 2 * day) return count(millis / hour, 'hour');
  return count(millis / day, 'day');
}

/** "3 minutes ago", "in 2 days", "just now". */
export function relativeText(at: string, nowMillis: number): string {
  const millis = Date.parse(at) - nowMillis;
  if (Math.abs(millis) < 5000) return 'just now';
  return millis > 0 ? `in ${amountOfTime(millis)}` : `${amountOfTime(-millis)} ago`;
}

/** "850 ms", "3.2 s", "1 min 20 s" */
export function durationText(millis: number): string {
  if (millis < 1000) return `${Math.round(millis)} ms`;
  if (millis < 60_000) return `${(millis / 1000).toFixed(1)} s`;
  return `${Math.floor(millis / 60_000)} min ${Math.round((millis % 60_000) / 1000)} s`;
}

/** The day of a moment in UTC: "2026-11-22". */
export const utcDay = (millis: number): string => new Date(millis).toISOString().slice(0, 10);

/** Whether a moment is still to come. A next attempt of the past was made, and has a row of its own. */
export const isAhead = (at: string | null, nowMillis: number): at is string =>
  at !== null && Date.parse(at) > nowMillis;
