/** How the creations of a request ended, and the answer to the client. */
import { costHeader } from '../api/answer.ts';
import { providerRetrySeconds } from '../api/problems.ts';
import { failures } from '../contract/failures.ts';
import {
  type CreationRecord,
  hasDeletedImages,
  isTerminal,
  type StoredImage,
} from '../creations/creation.ts';
import type { Creations } from '../generate/earlier-request.ts';
import { Overloaded } from '../values/errors.ts';
import { asMicros, type Micros } from '../values/money.ts';
import type { Problem } from '../values/problem.ts';
import { errorName } from '../values/runtime.ts';
import type { OpenaiImageServices } from './open.ts';
import { type ErrorCode, failureRows, OpenaiRefusal } from './refusal.ts';

type Services = Pick<OpenaiImageServices, 'images' | 'log' | 'addresses'>;

/**
 * A request that waited for minutes is held again at once. Without a slot, a library would use up its
 * retries.
 */
export const renderingRetrySeconds = { held: 1, withoutAPlace: 10 } as const;

export function isCompleted({ status }: Pick<CreationRecord, 'status'>): boolean {
  return status === 'completed';
}

export function paidFor(creations: Creations): Micros {
  return asMicros(creations.reduce((sum, one) => sum + one.costMicros - one.refundedMicros, 0));
}

/** The headers of every answer after the charge. */
export function creationHeaders(creations: Creations): Readonly<Record<string, string>> {
  return {
    'x-darkroom-creation-id': creations.map(({ id }) => id).join(','),
    ...costHeader(paidFor(creations)),
  };
}

/** The refusal of a request without a single picture. Undefined when there is one. */
export function refusalOf(
  creations: Creations,
  services: Services,
  waited: keyof typeof renderingRetrySeconds = 'held',
): Problem | undefined {
  if (!creations.every(({ status }) => isTerminal(status)))
    return stillRendering(creations, renderingRetrySeconds[waited], services);
  return creations.some(isCompleted) ? undefined : failed(creations[0], creationHeaders(creations));
}

export function failureOf(creation: CreationRecord): { readonly code: ErrorCode; readonly message: string } {
  const { failure = 'InternalFailure', cancelledAt } = creation;
  return cancelledAt === undefined
    ? { code: failureRows[failure], message: failures[failure].message }
    : { code: 'cancelled', message: 'The creation was cancelled. Its charge was refunded in full.' };
}

function failed(creation: CreationRecord, headers: Problem['headers']): Problem {
  const { code, message } = failureOf(creation);
  const { retryable } = failures[creation.failure ?? 'InternalFailure'];
  const isLater = code === 'provider_unavailable';
  return new OpenaiRefusal(code, message, {
    details: { creation_id: creation.id, retryable },
    headers: { ...headers, ...(isLater && { 'retry-after': String(providerRetrySeconds) }) },
    ...(code === 'content_policy_violation' && { param: 'prompt' }),
    ...(code === 'invalid_image' && { param: 'image' }),
  });
}

/** The addresses of paid pictures: one to GET with the same key, and the page of the portal. */
function placesOf(creations: Creations, { addresses: { api, portal } }: Services): Problem['details'] {
  return {
    creation_ids: creations.map(({ id }) => id),
    creations: creations.map(({ id }) => ({
      id,
      url: `${api}/creations/${id}`,
      page: `${portal}creations/${id}`,
    })),
  };
}

function stillRendering(creations: Creations, afterSeconds: number, services: Services): Problem {
  const message =
    'The pictures are not ready yet. They are charged, and they go on. The same request gets them without another charge, ' +
    'if a library sends it as a retry or it has an Idempotency-Key. details.creations names where each will be.';
  return new OpenaiRefusal('still_rendering', message, {
    details: placesOf(creations, services),
    headers: { ...creationHeaders(creations), 'retry-after': String(afterSeconds) },
  });
}

/** S3 asks to slow down for seconds at most. */
const busyRetrySeconds = 2;

export interface Picture {
  readonly creation: CreationRecord;
  readonly image: StoredImage;
}

export function picturesOf(creations: readonly CreationRecord[]): readonly Picture[] {
  return creations
    .filter(isCompleted)
    .flatMap((creation) => creation.results.map((image) => ({ creation, image })));
}

/** Reads the first picture and checks the others before the headers are sent. Throws 404 if one was deleted, 500 if one is absent. */
export async function firstBytes(
  pictures: readonly Picture[],
  creations: Creations,
  services: Services,
): Promise<Uint8Array> {
  const [first, ...others] = pictures;
  if (pictures.some(({ creation }) => hasDeletedImages(creation)))
    throw new OpenaiRefusal('not_found', 'The pictures of this request were deleted.', {
      headers: creationHeaders(creations),
    });
  try {
    if (!first) throw new Error('no creation has a picture');
    const found = await Promise.all(others.map(({ image }) => services.images.find(image.key)));
    if (found.includes(undefined)) throw new Error('a picture is not in the bucket');
    return await services.images.get(first.image.key);
  } catch (error) {
    throw unreadable(error, creations, services);
  }
}

/** The refusal for pictures that cannot be read: 503 when the bucket is merely busy, else 500 with an alarm. */
export function unreadable(error: unknown, creations: Creations, services: Services): OpenaiRefusal {
  const { log } = services;
  const fields = { creationId: creations[0].id, error: errorName(error) };
  const isBusy = error instanceof Overloaded;
  if (isBusy) log.info('result_not_read', fields);
  else log.alarm('request_failed', fields);
  const message = 'The pictures are there, but they could not be read. Send the same request again.';
  return new OpenaiRefusal(isBusy ? 'overloaded' : 'internal_error', message, {
    details: placesOf(creations, services),
    headers: { ...creationHeaders(creations), ...(isBusy && { 'retry-after': String(busyRetrySeconds) }) },
  });
}

/** A multiple of 3, so that the texts of all parts together are the text of the whole. */
const partBytes = 196_608;

export function* base64Parts(bytes: Uint8Array): Generator<string> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < all.length; at += partBytes) yield all.toString('base64', at, at + partBytes);
}
