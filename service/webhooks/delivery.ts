/** The attempts of webhooks, and the delivery log. */
import type { SealedSecret } from '../accounts/account.ts';
import type { FailureKind } from '../outbound/outbound.ts';
import type { AccountId, CreationId, NoticeId } from '../values/ids.ts';

export type DeliveryOutcome = 'delivered' | 'failed' | 'unknown';

/** The beginnings of the signatures of an attempt: enough to recognize them, and of no other use. */
export interface SignatureCuts {
  readonly current: string;
  readonly previous?: string;
  readonly standard: readonly string[];
}

export interface Delivery {
  readonly id: string;
  readonly accountId: AccountId;
  /** Of a webhook. Absent: the attempt sent a notice. */
  readonly creationId?: CreationId;
  readonly noticeId?: NoticeId;
  /** Absent: the address of the request, or that for notices. */
  readonly endpointId?: string;
  readonly event: string;
  readonly url: string;
  readonly attempt: number;
  readonly startedAt: string;
  readonly outcome?: DeliveryOutcome;
  /** The HTTP status of the answer. Absent when no answer came. */
  readonly status?: number;
  /** Why no answer came: "timeout", "refused address" or "connection". */
  readonly reason?: string;
  /** The same, as exactly as the connection reported it. Absent in rows of older releases. */
  readonly failure?: FailureKind;
  readonly millis?: number;
  /** At most 1 KiB of the answer's body. */
  readonly responseExcerpt?: string;
  /** At most 16 headers of the answer, and 1 KiB of them. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** Unix seconds: the time that the signatures cover. */
  readonly signedAt?: number;
  readonly cuts?: SignatureCuts;
  /** When the next attempt is due, RFC 3339. Absent when no attempt follows. */
  readonly nextAttemptAt?: string;
}

/** What a redelivery may name instead of an endpoint: all endpoints that failed. */
export const failedEndpoints = 'failed';

export interface DeliveryClaim {
  readonly delivery: Delivery;
  readonly body: string;
  /** Unix milliseconds before which no other invocation may send the next attempt. */
  readonly nextAt: number;
  readonly nowMillis: number;
}

export interface DeliveringAccount {
  readonly name: string;
  readonly secrets: readonly SealedSecret[];
  /** Absent: the account gets no notices, and its failed attempts are not counted. */
  readonly failures?: { readonly inARow: number; readonly isTold: boolean };
}
