/** The bytes of the pictures, one picture at a time, so that the function never holds two of them. */
import type { CreationRecord, StoredImage } from '../creations/creation.ts';
import type { SubmitServices } from '../generate/open.ts';
import type { Creations } from '../generate/replay.ts';
import { Overloaded } from '../values/errors.ts';
import { errorName } from '../values/runtime.ts';
import { creationHeaders, isCompleted } from './outcome.ts';
import { OpenaiRefusal } from './refusal.ts';

type Services = Pick<SubmitServices, 'images' | 'log'>;

/** S3 asks to slow down for seconds at most. */
const busyRetrySeconds = 2;

/** The result of a creation. */
export interface Picture {
  readonly creation: CreationRecord;
  readonly image: StoredImage;
}

export function picturesOf(creations: readonly CreationRecord[]): readonly Picture[] {
  return creations
    .filter(isCompleted)
    .flatMap((creation) => creation.results.map((image) => ({ creation, image })));
}

/**
 * Reads the first picture, and looks for the others, before the head of the answer is out. Throws 500 when one is
 * not there: then the client can still get an error, and repeats the request.
 */
export async function firstBytes(
  pictures: readonly Picture[],
  creations: Creations,
  services: Services,
): Promise<Uint8Array> {
  const [first, ...others] = pictures;
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
export function unreadable(error: unknown, creations: Creations, { log }: Services): OpenaiRefusal {
  const ids = creations.map(({ id }) => id);
  const fields = { creationId: ids[0], error: errorName(error) };
  const isBusy = error instanceof Overloaded;
  if (isBusy) log.info('result_not_read', fields);
  else log.alarm('request_failed', fields);
  const message = 'The pictures are there, but they could not be read. Send the same request again.';
  return new OpenaiRefusal(isBusy ? 'overloaded' : 'internal_error', message, {
    details: { creation_ids: ids },
    headers: { ...creationHeaders(creations), ...(isBusy && { 'retry-after': String(busyRetrySeconds) }) },
  });
}

/** A multiple of 3, so that the texts of all parts together are the text of the whole. */
const partBytes = 196_608;

/** The bytes in base64, by parts. */
export function* base64Parts(bytes: Uint8Array): Generator<string> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < all.length; at += partBytes) yield all.toString('base64', at, at + partBytes);
}
