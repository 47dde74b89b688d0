/** The tokens of committed transactions. DynamoDB remembers each for ten minutes. */
import { tokenMismatch } from './refusals.ts';
import type { StoredToken } from './storage.ts';
import type { Token } from './holds.ts';
import { tokenLifetimeMillis } from './validation/limits.ts';

export interface CommittedTokens {
  /** Whether the same transaction was committed. Throws IdempotentParameterMismatchException for another. */
  readonly isReplay: (token: Token) => boolean;
  readonly remember: (token: StoredToken) => void;
  /** The tokens that still count. */
  readonly all: () => Iterable<StoredToken>;
}

/** Creates an empty memory of tokens. `now` gives epoch milliseconds. */
export function createCommittedTokens(now: () => number): CommittedTokens {
  const tokens = new Map<string, StoredToken>();

  const isOver = ({ atMillis }: StoredToken): boolean => atMillis <= now() - tokenLifetimeMillis;

  return {
    isReplay: ({ text, fingerprint }) => {
      const known = tokens.get(text);
      if (known === undefined || isOver(known)) return false;
      if (known.fingerprint === fingerprint) return true;
      throw tokenMismatch();
    },
    remember: (token) => {
      // The oldest tokens come first, so this loop ends soon.
      for (const [text, known] of tokens) {
        if (!isOver(known)) break;
        tokens.delete(text);
      }
      tokens.delete(token.text);
      tokens.set(token.text, token);
    },
    all: function* () {
      for (const token of tokens.values()) if (!isOver(token)) yield token;
    },
  };
}
