/** What every operation of the operator API works with, and the refusals that only this API makes. */
import type { Account } from '../accounts/account.ts';
import type { ApiAnswer } from '../api/answer.ts';
import { idempotencyKeyMalformed, idempotencyKeyMismatch, keyInvalid } from '../api/problems.ts';
import type { ApiRequest } from '../api/request.ts';
import type { TransactItem } from '../aws/dynamodb/transaction.ts';
import type { OperatorScope } from '../contract/operator-operations.ts';
import { Overloaded } from '../values/errors.ts';
import { type AccountId, parseAccountId } from '../values/ids.ts';
import { asMicros, formatUsd, type Micros, toUsd } from '../values/money.ts';
import { Problem } from '../values/problem.ts';
import { dayOf, nextDay } from '../values/time.ts';
import type { OperatorKey } from '../operated/operator-key.ts';
import type { Remembered } from '../operated/operator-key-store.ts';
import type { OperatorServices } from './open.ts';

export interface OperatorContext {
  readonly request: ApiRequest;
  /** The values of the path: account, key, payment. */
  readonly params: Readonly<Record<string, string>>;
  readonly key: OperatorKey;
  readonly nowMillis: number;
  readonly services: OperatorServices;
  /** Throws 403 when the key lacks the scope. */
  require(scope: OperatorScope): void;
  /** Notes the action in the log of the account as well, before the work begins. */
  noteIn(account: AccountId, note: string): Promise<void>;
  /** The item that remembers an Idempotency-Key with what it made. None when the request has no key. */
  remembers(made: string, status: number): readonly TransactItem[];
  /** Throws Repeated when the Idempotency-Key has made something meanwhile. */
  throwIfRepeated(): Promise<void>;
}

/** An equal request has made something with the same Idempotency-Key. The frame answers with what it made. */
export class Repeated extends Error {
  readonly remembered: Remembered;
  constructor(remembered: Remembered) {
    super('an equal request has made this');
    this.remembered = remembered;
  }
}

export interface OperatorHandler {
  /** Reads and checks the body. Absent: the operation takes none. */
  readonly body?: (context: OperatorContext) => Promise<unknown>;
  readonly run: (body: unknown, context: OperatorContext) => Promise<ApiAnswer>;
  /** What an earlier request made, in its current state. */
  readonly show?: (made: string, context: OperatorContext) => Promise<unknown>;
}

interface Typed<Body> {
  readonly body: (context: OperatorContext) => Body | Promise<Body>;
  readonly run: (body: Body, context: OperatorContext) => Promise<ApiAnswer>;
  readonly show?: OperatorHandler['show'];
}

/** The types of the body agree within an operation. The frame only hands it through. */
export function changing<Body>({ body, run, show }: Typed<Body>): OperatorHandler {
  return {
    body: async (context) => body(context),
    run: async (given, context) => run(given as Body, context),
    ...(show && { show }),
  };
}

export function reading(run: (context: OperatorContext) => Promise<ApiAnswer>): OperatorHandler {
  return { run: async (_body, context) => run(context) };
}

/** The account that the path names. Throws the same 404 for an absent one and for a malformed id. */
export async function accountOf({ params, services }: OperatorContext): Promise<Account> {
  const id = parseAccountId(params['account'] ?? '');
  const account = id && (await services.accounts.read(id));
  if (!account) throw notFound();
  return account;
}

export function idempotencyHashOf({ idempotencyKey, method }: ApiRequest): string | undefined {
  if (method !== 'POST' || idempotencyKey.kind === 'absent') return undefined;
  if (idempotencyKey.kind === 'malformed') throw idempotencyKeyMalformed();
  return idempotencyKey.hash;
}

/** What was made by the same request. Throws 400 when the key belongs to another one. */
export function repeatedBy(remembered: Remembered, requestHash: string): Repeated {
  if (remembered.requestHash !== requestHash) throw idempotencyKeyMismatch();
  return new Repeated(remembered);
}

/** Why a transaction with a credit of the key was refused, by the key as it is now. */
export async function creditRefused(
  amount: Micros,
  { key, nowMillis, services }: OperatorContext,
): Promise<Error> {
  const now = await services.operatorKeys.read(key.id);
  if (!now || now.revokedAt !== undefined) return keyInvalid('was revoked');
  const { dailyCreditCapMicros: cap } = now;
  const spent = now.creditedByDay[dayOf(nowMillis)] ?? asMicros(0);
  if (cap === undefined || spent + amount <= cap) return new Overloaded('the operator key changed meanwhile');
  return conflict(
    'credit_cap_exceeded',
    `This key may credit ${formatUsd(cap)} on a UTC day, and has credited ${formatUsd(spent)}. Nothing was changed.`,
    { cap: toUsd(cap), spent: toUsd(spent), resets_at: nextDay(nowMillis) },
  );
}

export function notFound(): Problem {
  return new Problem('ERR_NOT_FOUND', 'There is nothing with this id.');
}

export function operatorKeyMissing(): Problem {
  const message = 'An operator key is required: send it as "Authorization: Bearer dk_op_…".';
  return new Problem('ERR_API_KEY_INVALID', message, { reason: 'api_key_missing' });
}

export function scopeMissing(scope: OperatorScope): Problem {
  const message = `This key lacks the scope ${scope}.`;
  return new Problem('ERR_FORBIDDEN', message, { reason: 'scope_missing', scope });
}

export function addressNotAllowed(): Problem {
  const message = 'This key does not work from this address.';
  return new Problem('ERR_FORBIDDEN', message, { reason: 'address_not_allowed' });
}

type ConflictReason =
  | 'reference_taken'
  | 'external_id_taken'
  | 'changed_meanwhile'
  | 'below_zero'
  | 'credit_cap_exceeded'
  | 'key_revoked'
  | 'managed_by_stripe';

export function conflict(reason: ConflictReason, message: string, details: object = {}): Problem {
  return new Problem('ERR_CONFLICT', message, { reason, ...details });
}

export function changedMeanwhile(version: string): Problem {
  const message = 'Somebody changed it meanwhile. Nothing was stored: look again.';
  return conflict('changed_meanwhile', message, { version });
}

/** A page of a list. @param place the position of an element, for the cursor */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => object,
  cursor: (row: Row) => string,
): ApiAnswer {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    status: 200,
    body: { data: shown.map(view), has_more: hasMore, next_cursor: hasMore ? cursor(last) : null },
  };
}
