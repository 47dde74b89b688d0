/** What is typed on the command line, checked: each error names the option and what would be right. */
import type { Account } from '../../core/account.ts';
import { parseAccountId, parseCreationId, type CreationId } from '../../core/ids.ts';
import { characters } from '../../core/image-request.ts';
import { limitRanges, type AccountLimits } from '../../core/limits.ts';
import { parseUsd, type Micros } from '../../core/money.ts';
import { OperatorError } from '../operator-error.ts';
import { isPrintable } from '../../terminal/visible-text.ts';
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

/** An amount in USD of at least 0, or above it. */
export function positiveUsd(option: string, text: string, least: 'zero' | 'above zero'): Micros {
  const amount = usd(option, text);
  if (amount < 0 || (least === 'above zero' && amount === 0))
    throw new OperatorError(`${option}: must be ${least === 'zero' ? 'at least 0' : 'above 0'}.`);
  return amount;
}

/** The most characters of a text that is kept with an account. */
const longest = { '--name': 100, '--reference': 200, '--reason': 500 } as const;

/** A text that is kept and shown again: neither blank nor too long, and without control characters. */
export function shownText(option: keyof typeof longest, text: string): string {
  if (text.trim() === '') throw new OperatorError(`${option}: must not be empty.`);
  const most = longest[option];
  if (characters(text) > most) throw new OperatorError(`${option}: must have at most ${most} characters.`);
  if (!isPrintable(text)) throw new OperatorError(`${option}: must not contain control characters.`);
  return text;
}

/** A whole number within a range, both ends included. */
export function count(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new OperatorError(
      `${option}: ${JSON.stringify(text)} is no whole number from ${least} to ${most}.`,
    );
  }
  return value;
}

export interface LimitOptions {
  readonly postRate?: string;
  readonly getRate?: string;
  readonly maxConcurrent?: string;
  readonly deadline?: string;
}

/** Those limits that were given. */
export function limits(options: LimitOptions): Partial<AccountLimits> {
  const given = {
    postRate: options.postRate,
    getRate: options.getRate,
    maxConcurrent: options.maxConcurrent,
    deadlineSeconds: options.deadline,
  };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, limit(name as keyof AccountLimits, text)]],
    ),
  );
}

const optionOf: Readonly<Record<keyof AccountLimits, string>> = {
  postRate: '--post-rate',
  getRate: '--get-rate',
  maxConcurrent: '--max-concurrent',
  deadlineSeconds: '--deadline',
};

function limit(name: keyof AccountLimits, text: string): number {
  const [least, most] = limitRanges[name];
  return count(optionOf[name], text, least, most);
}

/** The account of an id. */
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
