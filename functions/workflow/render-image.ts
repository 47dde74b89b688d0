/**
 * RenderImage, a state of the execution: takes the lease, asks the providers for the image, stores the image,
 * and completes the creation. The function may run again at any time: it goes on where the record says.
 */
import type { CreationRecord } from '../../core/creation.ts';
import { CreationFailed } from '../../core/failure.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import { errorName } from '../error-name.ts';
import { renderServices, type RenderServices } from '../services/render.ts';
import { lambdaHandler } from '../lambda-handler.ts';
import { idsOf, logWith } from '../log-with.ts';
import { creationIdOf, Remedy, requireKnownRelease, type Payload } from './payload.ts';
import { holdLease, leaseMillis } from './held-lease.ts';
import { walkRoutes, type Rendering } from './walk-routes.ts';

/**
 * Time before the deadline that is kept for cancelling a job, storing, completing or refunding. A short
 * deadline keeps a quarter.
 */
const reserveMillis = 2_000;
/**
 * How long each step may take before its lease is given up. Each is well above the time limits of the step's
 * own calls.
 */
const providersGraceMillis = 20_000;
const storeMillis = 60_000;
const completeMillis = 30_000;
const dayMillis = 86_400_000;

/**
 * Throws CommitBusy when the table stays busy: that is no reason to fail a creation, and the state machine
 * tries again.
 */
export async function renderImage(
  payload: Payload,
  holder: string,
  services: RenderServices,
): Promise<Payload> {
  try {
    return await render(payload, holder, services);
  } catch (error) {
    if (error instanceof Overloaded) throw new Remedy('CommitBusy', 'the table was too busy to go on');
    throw error;
  }
}

async function render(payload: Payload, holder: string, services: RenderServices): Promise<Payload> {
  requireKnownRelease(payload);
  const id = creationIdOf(payload);
  const { clock, creations } = services;
  const now = clock.now();
  const outcome = await creations.lease(id, holder, now + leaseMillis, now);
  switch (outcome.kind) {
    case 'terminal':
    case 'absent':
      return payload;
    case 'leased_by_another':
      throw stillRunning();
    case 'leased':
      requireKnownRelease(outcome.creation);
      await renderLeased(outcome.creation, holder, logWith(services, idsOf(outcome.creation)));
      return payload;
  }
}

function stillRunning(): Remedy {
  return new Remedy('StillRunning', 'another invocation renders this creation');
}

async function renderLeased(
  creation: CreationRecord,
  holder: string,
  services: RenderServices,
): Promise<void> {
  const { clock, creations } = services;
  const reserve = Math.min(reserveMillis, (creation.deadlineAt - Date.parse(creation.createdAt)) / 4);
  const until = creation.deadlineAt - reserve;
  const lease = holdLease(creation.id, holder, services);
  try {
    const save = async (attempts: CreationRecord['attempts']): Promise<void> => {
      if (!(await creations.saveAttempts(creation.id, holder, attempts))) throw stillRunning();
    };
    lease.begin('ask_providers', Math.max(0, until - clock.now()) + providersGraceMillis);
    const rendering = await walkRoutes({ creation, until, save, services });
    lease.begin('store_image', storeMillis);
    await store(rendering, services);
    lease.begin('complete_creation', completeMillis);
    await commit(creation, rendering, services);
  } catch (error) {
    // The next invocation does not have to wait until the lease runs out.
    if (error instanceof Overloaded) await lease.giveBack();
    throw error;
  } finally {
    await lease.release();
  }
}

async function store({ image, bytes }: Rendering, { images, log }: RenderServices): Promise<void> {
  if (!bytes) return;
  try {
    await images.put(image, bytes);
  } catch (error) {
    log.alarm('image_not_stored', { error: errorName(error) });
    throw new CreationFailed('InternalFailure');
  }
}

/**
 * Completes the creation. A busy table never leads to a refund: the next try finds the stored image and
 * completes it.
 */
async function commit(
  creation: CreationRecord,
  rendering: Rendering,
  services: RenderServices,
): Promise<void> {
  const { clock, creations, log } = services;
  const nowMillis = clock.now();
  const committed = await creations.complete(creation, {
    results: [rendering.image],
    resultsExpireAt: nowMillis + services.resultDays * dayMillis,
    attempts: rendering.attempts,
    nowMillis,
  });
  if (committed === 'completed')
    log.info('creation_completed', { millis: nowMillis - Date.parse(creation.createdAt) });
  if (committed === 'busy')
    throw new Overloaded('the image is stored; the table was too busy to complete the creation');
}

export const handler = lambdaHandler(renderServices, async (payload: Payload, services, requestId) =>
  renderImage(payload, requestId, services),
);
