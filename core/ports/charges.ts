/** Money: taken and given back, each in one conditional transaction with its ledger row. */
import type { AccountCondition, ApiKey } from '../account.ts';
import type { CreationRecord } from '../creation.ts';
import type { FailureName } from '../failure.ts';
import type { CreationId } from '../ids.ts';
import type { Micros } from '../money.ts';
import type { IdempotencyRecord } from './requests.ts';

export interface ChargeOrder {
  readonly creation: CreationRecord;
  /** The account's limit, whose window the charge takes a place in. Absent: the request has its place already. */
  readonly postRate?: number;
  readonly monthlyCapMicros?: Micros;
  readonly nowMillis: number;
  readonly idempotency?: {
    readonly hash: string;
    readonly requestHash: string;
    readonly replaces?: CreationId;
  };
}

/** What became of a charge. Everything but 'charged' left nothing behind. */
export type ChargeOutcome =
  | { readonly kind: 'charged' }
  | { readonly kind: 'account_not_active'; readonly condition: AccountCondition | 'gone' }
  | { readonly kind: 'key_revoked' }
  | { readonly kind: 'key_changed'; readonly apiKey: ApiKey }
  | { readonly kind: 'rate_used_up' }
  | { readonly kind: 'idempotency_taken'; readonly record: IdempotencyRecord }
  | { readonly kind: 'over_budget'; readonly spentMicros: Micros }
  | { readonly kind: 'over_balance'; readonly availableMicros: Micros }
  | { readonly kind: 'too_many_open'; readonly limit: number; readonly current: number }
  | { readonly kind: 'overloaded' };

export interface ChargeStore {
  /** The only place where money is taken: one conditional transaction. Throws when its outcome stays unknown. */
  charge(order: ChargeOrder): Promise<ChargeOutcome>;
  /**
   * Fails the creation and gives its charge back, once however often it is called.
   * 'busy': a conflict outlasted the retries, to be called again.
   */
  refund(creation: CreationRecord, refund: Refund): Promise<'refunded' | 'already_terminal' | 'busy'>;
}

export interface Refund {
  readonly failure: FailureName;
  readonly nowMillis: number;
  /** False when the client is told at once and no webhook is sent. */
  readonly announce: boolean;
}
