/** The end of a rendering: store the image and complete the creation. */
import { CreationFailed } from '../contract/failures.ts';
import type { CreationRecord } from '../creations/creation.ts';
import { Overloaded } from '../values/errors.ts';
import { errorName } from '../values/runtime.ts';
import type { HeldLease } from './held-lease.ts';
import type { CompletionServices } from './open-completion.ts';
import type { Rendering } from './walk-routes.ts';

/**
 * How long each step may take before its lease is given up. Each is well above the time limits of the step's
 * own calls.
 */
const storeMillis = 60_000;
const completeMillis = 30_000;
const dayMillis = 86_400_000;

/**
 * Stores the image and commits. A late image of a creation that is terminal is discarded. Throws Overloaded
 * when the table is too busy: the next try finds the stored image and completes it.
 */
export async function completeCreation(
  creation: CreationRecord,
  rendering: Omit<Rendering, 'kind'>,
  lease: HeldLease,
  services: CompletionServices,
): Promise<'completed' | 'already_terminal'> {
  lease.begin('store_image', storeMillis);
  await store(rendering, services);
  lease.begin('complete_creation', completeMillis);
  return commit(creation, rendering, services);
}

async function store(
  { image, bytes }: Omit<Rendering, 'kind'>,
  { clock, resultDays, images, log }: CompletionServices,
): Promise<void> {
  if (!bytes) return;
  try {
    // The creation ends a moment later, and its results with it.
    await images.put(image, bytes, clock.now() + resultDays * dayMillis);
  } catch (error) {
    log.alarm('image_not_stored', { error: errorName(error) });
    throw new CreationFailed('InternalFailure');
  }
}

/** A busy table never leads to a refund. */
async function commit(
  creation: CreationRecord,
  rendering: Omit<Rendering, 'kind'>,
  services: CompletionServices,
): Promise<'completed' | 'already_terminal'> {
  const { clock, creations, log } = services;
  const nowMillis = clock.now();
  const committed = await creations.complete(creation, {
    results: [rendering.image],
    resultsExpireAt: nowMillis + services.resultDays * dayMillis,
    attempts: rendering.attempts,
    nowMillis,
  });
  if (committed === 'busy')
    throw new Overloaded('the image is stored; the table was too busy to complete the creation');
  if (committed === 'completed')
    log.info('creation_completed', { millis: nowMillis - Date.parse(creation.createdAt) });
  return committed;
}
