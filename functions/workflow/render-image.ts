/**
 * RenderImage: takes the lease, has the image rendered, stores it, and completes the
 * creation. Safe to run again at any time: it goes on where the record says.
 */
import type { Context } from 'aws-lambda';
import type { CreationRecord } from '../../core/creation.ts';
import { CreationFailed } from '../../core/failure.ts';
import { errorName } from '../error-name.ts';
import { renderServices, type RenderServices } from '../services.ts';
import { idsOf, logWith } from '../log-with.ts';
import { creationIdOf, Remedy, type Payload } from './payload.ts';
import { walkRoutes, type Rendering } from './walk-routes.ts';

/** Long enough for a renewal to be late, short enough that a crash is noticed within 30 s. */
const leaseMillis = 6_000;
const renewMillis = 2_000;
/** What letting a vendor go, storing, committing and refunding may take of the creation's time: this, or a quarter of a short one. */
const reserveMillis = 2_000;
const dayMillis = 86_400_000;

export async function renderImage(payload: Payload, holder: string, services: RenderServices): Promise<Payload> {
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
      await renderLeased(outcome.creation, holder, logWith(services, idsOf(outcome.creation)));
      return payload;
  }
}

function stillRunning(): Remedy {
  return new Remedy('StillRunning', 'another invocation renders this creation');
}

async function renderLeased(creation: CreationRecord, holder: string, services: RenderServices): Promise<void> {
  const { clock, creations, log } = services;
  const reserve = Math.min(reserveMillis, (creation.deadlineAt - Date.parse(creation.createdAt)) / 4);
  const stopRenewing = clock.every(renewMillis, () => {
    creations.renewLease(creation.id, holder, clock.now() + leaseMillis).catch((error: unknown) => {
      log.info('lease_not_renewed', { error: errorName(error) });
    });
  });
  try {
    const save = async (attempts: CreationRecord['attempts']): Promise<void> => {
      if (!(await creations.saveAttempts(creation.id, holder, attempts))) throw stillRunning();
    };
    const rendering = await walkRoutes({ creation, until: creation.deadlineAt - reserve, save, services });
    await store(rendering, services);
    await commit(creation, holder, rendering, services);
  } finally {
    stopRenewing();
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

/** A good image is never refunded for a busy table: the retry finds it stored and commits it. */
async function commit(creation: CreationRecord, holder: string, rendering: Rendering, services: RenderServices): Promise<void> {
  const { clock, creations, log } = services;
  const nowMillis = clock.now();
  const committed = await creations.complete(creation, {
    results: [rendering.image],
    resultsExpireAt: nowMillis + services.resultDays * dayMillis,
    attempts: rendering.attempts,
    nowMillis,
  });
  if (committed === 'completed') log.info('creation_completed', { millis: nowMillis - Date.parse(creation.createdAt) });
  if (committed !== 'busy') return;
  await creations.renewLease(creation.id, holder, nowMillis);
  throw new Remedy('CommitBusy', 'the image is stored; the table was too busy to complete the creation');
}

const services = renderServices();

export const handler = async (payload: Payload, { awsRequestId: requestId }: Context): Promise<Payload> =>
  renderImage(payload, requestId, logWith(services, { requestId }));
