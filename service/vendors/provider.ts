/** The contract of an image provider. The reason of a refusal decides, never a vendor's text. */
import type { BillingPrices } from '../catalog/billed-cost.ts';
import type { RefusalReason } from '../contract/failures.ts';
import type { AspectRatio, OutputFormat, PlainMembers, Resolution } from '../contract/request-fields.ts';
import type { Micros } from '../values/money.ts';
import type { Clock } from '../values/runtime.ts';

/** A source image in the service's own bucket. Type and size were read from its bytes. */
export interface SourceImage {
  readonly contentType: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

/** The order to a provider. The catalog has checked that the route can render all of it. */
export interface RenderJob extends BillingPrices, Omit<PlainMembers, 'quality'> {
  readonly providerModel: string;
  /**
   * The quality of the route, for a vendor that prices by quality: "low", "medium", "high", "xhigh" or "max". Of a
   * route that takes several, the one that the request names.
   */
  readonly quality?: string;
  readonly prompt: string | null;
  readonly resolution: Resolution;
  readonly aspectRatio: AspectRatio;
  readonly outputFormat: OutputFormat;
  readonly seed: number | null;
  /** The number of the picture among those of its request. Absent: 0. */
  readonly index?: number;
  readonly sourceCount: number;
  /** Reads the source images in the order of the request. Throws when the bucket does not return them. */
  readonly readSources: () => Promise<readonly SourceImage[]>;
  /** Reads the mask of the first source image, a PNG of its size. Absent: there is none. Throws as above. */
  readonly readMask?: () => Promise<SourceImage>;
  /** The address that the vendor calls when the job has ended. Absent: the job is only polled. */
  readonly callbackUrl?: string;
  /** The vendor has called back: a poll may skip the status, but takes the result from the vendor. */
  readonly saidEnded?: true;
}

export interface Refused {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  /** Status and code for the operator: "HTTP 429 rate_limit_exceeded". Texts may quote the prompt. */
  readonly detail?: string;
  /** Milliseconds until the vendor may be asked again. Only with 'unavailable': nothing was accepted. */
  readonly retryAfterMillis?: number;
}

export interface Rendered {
  readonly kind: 'rendered';
  readonly bytes: Uint8Array;
  /** The cost of the picture by the answer. Absent: the answer has no cost, or an impossible one. */
  readonly billedMicros?: Micros;
}

export type ProviderAnswer =
  | Rendered
  /** The vendor accepted the job. The id is stored before the first poll and holds what polls need. */
  | { readonly kind: 'pending'; readonly jobId: string; readonly pollAfterMillis: number }
  | Refused;

/** 'asked': the job may still give an image, so poll it. 'refused': ended, or not taken. */
export type CancelAnswer = 'asked' | 'refused';

/**
 * The fields of a request that only some vendors honour. A client must not pay for a field that is ignored.
 */
const rareFields = ['negativePrompt', 'quality', 'background', 'mask'] as const satisfies readonly (
  | keyof RenderJob
  | 'mask'
)[];
export type RareField = (typeof rareFields)[number];

/** The first field of the job that its provider would not send. Undefined: it sends all. */
export function unsentField(
  job: { readonly [Field in RareField]?: string | null | undefined },
  { sends = [] }: Pick<ImageProvider, 'sends'>,
): RareField | undefined {
  return rareFields.find((field) => job[field] != null && !sends.includes(field));
}

export interface ImageProvider {
  readonly name: string;
  /** The rare fields that the adapter sends. Absent: none, and a job that has one is not submitted. */
  readonly sends?: readonly RareField[];
  /** Called once for each attempt. Throws when the signal aborts; otherwise a breakage is a refusal. */
  submit(job: RenderJob, signal: AbortSignal): Promise<ProviderAnswer>;
  /** The state of a job, of asynchronous providers only. A poll without an answer is 'pending'. */
  poll?(jobId: string, job: RenderJob, signal: AbortSignal): Promise<ProviderAnswer>;
  /** Stops a job, where the vendor can. Throws when the signal aborts or the answer broke. */
  cancel?(jobId: string, job: RenderJob, signal: AbortSignal): Promise<CancelAnswer>;
  /** Whether a submission whose answer was lost is sent again. Absent: the vendor may have billed it, so never. */
  mayRepeat?(prompt: string | null): boolean;
  /** How the vendor calls back when a job has ended. Absent: the job is only polled. */
  readonly callback?: ProviderCallback;
}

export interface CallbackRequest {
  /** The names may be in any case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The bytes as they came. The signature covers them. */
  readonly body: Uint8Array;
}

export type CallbackVerdict =
  /** The vendor says that this job has ended. Nothing else in the request was read. */
  | { readonly kind: 'genuine'; readonly jobId: string }
  /** `why` is for the log and quotes nothing of the request. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The vendor did not return the keys that verify its callbacks. A repetition of the call may be verified. */
  | { readonly kind: 'unverifiable' };

export interface ProviderCallback {
  /** Whether callbacks can be verified now. If not, the vendor gets no address. Throws on abort. */
  ready(signal: AbortSignal): Promise<boolean>;
  /** Verifies a callback: scheme, time (five minutes either way) and account. Throws on abort. */
  verify(request: CallbackRequest, nowMillis: number, signal: AbortSignal): Promise<CallbackVerdict>;
  /**
   * Whether the id of a genuine callback is that of an accepted job. The two are written differently: the id
   * of an accepted job also holds what its polls need.
   *
   * @param acceptedId the `jobId` of a pending answer
   * @param calledId the `jobId` of a genuine callback
   */
  isJob(acceptedId: string, calledId: string): boolean;
}

export interface ProviderCredentials {
  /** The key of a provider, or another value of this name, if set. Throws CredentialsUnreadable. */
  read(name: string): Promise<string | undefined>;
  /** The vendor refused the key. The next read asks the secret store again. */
  forget(provider: string): void;
}

/** Where the credentials hold our account: the vendor signs for every account, and we take ours. */
export function callbackAccountOf(provider: string): string {
  return `${provider}.callback-account`;
}

/** The secret store did not return the keys. No vendor was called. */
export class CredentialsUnreadable extends Error {
  override readonly name = 'CredentialsUnreadable';
}

export function renderedAs(bytes: Uint8Array, billedMicros?: Micros): Rendered {
  return { kind: 'rendered', bytes, ...(billedMicros !== undefined && { billedMicros }) };
}

export function refusedBy(reason: RefusalReason, detail?: string, retryAfterMillis?: number): Refused {
  return {
    kind: 'refused',
    reason,
    ...(detail !== undefined && { detail }),
    ...(reason === 'unavailable' && retryAfterMillis !== undefined && { retryAfterMillis }),
  };
}

/** The providers in reach, by name. Undefined: there is none. Throws Overloaded when unknown. */
export interface Providers {
  get(name: string): ImageProvider | undefined | Promise<ImageProvider | undefined>;
}

// What every vendor's folder offers: an adapter that renders, and a check of our key that costs nothing.

export interface VendorSettings {
  /** The name under which the table of vendors lists the vendor, and under which its key is stored. */
  readonly name: string;
  readonly credentials: ProviderCredentials;
  /** The clock of the service, for what is asked of the vendor only from time to time. */
  readonly clock: Pick<Clock, 'now' | 'timeout'>;
  /** Replaces the vendor's own address, for a fake or a proxy. It has no slash at its end. */
  readonly baseUrl?: string;
}

export interface CredentialCheck {
  /** 'unchecked': the vendor has no such call, or there is no key. */
  readonly verdict: 'accepted' | 'refused' | 'unreachable' | 'unchecked';
  /** For a person: "HTTP 200", "HTTP 401 invalid_api_key", or why nothing was asked. Never the key itself. */
  readonly detail: string;
}

export interface Vendor {
  /** @param bedrockRegion the AWS region whose models Bedrock is asked for; the other vendors ignore it */
  readonly create: (
    settings: VendorSettings,
    bedrockRegion: string,
  ) => ImageProvider | Promise<ImageProvider>;
  /** Costs nothing. Throws when the signal aborts. */
  readonly check: (settings: VendorSettings, signal: AbortSignal) => Promise<CredentialCheck>;
}
