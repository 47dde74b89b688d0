/** Connections to addresses that clients give. No other code connects to them. */

export type AddressVerdict =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Why no answer came, as exactly as the connection reported it. core/portal/delivery-reason.ts has the words.
 */
export type FailureKind =
  | 'address_refused'
  | 'dns'
  | 'timeout'
  | 'connection_refused'
  | 'connection_closed'
  | 'unreachable'
  | 'tls'
  | 'tls_expired'
  | 'tls_self_signed'
  | 'tls_wrong_name'
  | 'tls_chain'
  | 'too_large'
  | 'no_http';

export type PostResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly excerpt: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'unanswered'; readonly reason: string; readonly failure: FailureKind };

/** The outcome of the download of one source image. */
export type SourceResult =
  | { readonly kind: 'fetched'; readonly bytes: Uint8Array }
  /** The address is not allowed. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'failed'; readonly retryable: boolean };

/** Connects to addresses that clients give. */
export interface Outbound {
  /**
   * Whether a webhook may go to this address now. A submission asks. The signal ends a look-up that takes too
   * long.
   */
  check(url: string, signal?: AbortSignal): Promise<AddressVerdict>;
  /**
   * Sends one POST. Checks the address again, connects to the checked address only, and follows no redirect.
   */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<PostResult>;
  /** Downloads one source image. Follows the allowed number of redirects and checks the address of each. */
  fetchSource(url: string, signal: AbortSignal): Promise<SourceResult>;
}
