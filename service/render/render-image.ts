/**
 * RenderImage, a state of the execution: takes the lease, asks the providers for the image, stores the image,
 * completes the creation, makes the first attempt to deliver its webhook, and stores the thumbnails. The
 * function may run again at any time: it continues where the record says. In the machine whose tasks wait,
 * the payload has a task token. There the function may leave a job to the callback of its vendor, and the
 * function that completes the creation ends the task.
 */
import { mergeCosts, NewerCatalog } from '../catalog/operator-catalog.ts';
import type { LeaseOutcome } from '../creations/creation-reads.ts';
import { type CreationRecord, idsOf, isTerminal } from '../creations/creation.ts';
import {
  creationIdOf,
  EndedMeanwhile,
  type Payload,
  WorkflowError,
  requireKnownRelease,
} from '../creations/payload.ts';
import { noteAnswer } from '../creations/waiting-task.ts';
import { startCopy } from '../notices/start-copy.ts';
import { Overloaded } from '../values/errors.ts';
import { errorName, logWith } from '../values/runtime.ts';

import { deliverFirst } from '../webhooks/deliver-webhook.ts';
import { notDelivered } from '../webhooks/owed.ts';
import { completeCreation } from './finish-job.ts';
import { holdLease, leaseMillis } from './held-lease.ts';
import type { RenderServices } from './open.ts';
import { openRouteNotes } from './route-notes.ts';
import { storeThumbnails, type Stored } from './store-thumbnails.ts';
import { walkRoutes } from './walk-routes.ts';

/** Kept before the deadline for the cancel, the result or the refund; at most a quarter of the time. */
const reserveMillis = 2_000;
/** How long the providers may take beyond the deadline before the lease is given up. */
const providersGraceMillis = 20_000;

type Leased = Extract<LeaseOutcome, { readonly kind: 'leased' }>;

/**
 * Throws CommitBusy when the table stays busy: the state machine tries again. Throws WebhookNotDelivered when the
 * creation has ended and a delivery is still due: the state machine continues with DeliverWebhook.
 */
export async function renderImage(
  payload: Payload,
  holder: string,
  services: RenderServices,
): Promise<Payload> {
  try {
    return await render(payload, holder, services);
  } catch (error) {
    if (error instanceof NewerCatalog)
      throw new WorkflowError('NewerRelease', 'a newer release has stored the catalog');
    if (error instanceof Overloaded) throw new WorkflowError('CommitBusy', 'the table was too busy to go on');
    throw error;
  }
}

async function render(payload: Payload, holder: string, services: RenderServices): Promise<Payload> {
  requireKnownRelease(payload.input ?? payload, services);
  const id = creationIdOf(payload);
  const { clock, creations } = services;
  const now = clock.now();
  const taskToken = payload.task_token;
  const outcome = await creations.lease(id, holder, now + leaseMillis, now, taskToken);
  let stored: Stored | undefined;
  switch (outcome.kind) {
    case 'leased_by_another':
      throw stillRunning();
    case 'leased': {
      requireKnownRelease(outcome.creation, services);
      const end = await endOf(outcome, holder, taskToken, logWith(services, idsOf(outcome.creation)));
      if (end === 'parked') return payload;
      stored = end;
      break;
    }
    case 'terminal':
    case 'absent':
  }
  const known = outcome.kind === 'leased' ? outcome.creation : undefined;
  // The webhook does not wait for the copy, whose machine starts meanwhile.
  const copying = stored && known && startCopy(known, services);
  const isDelivered = await deliverFirst(id, known, services);
  await copying;
  if (isDelivered && taskToken !== undefined)
    await noteAnswer(services.tasks.succeed(taskToken, id), id, services);
  await storeThumbnails(id, stored, services);
  if (!isDelivered) throw notDelivered();
  return payload;
}

/** Undefined when the creation has ended without this invocation. */
async function endOf(...work: Parameters<typeof renderLeased>): ReturnType<typeof renderLeased> {
  try {
    return await renderLeased(...work);
  } catch (error) {
    if (error instanceof EndedMeanwhile) return undefined;
    throw error;
  }
}

/** A creation sold by the operator's catalog has the operator's costs, if they can be read. */
async function withOperatorCosts(services: RenderServices): Promise<RenderServices> {
  const { providerCosts, operatorCosts, log } = services;
  const own = await operatorCosts().catch((error: unknown) => {
    log.info('operator_costs_not_read', { error: errorName(error) });
    return [];
  });
  return { ...services, providerCosts: mergeCosts(providerCosts, own) };
}

function stillRunning(): WorkflowError {
  return new WorkflowError('StillRunning', 'another invocation renders this creation');
}

/** @param taskToken of the task of the execution that waits until a token ends it */
async function renderLeased(
  { creation, turn }: Leased,
  holder: string,
  taskToken: string | undefined,
  services: RenderServices,
): Promise<'parked' | Stored | undefined> {
  const { clock, creations, log, tasks } = services;
  const isAwaited = taskToken !== undefined;
  const reserve = Math.min(reserveMillis, (creation.deadlineAt - Date.parse(creation.createdAt)) / 4);
  const until = creation.deadlineAt - reserve;
  const beat = isAwaited ? () => tasks.heartbeat(taskToken) : undefined;
  const lease = holdLease(creation.id, holder, services, beat);
  const notes = openRouteNotes(services);
  try {
    const save = async (attempts: CreationRecord['attempts']): Promise<void> => {
      if (await creations.saveAttempts(creation.id, turn, attempts)) return;
      throw isTerminal((await creations.read(creation.id))?.status ?? 'failed')
        ? new EndedMeanwhile()
        : stillRunning();
    };
    lease.begin('ask_providers', Math.max(0, until - clock.now()) + providersGraceMillis);
    const rendering = await walkRoutes({
      creation,
      until,
      save,
      mayPark: isAwaited,
      notes,
      services: creation.catalogRevision === undefined ? services : await withOperatorCosts(services),
    });
    if (rendering.kind === 'parked') {
      log.info('creation_parked');
      // Nothing may throw from here on: the callback may have ended the task already.
      await lease.giveBack();
      return 'parked';
    }
    return await completeCreation(creation, rendering, lease, services);
  } catch (error) {
    // Otherwise the next invocation would wait until the lease expires.
    if (error instanceof Overloaded) await lease.giveBack();
    throw error;
  } finally {
    await Promise.all([lease.release(), notes.settled()]);
  }
}
