/** A creation as the portal shows it. No provider is named anywhere: there is a first renderer, and a second. */
import { requestSent } from '../api/request-sent.ts';
import { shownFailure } from '../contract/failures.ts';
import type { CreationDetail, CreationRow, PictureView } from '../contract/portal-views.ts';
import { plainShown } from '../contract/request-fields.ts';
import {
  type CreationRecord,
  isTerminal,
  nextPollSeconds,
  resultUrls,
  type StoredImage,
} from '../creations/creation.ts';
import type { AddressOf } from '../creations/result-addresses.ts';
import { thumbnailKey } from '../creations/thumbnails.ts';
import type { KeyId } from '../values/ids.ts';
import { toUsd } from '../values/money.ts';
import type { Delivery } from '../webhooks/delivery.ts';
import { timelineOf } from './timeline.ts';

export interface Showing {
  readonly keyNames: ReadonlyMap<KeyId, string>;
  readonly addressOf: AddressOf;
  readonly nowMillis: number;
}

export function creationRow(creation: CreationRecord, showing: Showing): CreationRow {
  const { keyId, webhook, resultsExpireAt } = creation;
  const { error = null, error_code = null } = shownFailure(creation) ?? {};
  const urls = resultUrls(creation, showing.addressOf, showing.nowMillis);
  return {
    id: creation.id,
    status: creation.status,
    model: creation.model,
    prompt: creation.prompt,
    resolution: creation.resolution,
    aspect_ratio: creation.aspectRatio,
    cost: toUsd(creation.costMicros),
    amount_refunded: toUsd(creation.refundedMicros),
    error,
    error_code,
    user: creation.user ?? null,
    key: { id: keyId, name: showing.keyNames.get(keyId) ?? keyId },
    result_urls: urls,
    picture: pictureOf(urls[0], creation, showing),
    result_expires_at: resultsExpireAt === undefined ? null : new Date(resultsExpireAt).toISOString(),
    webhook: webhook ? { status: webhook.status, attempts: webhook.attempts } : null,
    created_at: creation.createdAt,
    completed_at: creation.completedAt ?? null,
    cancelled_at: creation.cancelledAt ?? null,
    look_after_seconds: isTerminal(creation.status) ? null : nextPollSeconds(creation, showing.nowMillis),
  };
}

function pictureOf(
  url: string | undefined,
  creation: CreationRecord,
  { addressOf, nowMillis }: Showing,
): PictureView | null {
  if (url === undefined) return null;
  const { results, colours } = creation;
  const [image] = results;
  if (!image) return null;
  const { width, height, contentType: content_type } = image;
  const form = (name: 'small' | 'large') =>
    colours === undefined ? null : addressOf(thumbnailKey(image.key, name), creation, nowMillis);
  return {
    ...{ url, width, height, content_type, small_url: form('small'), large_url: form('large') },
    colours: (colours?.match(/.{6}/g) ?? []).map((colour) => `#${colour}`),
  };
}

export function creationDetail(
  creation: CreationRecord,
  deliveries: readonly Delivery[],
  showing: Showing,
): CreationDetail {
  const row = creationRow(creation, showing);
  const { webhook } = creation;
  return {
    ...row,
    output_format: creation.outputFormat,
    ...plainShown(creation),
    seed: creation.seed,
    metadata: creation.metadata,
    source_images: creation.sources.length,
    results: row.result_urls.map((url, place) => imageView(url, creation.results[place])),
    retryable: shownFailure(creation)?.retryable ?? null,
    webhook_url: webhook === undefined || webhook.url === '' ? null : webhook.url,
    ...(creation.copy && { copy: creation.copy }),
    timeline: timelineOf(creation, deliveries, row.key.name),
    can_cancel: !isTerminal(creation.status),
    can_redeliver: webhook !== undefined && webhook.status !== 'pending',
    request: requestSent(creation),
  };
}

function imageView(url: string, image: StoredImage | undefined): CreationDetail['results'][number] {
  return {
    url,
    width: image?.width ?? 0,
    height: image?.height ?? 0,
    content_type: image?.contentType ?? '',
    bytes: image?.bytes ?? 0,
  };
}
