/** The one way out to addresses that clients give. */

export type AddressVerdict =
  { readonly kind: 'allowed' } | { readonly kind: 'refused'; readonly why: string };

export type PostResult =
  | { readonly kind: 'answered'; readonly status: number; readonly excerpt: string }
  | { readonly kind: 'unanswered'; readonly reason: string };

/** What became of one source image's address. */
export type SourceResult =
  | { readonly kind: 'fetched'; readonly bytes: Uint8Array }
  /** Not an address that may be fetched. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'failed'; readonly retryable: boolean };

/** The one way out to addresses that clients give. */
export interface Outbound {
  /** Whether a webhook may be sent there now; asked at submission. The signal ends a look-up that takes too long. */
  check(url: string, signal?: AbortSignal): Promise<AddressVerdict>;
  /** One POST, its address checked again and pinned; never follows a redirect. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<PostResult>;
  /** One source image, its redirects followed as far as they are allowed, each hop checked and pinned. */
  fetchSource(url: string, signal: AbortSignal): Promise<SourceResult>;
}
