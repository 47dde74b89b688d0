/** The tokens of a page: requested from its server, and again before they expire. */
import { ApiError, DarkroomError } from '../errors.ts';
import type { NewUserToken } from '../types/generated.ts';

/** Asks your server for a token of the user who is signed in to your page. */
export type UserTokenSource = () => Promise<Pick<NewUserToken, 'token' | 'expires_at'>>;

/** The credentials of a client's requests. */
export interface Authorization {
  /** The header of the next request. */
  readonly header: () => string | Promise<string>;
  /** Whether another header may do better after the answer to a request with this one. */
  readonly renew: (header: string, error: unknown) => boolean;
}

const renewBeforeMillis = 30_000;

/** Calls at the same time share one question. */
export function authorizationBy(ask: UserTokenSource, now: () => number): Authorization {
  let held: Promise<string> | undefined;
  let current: string | undefined;
  let renewAt = 0;
  const asked = async (): Promise<string> => {
    try {
      const { token, expires_at } = await ask();
      if (!/^dk_user_\w+$/.test(token))
        throw new DarkroomError('userToken must give the answer of userTokens.create: a token, never a key.');
      renewAt = Date.parse(expires_at) - renewBeforeMillis;
      current = `Bearer ${token}`;
      return current;
    } catch (error) {
      held = undefined;
      throw error;
    }
  };
  return {
    header: () => {
      if (held && now() < renewAt) return held;
      renewAt = Infinity;
      held = asked();
      return held;
    },
    renew: (header, error) => {
      const hasEnded = error instanceof ApiError && error.details['token'] !== undefined;
      // Another call may have requested a newer token meanwhile.
      if (hasEnded && header === current) {
        current = undefined;
        renewAt = 0;
      }
      return hasEnded;
    },
  };
}
