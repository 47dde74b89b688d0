/** The caller, as every operation gets it. */
import type { Account, ApiKey } from '../../core/account.ts';
import type { RequestState } from '../../core/ports/requests.ts';

/** The account and key behind a request, and what was read with them. */
export interface Authenticated {
  readonly account: Account;
  readonly apiKey: ApiKey;
  readonly state: RequestState;
  /** When the request was authenticated, in Unix milliseconds. */
  readonly nowMillis: number;
}

/**
 * A request's place in its account's rate window. Every request takes one place: by an update of its own
 * before work that costs something, in the charge's transaction, or once its answer is decided.
 */
export interface RatePlace {
  readonly isTaken: boolean;
  /** Takes the place now, unless the request has one. Throws RateExceeded when the window is full. */
  take(): Promise<void>;
  /** The charge's transaction has taken the place. */
  takenByCharge(): void;
}

export interface Caller extends Authenticated {
  readonly place: RatePlace;
}
