/** Whether a picture shows what its request asked for. Another picture is never delivered. */
import { backgroundIn } from '../contract/request-fields.ts';
import type { CreationRecord } from '../creations/creation.ts';
import type { ImageStore } from '../creations/image-store.ts';
import type { Measures } from '../creations/measures.ts';
import { type Clock, errorName, type Log } from '../values/runtime.ts';
import type { RouteEnd } from './route-end.ts';
import { judgeImage } from './route-verdict.ts';

/** How long measuring the pixels of one picture may take. */
export const measureMillis = 15_000;
/** The mean difference, of 255, that is allowed in the part that a mask protects. */
const mostChange = 2;

interface Services {
  readonly clock: Pick<Clock, 'timeout'>;
  readonly log: Log;
  readonly images: Pick<ImageStore, 'get'>;
  readonly measures: Measures;
}

/** The end as it came, or not_honoured. A picture that cannot be read counts as not honoured. */
export async function honouredEnd(
  end: RouteEnd,
  creation: CreationRecord,
  services: Services,
): Promise<RouteEnd> {
  const isMeasured = backgroundIn(creation) !== undefined || creation.mask !== undefined;
  if (end.kind !== 'rendered' || !isMeasured) return end;
  // What is no picture of this format is unusable for another reason.
  if (judgeImage(end.bytes, creation).kind !== 'good') return end;
  const limit = services.clock.timeout(measureMillis);
  try {
    const detail =
      (await missedBackground(end.bytes, creation, limit.signal, services)) ??
      (await missedMask(end.bytes, creation, limit.signal, services));
    return detail === undefined ? end : { ...end, kind: 'not_honoured', detail };
  } finally {
    limit.release();
  }
}

type Look = (
  bytes: Uint8Array,
  creation: CreationRecord,
  signal: AbortSignal,
  services: Services,
) => Promise<string | undefined>;

const missedBackground: Look = async (bytes, creation, signal, { measures, log }) => {
  const background = backgroundIn(creation);
  if (background === undefined) return undefined;
  const isTransparent = await measured(() => measures.isTransparent(bytes, signal), log);
  const found = isTransparent === undefined ? 'unreadable' : isTransparent ? 'transparent' : 'opaque';
  if (found === background) return undefined;
  return `background ${found} instead of ${background}`;
};

const missedMask: Look = async (picture, { mask, sources: [first] }, signal, { measures, images, log }) => {
  if (!mask || !first) return undefined;
  const change = await measured(async () => {
    const [source, bytes] = await Promise.all([images.get(first.key), images.get(mask.key)]);
    return measures.changeWhereProtected({ picture, source, mask: bytes }, signal);
  }, log);
  if (change === undefined) return 'mask unreadable';
  if (change <= mostChange) return undefined;
  return `${change.toFixed(1)} of 255 changed where the mask protects`;
};

/** The mask as vendors read it. One whose pixels cannot be read is sent as it came. */
export async function maskToSend(mask: Uint8Array, { clock, measures, log }: Services): Promise<Uint8Array> {
  const limit = clock.timeout(measureMillis);
  try {
    return (await measured(() => measures.seeThroughMask(mask, limit.signal), log)) ?? mask;
  } finally {
    limit.release();
  }
}

/** Undefined: the pixels could not be read. */
async function measured<Found>(measure: () => Promise<Found>, log: Log): Promise<Found | undefined> {
  try {
    return await measure();
  } catch (error) {
    log.info('pixels_not_read', { error: errorName(error) });
    return undefined;
  }
}
