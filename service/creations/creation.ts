/**
 * A creation: its record, its life cycle and what a client sees of it.
 *
 *   queued ──▶ processing ──▶ completed
 *      └────────────┴───────▶ failed (refunded in full)
 */
import { type FailureName, shownFailure } from '../contract/failures.ts';
import { pollPace } from '../contract/limits.ts';
import {
  type AspectRatio,
  type OutputFormat,
  type PlainMembers,
  plainShown,
  type Resolution,
} from '../contract/request-fields.ts';
import type { RouteOutcome } from '../contract/route-outcome.ts';
import { type AccountId, type CreationId, executionName, type KeyId, type TokenId } from '../values/ids.ts';
import { type Micros, toUsd } from '../values/money.ts';
import type { ContentCredentials } from './content-credentials.ts';
import type { Metadata } from './image-request.ts';
import type { AddressOf } from './result-addresses.ts';

export const creationStatuses = ['queued', 'processing', 'completed', 'failed'] as const;
export type CreationStatus = (typeof creationStatuses)[number];

export interface StoredImage {
  /** The object's key in the results bucket: unguessable, and its public path. */
  readonly key: string;
  readonly width: number;
  readonly height: number;
  readonly contentType: string;
  readonly bytes: number;
  /** Absent for a source image, and for a result that a release before this field stored. */
  readonly contentCredentials?: ContentCredentials;
}

export interface RouteChoice {
  readonly provider: string;
  readonly providerModel: string;
  readonly quality?: string;
}

/** One call of a provider for a creation. Operators see it; clients never do. */
export interface RouteAttempt extends RouteChoice {
  readonly startedAt: string;
  readonly endedAt?: string;
  /** The key of its image in the bucket. Chosen before the call, so that a later run finds a stored image. */
  readonly resultKey: string;
  /** How long the route usually took when the attempt began (service/creations/creation.ts). Absent: it was unknown. */
  readonly usualMillis?: number;
  /** The job of an asynchronous provider. Stored before the first poll. */
  readonly jobId?: string;
  /** The hash of the capability in the address that the vendor got for its callback (callback-address.ts). */
  readonly callbackHash?: string;
  /** Absent while the outcome is unknown. */
  readonly outcome?: RouteOutcome;
  /** Status and code of the vendor's answer, where the provider gave them. */
  readonly detail?: string;
  /** Unix milliseconds from which the vendor may be asked again. Only with the outcome 'unavailable'. */
  readonly againAt?: number;
  /** The cost of a rendering by provider-costs.json of that release. Absent when unknown. */
  readonly providerCostMicros?: Micros;
  /** The price of a unit, by the same file, if the route's vendor reports how many units it bills. */
  readonly unitMicros?: Micros;
  /** What the vendor billed, by its own answer. Absent when the answer does not say. */
  readonly billedMicros?: Micros;
}

export interface WebhookState {
  /** Empty after an erasure, and when the event goes to the endpoints of the account. */
  readonly url: string;
  readonly status: 'pending' | 'delivered' | 'failed' | 'skipped';
  /** Attempts of the current round. */
  readonly attempts: number;
  /** Unix milliseconds before which no further attempt may start. */
  readonly nextAt: number;
  readonly claimedBy?: string;
  /**
   * The event goes to endpoints: the schedule of each, by its id. Empty until the first attempt names them. The
   * members above then sum all of them up (service/webhooks/endpoint-round.ts).
   */
  readonly endpoints?: EndpointSchedules;
  /** The body of every attempt, the same bytes each time. Set at the first attempt. */
  readonly body?: string;
}

/**
 * The state of the copy of the picture, as the client sees it. The schedule is in the item of the work
 * (service/copies).
 */
export interface CopyState {
  readonly status: 'pending' | 'copied' | 'failed';
  /** Attempts of the current round that have ended. */
  readonly attempts: number;
  /** The address of the object in the client's bucket. null: it is not there. */
  readonly url: string | null;
  /** Why the last attempt failed, or why no attempt is made any more. */
  readonly error: string | null;
}

export type EndpointSchedules = Readonly<
  Record<string, Pick<WebhookState, 'status' | 'attempts' | 'nextAt' | 'claimedBy'>>
>;

