/**
 * The items that transactions in flight hold: DynamoDB refuses every other write on them at once.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
 */
import {
  conflictReason,
  tokenLifetimeMillis,
  tokenMismatch,
  transactionCanceled,
  transactionInProgress,
} from './refusals.ts';
import type { StoredToken } from './storage.ts';
import type { Table } from './table.ts';

/** One item, by its table and its primary key as a text. */
export interface HeldItem {
  readonly table: Table;
  readonly id: string;
}

export interface Token {
  readonly text: string;
  readonly fingerprint: string;
}

export function createHolds() {
  const held = new Map<Table, Set<string>>();
  const tokens = new Map<string, string>();
  // Most of the time no transaction is in flight, so the number decides quickly.
  let count = 0;

  const isHeld = (table: Table, id: string): boolean => count > 0 && held.get(table)?.has(id) === true;

  /** Throws the cancellation of a transaction when one of its items is held. */
  const check = (items: readonly HeldItem[]): void => {
    if (!items.some(({ table, id }) => isHeld(table, id))) return;
    throw transactionCanceled(
      items.map(({ table, id }) => (isHeld(table, id) ? conflictReason : { Code: 'None' })),
    );
  };

  return {
    isHeld,
    check,
    /** Holds every item, and returns their release. Throws AwsError when an item or the token is in flight. */
    take: (items: readonly HeldItem[], token: Token | undefined): (() => void) => {
      const known = token && tokens.get(token.text);
      if (known !== undefined) throw known === token?.fingerprint ? transactionInProgress() : tokenMismatch();
      check(items);
      count += items.length;
      for (const { table, id } of items) {
        const ids = held.get(table);
        if (ids === undefined) held.set(table, new Set([id]));
        else ids.add(id);
      }
      if (token !== undefined) tokens.set(token.text, token.fingerprint);
      return () => {
        count -= items.length;
        for (const { table, id } of items) held.get(table)?.delete(id);
        if (token !== undefined) tokens.delete(token.text);
      };
    },
  };
}

/** The tokens of committed transactions. DynamoDB remembers each for ten minutes. */
export function createCommittedTokens(now: () => number) {
  const tokens = new Map<string, StoredToken>();

  const isOver = ({ atMillis }: StoredToken): boolean => atMillis <= now() - tokenLifetimeMillis;

  return {
    /** Whether the same transaction was committed. Throws IdempotentParameterMismatchException for another. */
    isReplay: ({ text, fingerprint }: Token): boolean => {
      const known = tokens.get(text);
      if (known === undefined || isOver(known)) return false;
      if (known.fingerprint === fingerprint) return true;
      throw tokenMismatch();
    },
    remember: (token: StoredToken): void => {
      // The oldest tokens come first, so this loop ends soon.
      for (const [text, known] of tokens) {
        if (!isOver(known)) break;
        tokens.delete(text);
      }
      tokens.delete(token.text);
      tokens.set(token.text, token);
    },
    all: function* (): Iterable<StoredToken> {
      for (const token of tokens.values()) if (!isOver(token)) yield token;
    },
  };
}
