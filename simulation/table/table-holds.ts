/**
 * The items that transactions in flight hold. DynamoDB refuses every other write on such an item at once and
 * never waits. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
 */
import { cancelled, Refused } from './aws-refusal.ts';

/** A transaction between its arrival at the table and its end. */
export interface Flight {
  /** Releases the items. */
  readonly end: () => void;
}

export interface TableHolds {
  /**
   * Holds every place for a transaction. Throws Refused with TransactionInProgressException while a
   * transaction with the same token is in flight. Throws Refused with TransactionCanceledException while
   * another transaction holds one of the places: the reason is TransactionConflict for each held place and
   * None for each other place.
   */
  readonly take: (
    places: readonly string[],
    token: { readonly text: string; readonly fingerprint: string } | undefined,
  ) => Flight;
  /** Throws Refused with TransactionConflictException while a transaction holds the place. */
  readonly checkSingleWrite: (place: string) => void;
  readonly isHeld: (place: string) => boolean;
}

const ongoing = 'Transaction is ongoing for the item';

/** Creates the holds of a table. No item is held at first. */
export function createTableHolds(): TableHolds {
  const held = new Set<string>();
  const tokens = new Map<string, string>();
  return {
    isHeld: (place) => held.has(place),
    checkSingleWrite: (place) => {
      if (held.has(place)) throw new Refused('TransactionConflictException', ongoing);
    },
    take: (places, token) => {
      const known = token && tokens.get(token.text);
      if (known !== undefined) throw known === token?.fingerprint ? inProgress() : mismatch();
      if (places.some((place) => held.has(place))) {
        throw cancelled(
          places.map((place) =>
            held.has(place) ? { Code: 'TransactionConflict', Message: ongoing } : { Code: 'None' },
          ),
        );
      }
      for (const place of places) held.add(place);
      if (token) tokens.set(token.text, token.fingerprint);
      return {
        end: () => {
          for (const place of places) held.delete(place);
          if (token) tokens.delete(token.text);
        },
      };
    },
  };
}

function inProgress(): Refused {
  return new Refused(
    'TransactionInProgressException',
    'The transaction with the given request token is already in progress.',
  );
}

/** The refusal of a token that belongs to a different transaction. */
export function mismatch(): Refused {
  return new Refused(
    'IdempotentParameterMismatchException',
    'Request token matches an existing request token but the request parameters do not match',
  );
}
