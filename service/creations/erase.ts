/**
 * The erasure of a creation that has ended: by its client, by an operator, or with its whole account.
 *
 *   at once     one write takes the texts out of the record, and the images are deleted
 *   16 minutes  later the second pass deletes images and rows of deliveries again (service/erase)
 *
 * A client can also delete the results alone, in the same two steps. Texts, webhook and log stay.
 *
 * A function that read the creation before the write may still store an image or a row of a delivery. No function
 * runs for more than 15 minutes, so the second pass finds everything. It also ends an erasure that was cut off.
 */
import { Overloaded } from '../values/errors.ts';
import { type Clock, isKnownVersion, type Log, type Schema } from '../values/runtime.ts';
import { type CreationRecord, hasDeletedImages } from './creation.ts';
import type { DeleteResultsOutcome, EraseOutcome, EraseStore } from './erase-store.ts';
import type { ImageStore } from './image-store.ts';
import { thumbnailKey } from './thumbnails.ts';

const secondPassMillis = 16 * 60_000;

export interface EraseServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly schema: Schema;
  readonly erasures: Pick<EraseStore, 'erase'>;
  readonly images: Pick<ImageStore, 'remove'>;
}

export interface DeleteResultsServices extends Omit<EraseServices, 'erasures'> {
  readonly erasures: Pick<EraseStore, 'deleteResults'>;
}

/** Does nothing when the creation was erased before. @throws Overloaded: nothing was erased */
export async function eraseCreation(
  asked: CreationRecord,
  by: NonNullable<CreationRecord['erasedBy']>,
  { clock, log, schema, erasures, images }: EraseServices,
): Promise<EraseOutcome> {
  if (asked.erasedBy !== undefined) return { kind: 'erased', creation: asked };
  // A release that does not understand the record erases nothing of it.
  if (!isKnownVersion(asked.v, schema)) throw new Overloaded('a newer release has accepted this creation');
  const now = clock.now();
  const outcome = await erasures.erase(asked, { by, againAt: now + secondPassMillis }, now);
  if (outcome.kind === 'open') return outcome;
  const { id: creationId, accountId } = asked;
  log.info('creation_erased', { creationId, accountId, by });
  try {
    await images.remove(imageKeysOf(outcome.creation));
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error;
    log.info('images_left_to_second_pass', { creationId, accountId });
  }
  return outcome;
}

/**
 * Deletes the results of a completed creation and their thumbnails. A repetition deletes them again, so that a
 * client whose first request met a busy bucket can be sure. @throws Overloaded: some images may still be there
 */
export async function deleteResults(
  asked: CreationRecord,
  by: NonNullable<CreationRecord['resultsDeletedBy']>,
  { clock, log, schema, erasures, images }: DeleteResultsServices,
): Promise<DeleteResultsOutcome> {
  if (asked.status !== 'completed') return { kind: 'not_completed', creation: asked };
  if (!hasDeletedImages(asked)) {
    if (!isKnownVersion(asked.v, schema)) throw new Overloaded('a newer release has accepted this creation');
    const now = clock.now();
    const outcome = await erasures.deleteResults(asked, { by, againAt: now + secondPassMillis }, now);
    if (outcome.kind === 'not_completed') return outcome;
    log.info('results_deleted', { creationId: asked.id, accountId: asked.accountId, by });
  }
  await images.remove(resultImageKeysOf(asked));
  return { kind: 'deleted' };
}

type OfImages = Pick<CreationRecord, 'results' | 'sources' | 'mask' | 'attempts'>;

/** The keys of the results, also of those that an attempt may have stored and nobody has seen. */
function resultKeysOf({ results, attempts }: OfImages): readonly string[] {
  return [...new Set([...results.map(({ key }) => key), ...attempts.map(({ resultKey }) => resultKey)])];
}

/** The keys of all images of a creation, without the thumbnails, which can be made anew. */
export function originalKeysOf(creation: OfImages): readonly string[] {
  const { sources, mask } = creation;
  const given = mask ? [...sources, mask] : sources;
  return [...resultKeysOf(creation), ...new Set(given.map(({ key }) => key))];
}

/** The keys of all that has an address: the results and their thumbnails. */
export function resultImageKeysOf(creation: OfImages): readonly string[] {
  return [...resultKeysOf(creation), ...formKeysOf(creation)];
}

/** All that the bucket may have of a creation. */
export function imageKeysOf(creation: OfImages): readonly string[] {
  return [...originalKeysOf(creation), ...formKeysOf(creation)];
}

function formKeysOf(creation: OfImages): readonly string[] {
  return resultKeysOf(creation).flatMap((key) => [thumbnailKey(key, 'small'), thumbnailKey(key, 'large')]);
}
