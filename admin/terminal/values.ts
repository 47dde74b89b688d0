/** Checks the values of options. Each error names the option and says what would be right. */
import type { Account } from '../../service/accounts/account.ts';
import { isDay, type Days } from '../../service/usage/booked-row.ts';
import { parseAccountId, parseCreationId, type CreationId } from '../../service/values/ids.ts';
import { limitRanges, type AccountLimits } from '../../service/contract/limits.ts';
import { parseUsd, type Micros } from '../../service/values/money.ts';
import { readMoment } from '../../service/values/time.ts';
import { textProblem, type ShownText } from '../../service/values/text.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';

/** An amount in USD. */
export function usd(option: string, text: string): Micros {
  const amount = parseUsd(text);
  if (amount === undefined)
    throw new OperatorError(
      `${option}: ${JSON.stringify(text)} is no amount in USD with at most 6 decimals, such as 25 or 0.05.`,
    );
  return amount;
}

/** An amount in USD that is at least 0, or above 0. */
export function positiveUsd(option: string, text: string, least: 'zero' | 'above zero'): Micros {
  const amount = usd(option, text);
  if (amount < 0 || (least === 'above zero' && amount === 0))
    throw new OperatorError(`${option}: must be ${least === 'zero' ? 'at least 0' : 'above 0'}.`);
  return amount;
}

/** A text that is stored and shown again. It must not be blank, too long or contain control characters. */
export function shownText(option: `--${ShownText}`, text: string): string {
  const problem = textProblem(option.slice(2) as ShownText, text);
  if (problem) throw new OperatorError(`${option}: ${problem.message}.`);
  return text;
}

/** A whole number from `least` to `most`, both included. */
export function count(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new OperatorError(
      `${option}: ${JSON.stringify(text)} is no whole number from ${least} to ${most}.`,
    );
  }
  return value;
}

/** A moment of RFC 3339 that lies ahead, in the form of ApiKey.expiresAt: UTC, with milliseconds. */
export function momentAhead(option: string, text: string, nowMillis: number): string {
  const millis = readMoment(text);
  if (millis === undefined)
    throw new OperatorError(
      `${option}: ${JSON.stringify(text)} is no moment of RFC 3339, such as 2027-01-31T18:00:00Z.`,
    );
  if (millis <= nowMillis) throw new OperatorError(`${option}: must be in the future.`);
  return new Date(millis).toISOString();
}

/** A day of UTC in the form "2026-11-21". */
export function day(option: string, text: string): string {
  if (!isDay(text))
    throw new OperatorError(`${option}: ${JSON.stringify(text)} is no day, such as 2026-11-21.`);
  return text;
}

/** The days of a month of UTC in the form "2026-11". The month that runs ends today. */
export function month(option: string, text: string, nowMillis: number): Days {
  const first = `${text}-01`;
  if (!isDay(first))
    throw new OperatorError(`${option}: ${JSON.stringify(text)} is no month, such as 2026-11.`);
  const today = new Date(nowMillis).toISOString().slice(0, 10);
  if (first > today) throw new OperatorError(`${option}: ${text} has not begun.`);
  const begin = new Date(first);
  const last = new Date(Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1, 0));
  const end = last.toISOString().slice(0, 10);
  return { from: first, to: end < today ? end : today };
}

/** One of some words. */
export function oneOf<Word extends string>(option: string, text: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === text);
  if (found === undefined) throw new OperatorError(`${option}: must be one of ${words.join(', ')}.`);
  return found;
}

/** The options that set limits, by the limits. */
const limitOptions = {
  postRate: { name: 'postRate', flag: '--post-rate' },
  getRate: { name: 'getRate', flag: '--get-rate' },
  userPostRate: { name: 'userPostRate', flag: '--user-post-rate' },
  userGetRate: { name: 'userGetRate', flag: '--user-get-rate' },
  maxConcurrent: { name: 'maxConcurrent', flag: '--max-concurrent' },
  deadlineSeconds: { name: 'deadline', flag: '--deadline' },
  maxUnusedUploads: { name: 'maxUnusedUploads', flag: '--max-unused-uploads' },
} as const satisfies Readonly<Record<keyof AccountLimits, object>>;

export type LimitOptions = Readonly<
  Partial<Record<(typeof limitOptions)[keyof AccountLimits]['name'], string>>
>;

/** The limits that the command line names. */
export function limits(options: LimitOptions): Partial<AccountLimits> {
  return Object.fromEntries(
    (Object.keys(limitOptions) as (keyof AccountLimits)[]).flatMap((limit) => {
      const { name, flag } = limitOptions[limit];
      const text = options[name];
      return text === undefined ? [] : [[limit, count(flag, text, ...limitRanges[limit])]];
    }),
  );
}

/** Reads the account. Throws OperatorError when there is no account with this id. */
export async function account(services: OperatorServices, text: string): Promise<Account> {
  const id = parseAccountId(text);
  const found = id && (await services.accounts.read(id));
  if (!found)
    throw new OperatorError(`There is no account ${text}: \`npm run admin -- accounts list\` shows them.`);
  return found;
}

export function creationId(text: string): CreationId {
  const id = parseCreationId(text);
  if (!id) throw new OperatorError(`${text} is no creation id: it would be a UUID.`);
  return id;
}