export interface CreationRecord extends PlainMembers {
  /** The version of its schema (service/values/runtime.ts). Absent in the records of older releases. */
  readonly v?: number;
  readonly id: CreationId;
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** The token of an end user that ordered it. Absent: a key did. */
  readonly tokenId?: TokenId;
  /** X-Request-Id. The ledger row of the charge keeps it, so it is absent in a record that was read. */
  readonly requestId?: string;
  readonly status: CreationStatus;
  readonly model: string;
  readonly prompt: string | null;
  readonly resolution: Resolution;
  readonly aspectRatio: AspectRatio;
  readonly outputFormat: OutputFormat;
  readonly seed: number | null;
  /** The number of the creation among those of its request. Absent in the first, number 0. */
  readonly index?: number;
  readonly sources: readonly StoredImage[];
  /** The mask of the first source image. */
  readonly mask?: StoredImage;
  readonly metadata: Metadata;
  /** The client's user. Absent when the request names no user, and in records of older releases. */
  readonly user?: string;
  readonly costMicros: Micros;
  readonly refundedMicros: Micros;
  /** The UTC month in which the charge counts for the key, "2026_11". */
  readonly chargedMonth: string;
  /** The UTC day in which the charge counts for the key, "2026_11_21". Absent in records of older releases. */
  readonly chargedDay?: string;
  /** Set when the charge also counts for `user`: the key had a cap for each user. */
  readonly countedForUser?: true;
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly completedAt?: string;
  /** Unix milliseconds at which the creation has to be terminal. */
  readonly deadlineAt: number;
  readonly failure?: FailureName;
  /** When a vendor was last asked to stop the job for a cancel. Absent once the cancel was withdrawn. */
  readonly cancelRequestedAt?: string;
  /** When the client or an operator cancelled the creation. It failed then. */
  readonly cancelledAt?: string;
  /** When its texts were erased, RFC 3339: prompt, metadata, user, address and body of the webhook. */
  readonly erasedAt?: string;
  /** Whose erasure included the images: the id of a key, or "operator". */
  readonly erasedBy?: KeyId | 'operator';
  /** The key that had only the images deleted. They then expired at that moment. */
  readonly resultsDeletedBy?: KeyId;
  readonly results: readonly StoredImage[];
  /** Of the first result (thumbnails.ts). Absent: no thumbnails of it are stored. */
  readonly colours?: string;
  /** Unix milliseconds. */
  readonly resultsExpireAt?: number;
  /**
   * Minutes for which a signed address of its results is valid. Absent: the addresses are only unguessable.
   */
  readonly signedMinutes?: number;
  readonly webhook?: WebhookState;
  /** The account had a bucket, so the picture is copied there once it is completed. */
  readonly copies?: true;
  /** Absent until the creation is completed, and without a bucket. */
  readonly copy?: CopyState;
  /** The account had an address for notices, so the end checks thresholds. Absent: it does not. */
  readonly isWatched?: true;
  /** The account read events, so the end writes one. Absent: the transaction of the end finds out. */
  readonly tellsEvents?: true;
  /** The routes that the account might use at acceptance, in the order in which they are tried. */
  readonly routes: readonly RouteChoice[];
  readonly attempts: readonly RouteAttempt[];
  /** The invocation that renders, and the end of its lease. Only CreationStore.readAll reads it reliably. */
  readonly lease?: { readonly holder: string; readonly until: number };
  /** The fencing token of the newest renderer. No earlier renderer may write the attempts. */
  readonly fence?: number;
  /** The revision of the operator's catalog by which the creation was sold. Absent: the service had none. */
  readonly catalogRevision?: string;
  /** The state machine of its executions (machines.ts). Absent: the plain one, as in older records. */
  readonly machine?: 'callback';
  readonly executions: number;
  readonly recoveries: number;
  /** Unix milliseconds of the reconciler's next check, until the creation and its webhook are settled. */
  readonly dueAt?: number;
}

/** Whether the vendor stopped the job for a cancel that still stands. Then it ends as cancelled. */
export function isStoppedByCancel({
  attempts,
  cancelRequestedAt,
}: Pick<CreationRecord, 'attempts' | 'cancelRequestedAt'>): boolean {
  return cancelRequestedAt !== undefined && attempts.at(-1)?.outcome === 'cancelled';
}

export function isTerminal(status: CreationStatus): boolean {
  return status === 'completed' || status === 'failed';
}

/**
 * Whether the images were deleted, alone or with the texts. Clocks differ, so resultsExpireAt is no proof.
 */
export function hasDeletedImages(creation: Pick<CreationRecord, 'erasedBy' | 'resultsDeletedBy'>): boolean {
  return creation.erasedBy !== undefined || creation.resultsDeletedBy !== undefined;
}

