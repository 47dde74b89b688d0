/** Reads the values of options. A wrong value is an error of usage (exit code 2). */
import { InvalidArgumentError } from 'commander';

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** An amount in USD. */
export function usd(text: string): number {
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be an amount of USD with at most 6 decimals, such as 0.05.');
}

const unitMillis: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `30s`, `10m`, `2h`, `1d`, as milliseconds. */
export function duration(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const millis = unitMillis[unit];
  if (millis === undefined) throw new InvalidArgumentError('It must be a time such as 30s, 10m, 2h or 1d.');
  return Number(count) * millis;
}

/** For an option that may be given several times. */
export function collected(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** `name=value`, several times. */
export function pairs(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must have the form name=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** Texts with commas between them. */
export function list(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
