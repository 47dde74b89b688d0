/** The creations of a request: those of an earlier request that was the same, or new ones that are charged. */
import { deprecationHeaders } from '../../../core/deprecation.ts';
import { Problem } from '../../../core/problem.ts';
import type { Caller } from '../../http/caller.ts';
import type { Hold } from '../../http/hold.ts';
import { idempotencyKeyMalformed, overloaded, tooManyHeld } from '../../http/problems.ts';
import type { ApiRequest } from '../../http/request.ts';
import { chargeRequest } from '../../operations/generate/charge.ts';
import { checkWebhook } from '../../operations/generate/check-webhook.ts';
import { findReplay, replayed, type Accepted } from '../../operations/generate/replay.ts';
import { startCreation } from '../../operations/generate/start.ts';
import type { OpenaiImageServices } from '../../services/openai-images.ts';
import { acceptTry, type AcceptedImages, type MakeImages } from './accept-try.ts';
import { planImages } from './plan-images.ts';
import type { OpenaiRequest } from './read-request.ts';

interface Sent {
  readonly request: ApiRequest;
  readonly asked: OpenaiRequest;
  readonly caller: Caller;
  /** A request that makes creations has taken a place before the charge. */
  readonly hold: Hold;
}

/** An Idempotency-Key wins over the number of a try. Throws what stands against the request; then nothing was charged. */
export async function acceptImages(sent: Sent, services: OpenaiImageServices): Promise<AcceptedImages> {
  const { request, asked, caller } = sent;
  const { idempotencyKey: key } = request;
  if (key.kind === 'malformed') throw idempotencyKeyMalformed();
  const make: MakeImages = async (order) => makeImages(sent, order, services);
  if (key.kind === 'absent') return acceptTry(request, asked, caller, make, services);
  const idempotency = { hash: key.hash, requestHash: asked.hash };
  const earlier = await findReplay(caller.state.idempotency, idempotency, services);
  if (earlier.kind === 'replayed') return earlier;
  const made = await make({ ...(earlier.idempotency && { idempotency: earlier.idempotency }) });
  if ('creations' in made) return made;
  // A charge without a try never meets one.
  throw overloaded();
}

async function makeImages(
  { request: { requestId }, asked, caller, hold }: Sent,
  order: Parameters<MakeImages>[0],
  services: OpenaiImageServices,
): ReturnType<MakeImages> {
  const plan = planImages(asked, caller, services);
  await checkWebhook(plan, services);
  // The answer has no form for pictures that are not there yet, so nothing is charged for a request that cannot wait.
  if (!(await hold.take())) throw tooManyHeld(services.held.limit);
  const { inline } = asked;
  const { count } = asked.asked;
  const charged = await chargeRequest({ caller, requestId, plan, count, inline, ...order }, services);
  if (charged.kind === 'retry_moved') return charged;
  if (charged.kind === 'replayed') return replayed(charged.creations, services);
  await Promise.all(charged.creations.map((creation) => start(creation, services)));
  return { creations: charged.creations, headers: deprecationHeaders(plan.request.model) };
}

/**
 * A creation that could not be started has failed and was refunded. The answer reports it like every other
 * failure.
 */
async function start(creation: Accepted['creations'][0], services: OpenaiImageServices): Promise<void> {
  try {
    await startCreation(creation, services);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}
