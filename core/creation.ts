/**
 * A creation: its record, its life cycle and what a client sees of it.
 *
 *   queued ──▶ processing ──▶ completed
 *      └────────────┴───────▶ failed (refunded in full)
 */
import type { AspectRatio, OutputFormat, Resolution } from './image-formats.ts';
import { failures, type FailureName } from './failure.ts';
import type { AccountId, CreationId, KeyId } from './ids.ts';
import type { Metadata } from './metadata.ts';
import { toUsd, type Micros } from './money.ts';

export const creationStatuses = ['queued', 'processing', 'completed', 'failed'] as const;
export type CreationStatus = (typeof creationStatuses)[number];

export interface StoredImage {
  /** The object's key in the results bucket: unguessable, and its public path. */
  readonly key: string;
  readonly width: number;
  readonly height: number;
  readonly contentType: string;
  readonly bytes: number;
}

/** A route as it was when the creation was accepted. */
export interface RouteChoice {
  readonly provider: string;
  readonly providerModel: string;
  /** Of vendors that render one model in several qualities. */
  readonly quality?: string;
}

/** One provider tried for a creation; for the operator, never shown to a client. */
export interface RouteAttempt extends RouteChoice {
  readonly startedAt: string;
  readonly endedAt?: string;
  /** Where its image will be stored: chosen before the provider is called, so that a stored image is found again. */
  readonly resultKey: string;
  /** Of an asynchronous provider; stored before the first poll. */
  readonly jobId?: string;
  /** Absent while it is unknown how it ended. */
  readonly outcome?: string;
  /** Status and code of the vendor's answer, where there was something to say. */
  readonly detail?: string;
}

export interface WebhookState {
  readonly url: string;
  readonly status: 'pending' | 'delivered' | 'failed' | 'skipped';
  /** Attempts of the current round. */
  readonly attempts: number;
  /** Unix milliseconds before which no further attempt may start. */
  readonly nextAt: number;
  /** The delivery that took the last attempt. */
  readonly claimedBy?: string;
  /** The bytes sent in every attempt; set at the first. */
  readonly body?: string;
}

export interface CreationRecord {
  readonly id: CreationId;
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** X-Request-Id of the request that made it. Kept in the ledger row of its charge, where it costs nothing; absent when read. */
  readonly requestId?: string;
  readonly status: CreationStatus;
  readonly model: string;
  readonly prompt: string | null;
  readonly resolution: Resolution;
  readonly aspectRatio: AspectRatio;
  readonly outputFormat: OutputFormat;
  readonly seed: number | null;
  /** The copied source images, in the request's order. */
  readonly sources: readonly StoredImage[];
  readonly metadata: Metadata;
  readonly costMicros: Micros;
  readonly refundedMicros: Micros;
  /** The UTC month whose spend of the key was charged, "2026_11". */
  readonly chargedMonth: string;
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly completedAt?: string;
  /** Unix milliseconds at which the creation has to be terminal. */
  readonly deadlineAt: number;
  readonly failure?: FailureName;
  readonly results: readonly StoredImage[];
  /** Unix milliseconds. */
  readonly resultsExpireAt?: number;
  readonly webhook?: WebhookState;
  /** Allowed to the account when it was accepted, in the order in which they are tried. */
  readonly routes: readonly RouteChoice[];
  readonly attempts: readonly RouteAttempt[];
  /** Whoever renders it now, and until when (Unix milliseconds) nobody else may. */
  readonly lease?: { readonly holder: string; readonly until: number };
  /** Executions started for it so far. */
  readonly executions: number;
  /** How often the reconciler had to act on it. */
  readonly recoveries: number;
  /** Unix milliseconds; stands until it is terminal and its webhook settled. */
  readonly dueAt?: number;
}

export function isTerminal(status: CreationStatus): boolean {
  return status === 'completed' || status === 'failed';
}

/** The name of a creation's nth execution: its id, then id-2, id-3. */
export function executionName(id: CreationId, number: number): string {
  return number === 1 ? id : `${id}-${number}`;
}

/** The UTC month of a time as the key's spend attribute names it, "2026_11". */
export function monthOf(millis: number): string {
  return new Date(millis).toISOString().slice(0, 7).replace('-', '_');
}

/** When the spend of a month starts anew: the first instant of the next, RFC 3339. */
export function nextMonth(millis: number): string {
  const date = new Date(millis);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)).toISOString();
}

/** The addresses of a creation's images; none once they have expired. */
export function resultUrls(creation: CreationRecord, resultsBaseUrl: string, nowMillis: number): string[] {
  if ((creation.resultsExpireAt ?? 0) <= nowMillis) return [];
  return creation.results.map((image) => `${resultsBaseUrl}/${image.key}`);
}

/** The creation as its client sees it (decisions.md, Creation). */
export function creationView(
  creation: CreationRecord,
  resultsBaseUrl: string,
  nowMillis: number,
): Record<string, unknown> {
  const urls = resultUrls(creation, resultsBaseUrl, nowMillis);
  const failure = creation.failure === undefined ? undefined : failures[creation.failure];
  return {
    id: creation.id,
    status: creation.status,
    model: creation.model,
    prompt: creation.prompt,
    resolution: creation.resolution,
    aspect_ratio: creation.aspectRatio,
    output_format: creation.outputFormat,
    seed: creation.seed,
    cost: toUsd(creation.costMicros),
    amount_refunded: toUsd(creation.refundedMicros),
    currency: 'USD',
    ...(creation.status === 'completed' && {
      result_urls: urls,
      results: urls.map((url, index) => imageView(url, creation.results[index])),
      result_expires_at: new Date(creation.resultsExpireAt ?? 0).toISOString(),
    }),
    ...(failure && { error: failure.message, retryable: failure.retryable }),
    webhook: creation.webhook
      ? { url: creation.webhook.url, status: creation.webhook.status, attempts: creation.webhook.attempts }
      : null,
    metadata: creation.metadata,
    created_at: creation.createdAt,
    started_at: creation.startedAt ?? null,
    completed_at: creation.completedAt ?? null,
  };
}

function imageView(url: string, image: StoredImage | undefined): Record<string, unknown> {
  return {
    url,
    width: image?.width,
    height: image?.height,
    content_type: image?.contentType,
    bytes: image?.bytes,
  };
}