/** The addresses of a creation's images. Empty once the images have expired, or are deleted. */
export function resultUrls(creation: CreationRecord, addressOf: AddressOf, nowMillis: number): string[] {
  if (hasDeletedImages(creation) || (creation.resultsExpireAt ?? 0) <= nowMillis) return [];
  return creation.results.map(({ key }) => addressOf(key, creation, nowMillis));
}

/** The fields that answers, webhooks and the operator's view return exactly as they were sent. */
export function echoedFields({ metadata }: Pick<CreationRecord, 'metadata'>): Record<string, unknown> {
  return { metadata };
}

export function creationView(
  creation: CreationRecord,
  addressOf: AddressOf,
  nowMillis: number,
): Record<string, unknown> {
  const urls = resultUrls(creation, addressOf, nowMillis);
  return {
    id: creation.id,
    status: creation.status,
    model: creation.model,
    prompt: creation.prompt,
    resolution: creation.resolution,
    aspect_ratio: creation.aspectRatio,
    output_format: creation.outputFormat,
    ...plainShown(creation),
    cost: toUsd(creation.costMicros),
    amount_refunded: toUsd(creation.refundedMicros),
    currency: 'USD',
    ...(creation.status === 'completed' && {
      result_urls: urls,
      results: urls.map((url, index) => imageView(url, creation.results[index])),
      result_expires_at: new Date(creation.resultsExpireAt ?? 0).toISOString(),
    }),
    ...shownFailure(creation),
    webhook: creation.webhook?.url
      ? { url: creation.webhook.url, status: creation.webhook.status, attempts: creation.webhook.attempts }
      : null,
    ...(creation.copy && { copy: creation.copy }),
    ...echoedFields(creation),
    user: creation.user ?? null,
    created_at: creation.createdAt,
    started_at: creation.startedAt ?? null,
    completed_at: creation.completedAt ?? null,
    cancelled_at: creation.cancelledAt ?? null,
    ...(creation.erasedAt !== undefined && { erased_at: creation.erasedAt }),
  };
}

function imageView(url: string, image: StoredImage | undefined): Record<string, unknown> {
  return {
    url,
    width: image?.width,
    height: image?.height,
    content_type: image?.contentType,
    bytes: image?.bytes,
    ...(image?.contentCredentials && { content_credentials: image.contentCredentials }),
  };
}

export interface IdempotencyRecord {
  readonly creationIds: readonly [CreationId, ...CreationId[]];
  readonly requestHash: string;
  readonly expiresAt: number;
}

/** The ids of a creation for its log lines. @param execution by default the last */
export function idsOf(
  { id, accountId, executions }: CreationRecord,
  execution = executions,
): Readonly<Record<string, string>> {
  return { creationId: id, accountId, executionId: executionName(id, execution) };
}

/**
 * When a client should poll an open creation again: the header Retry-After of GET /creations/{id}.
 *
 * The running attempt knows how long its route usually takes. Before that time, a client waits for half of what is
 * left, so that an image that comes early is not missed for long. Around that time it polls every one or two
 * seconds. Later, and where no usual time is known, the polls become rarer the longer the creation takes.
 */
interface Polled extends Pick<CreationRecord, 'createdAt' | 'deadlineAt'> {
  readonly attempts: readonly Pick<RouteAttempt, 'outcome' | 'startedAt' | 'usualMillis'>[];
}

/** Whole seconds: at least 1, because a faster poll is refused, and no long wait beyond the deadline. */
export function nextPollSeconds(creation: Polled, nowMillis: number): number {
  const left = Math.ceil((creation.deadlineAt - nowMillis) / 1000);
  return Math.floor(Math.min(wishedSeconds(creation, nowMillis), Math.max(left, pollPace.usual)));
}

function wishedSeconds({ attempts, createdAt }: Polled, nowMillis: number): number {
  const running = attempts.at(-1);
  if (running?.outcome !== undefined || running?.usualMillis === undefined)
    return within(pollPace.usual, (nowMillis - Date.parse(createdAt)) / 6_000, pollPace.late);
  const { startedAt, usualMillis } = running;
  const near = usualMillis < pollPace.shortMillis ? pollPace.least : pollPace.usual;
  const untilUsual = Date.parse(startedAt) + usualMillis - nowMillis;
  return untilUsual > 0
    ? within(near, untilUsual / 2_000, pollPace.most)
    : within(near, -untilUsual / 3_000, pollPace.late);
}

function within(least: number, value: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
