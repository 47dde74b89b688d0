/** The bodies of webhooks and notices, as the service sends them. */

/** The image of a creation is ready. */
export interface CreationCompleted {
  readonly event: 'creation.completed';
  /** The creation. A test delivery has `00000000-0000-0000-0000-000000000000`. */
  readonly id: string;
  readonly status: 'completed';
  readonly result_urls: readonly string[];
  /** USD as charged. */
  readonly cost: number;
  readonly user?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** RFC 3339, UTC. */
  readonly created_at: string;
  readonly completed_at: string | null;
}

/** A creation has ended without an image. Its cost is refunded in full. */
export interface CreationFailed {
  readonly event: 'creation.failed';
  readonly id: string;
  readonly status: 'failed';
  /** One of the fixed messages of the API. */
  readonly error: string;
  /** USD as charged, before the refund. */
  readonly cost: number;
  readonly user?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly completed_at: string | null;
  /** Null, unless the creation was cancelled. */
  readonly cancelled_at: string | null;
}

interface Wallet {
  /** USD: the balance and the credit line. */
  readonly available: number;
  /** The threshold of wallet.low in USD. Null when there is none. */
  readonly low_balance: number | null;
  readonly currency: 'USD';
}

interface NoticeOf<Name extends string, Account extends Wallet = Wallet> {
  readonly notice: Name;
  /** `ntc_` and a UUID: the same in every delivery of this notice. */
  readonly id: string;
  readonly created_at: string;
  readonly account: Account;
}

/** Less than the threshold is available. */
export type WalletLow = NoticeOf<'wallet.low'>;

/** Nothing is left, or the balance did not cover a request. `required` is the amount that it needed. */
export type WalletEmpty = NoticeOf<'wallet.empty', Wallet & { readonly required: number }>;

/** A key has reached 80 % or 100 % of one of its caps. */
export interface KeyCapReached extends NoticeOf<'key.cap_reached'> {
  readonly key: {
    readonly id: string;
    readonly name: string;
    readonly cap: 'daily' | 'monthly' | 'total' | 'user';
    /** Whose budget is reached, when `cap` is `user`. */
    readonly user?: string;
    readonly period: string;
    readonly level: 80 | 100;
    /** USD. */
    readonly limit: number;
    readonly spent: number;
    readonly resets_at: string | null;
  };
}

/** Ten attempts of webhooks have failed in a row. */
export interface WebhookFailing extends NoticeOf<'webhook.failing'> {
  readonly webhooks: { readonly failed_attempts: number };
}

/** What happened to a creation. */
export type CreationEvent = CreationCompleted | CreationFailed;

/** What the service tells about the account and its keys. */
export type Notice = WalletLow | WalletEmpty | KeyCapReached | WebhookFailing;

/** A verified body. `'notice' in event` tells a notice from the event of a creation. */
export type WebhookEvent = CreationEvent | Notice;
