/**
 * The contract of an image provider. What to do about an answer is data on the answer:
 * the walk over the routes reads a reason and never a vendor's text.
 */
import type { AspectRatio, OutputFormat, Resolution } from './image-formats.ts';

/** A source image as it lies in the service's own bucket; its type and size were read from its bytes. */
export interface SourceImage {
  readonly contentType: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

/** What a provider is asked to render. The catalog has seen to it that the route can do all of it. */
export interface RenderJob {
  readonly providerModel: string;
  /** The route's, for vendors that price by it: "low", "medium", "high". */
  readonly quality?: string;
  readonly prompt: string | null;
  readonly resolution: Resolution;
  readonly aspectRatio: AspectRatio;
  readonly outputFormat: OutputFormat;
  readonly seed: number | null;
  readonly sourceCount: number;
  /** Reads the source images, in the request's order. Throws when the bucket does not give them. */
  readonly readSources: () => Promise<readonly SourceImage[]>;
}

/** Why a provider gave no image; the remedy follows from it (functions/workflow/walk-routes.ts). */
export type RefusalReason =
  | 'prompt'
  | 'source_image'
  | 'failed'
  | 'nothing_rendered'
  /** The vendor itself gave up for lack of time. */
  | 'timed_out'
  /** Down or throttled, and surely not at work on it: the next route. */
  | 'unavailable'
  /** Our key or our bill: the next route, and an alarm. */
  | 'credentials'
  /** The call broke when it may have been accepted already: never repeated at this vendor, the next route. */
  | 'unknown_outcome'
  /** An answer that the adapter does not know. */
  | 'unknown_answer';

export interface Refused {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  /** For the operator: status and code of the vendor ("HTTP 429 rate_limit_exceeded"), never its text, which may quote the prompt. */
  readonly detail?: string;
}

export type ProviderAnswer =
  | { readonly kind: 'rendered'; readonly bytes: Uint8Array }
  /** Accepted. The id is stored before the first poll; it may hold whatever the adapter needs to find the job again. */
  | { readonly kind: 'pending'; readonly jobId: string; readonly pollAfterMillis: number }
  | Refused;

export interface ImageProvider {
  readonly name: string;
  /** Never called twice for one attempt. Throws when the signal aborts; every other breakage is an answer. */
  submit(job: RenderJob, signal: AbortSignal): Promise<ProviderAnswer>;
  /** Asynchronous providers only: how a job stands. A poll that did not come through answers 'pending' again. */
  poll?(jobId: string, job: RenderJob, signal: AbortSignal): Promise<ProviderAnswer>;
  /** Where the vendor can: ends a job whose image nobody waits for any more. */
  cancel?(jobId: string, job: RenderJob, signal: AbortSignal): Promise<void>;
}

/** The vendors' keys, as the operator has set them. */
export interface ProviderCredentials {
  /** Undefined when none is set for the vendor. Throws CredentialsUnreadable. */
  read(provider: string): Promise<string | undefined>;
  /** The vendor refused it: the next read asks the secret store again. */
  forget(provider: string): void;
}

/** The secret store did not give the credentials, so that no vendor was called. */
export class CredentialsUnreadable extends Error {
  override readonly name = 'CredentialsUnreadable';
}

export function refusedBy(reason: RefusalReason, detail?: string): Refused {
  return { kind: 'refused', reason, ...(detail !== undefined && { detail }) };
}
