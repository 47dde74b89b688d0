/**
 * The rule by which a retry of the openai libraries is never paid twice. They send no Idempotency-Key, retry by
 * themselves, and number the tries of a call in x-stainless-retry-count: 0, 1, 2.
 *
 * An entry stands for one call. It notes the number of every try that it has seen. No call sends a number
 * twice. So a try does not belong to an entry that has seen its number, and it attaches to an entry that has
 * not. When all entries have seen its number, the try is charged and makes an entry. A try that would attach
 * to an entry whose creations have all failed is charged, too, but its creations replace the failed ones.
 *
 * Why this holds in any order: a try with number k makes an entry only when all entries have seen k. Each of
 * them saw k from a call of its own. So there are never more entries than calls, and an entry never has more
 * than one set of creations that is not refunded.
 */
import { lateFirstTryMillis } from '../contract/limits.ts';
import type { AccountId, CreationId, KeyId } from '../values/ids.ts';

/** Identifies the tries of one call: the same key sent the same body. */
export interface RetryPlace {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** Of the operation and the canonical body. */
  readonly bodyHash: string;
}

/** The counts of the entries for one body. They change with every entry that is made, and only then. */
export interface RetryHead {
  readonly made: number;
  /** How many of them a try with a number above 0 made. */
  readonly madeByRetry: number;
}

export type Told = 'pictures' | 'rendering' | 'failure';

export interface RetryEntry {
  /** Unique among the entries for one body, and in the order of time. */
  readonly id: string;
  readonly creationIds: readonly [CreationId, ...CreationId[]];
  readonly madeAt: number;
  readonly seen: readonly number[];
  /** Absent: its last try was not answered yet, as far as is known. */
  readonly told?: Told;
}

/** The number of a try. Undefined: the client sends none (curl, ai), and it counts as a first try. */
export type Attempt = number | undefined;

export type RetryCharge =
  | {
      readonly kind: 'new_entry';
      readonly place: RetryPlace;
      readonly attempt: Attempt;
      /** As it was read before the entries. */
      readonly head: RetryHead | undefined;
    }
  | {
      readonly kind: 'same_entry';
      readonly place: RetryPlace;
      readonly attempt: Attempt;
      readonly entry: RetryEntry;
    };

export type TryDecision =
  | { readonly kind: 'attach'; readonly entry: RetryEntry }
  | { readonly kind: 'charge'; readonly retry: RetryCharge };

export interface Try {
  readonly place: RetryPlace;
  readonly attempt: Attempt;
  /** When the request came. What the service did since then does not make a first try late. */
  readonly arrivedMillis: number;
}

export function attemptOf(header: string | undefined): Attempt {
  return header !== undefined && /^\d{1,2}$/.test(header) ? Number(header) : undefined;
}

/** Whether `decideTry` needs the entries. A first try seldom does, which saves the read. */
export function needsEntries(attempt: Attempt, head: RetryHead | undefined): boolean {
  if (!head) return false;
  return attempt === 0 ? head.madeByRetry > 0 : true;
}

/** To which entry a try attaches, or what its charge writes. @param head read before the entries */
export function decideTry(
  { place, attempt, arrivedMillis }: Try,
  head: RetryHead | undefined,
  entries: readonly RetryEntry[],
): TryDecision {
  const [entry] = entries
    .filter((candidate) => maySee(candidate, attempt, arrivedMillis))
    .sort((one, other) => rankOf(one) - rankOf(other) || other.madeAt - one.madeAt);
  if (entry) return { kind: 'attach', entry };
  return { kind: 'charge', retry: { kind: 'new_entry', place, attempt, head } };
}

/** The charge of a try that would attach to an entry whose creations have all failed. */
export function chargeInPlace(
  { place, attempt }: Pick<Try, 'place' | 'attempt'>,
  entry: RetryEntry,
): RetryCharge {
  return { kind: 'same_entry', place, attempt, entry };
}

export function entryIdOf(retry: RetryCharge, first: CreationId, nowMillis: number): string {
  return retry.kind === 'same_entry' ? retry.entry.id : `${nowMillis}#${first}`;
}

/** The tries that an entry has seen when a try with this number makes it. */
export function firstSeen(attempt: Attempt): number {
  return attempt ?? 0;
}

function maySee({ seen, madeAt, told }: RetryEntry, attempt: Attempt, arrivedMillis: number): boolean {
  // A client that numbers no tries got 504 still_rendering, so its next request is for these pictures.
  if (attempt === undefined) return told === 'rendering';
  if (seen.includes(attempt)) return false;
  // A retry made the entry. Its own first try arrives late, or a new call wants new pictures.
  return attempt > 0 || arrivedMillis - madeAt < lateFirstTryMillis;
}

/** Expected retries first, then open entries, which have cost money, then failed and answered ones. */
const ranks: Readonly<Record<Told | 'nothing', number>> = {
  rendering: 0,
  nothing: 1,
  failure: 2,
  pictures: 3,
};

function rankOf({ told }: RetryEntry): number {
  return ranks[told ?? 'nothing'];
}
