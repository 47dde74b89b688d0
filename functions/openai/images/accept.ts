/** The creations of a request: those of an earlier request that was the same, or new ones that are charged. */
import { deprecationHeaders } from '../../../core/deprecation.ts';
import { Problem } from '../../../core/problem.ts';
import type { Caller } from '../../http/caller.ts';
import { idempotencyKeyMalformed } from '../../http/problems.ts';
import type { ApiRequest } from '../../http/request.ts';
import { chargeRequest } from '../../operations/generate/charge-request.ts';
import { checkWebhook } from '../../operations/generate/check-webhook.ts';
import { findReplay, replayed, type Accepted, type Idempotency } from '../../operations/generate/replay.ts';
import { startCreation } from '../../operations/generate/start.ts';
import type { OpenaiImageServices } from '../../services/openai-images.ts';
import { planImages } from './plan-images.ts';
import type { OpenaiRequest } from './read-request.ts';

/** Throws what stands against the request; then nothing was charged. */
export async function acceptImages(
  { requestId, idempotencyKey }: ApiRequest,
  asked: OpenaiRequest,
  caller: Caller,
  services: OpenaiImageServices,
): Promise<Accepted> {
  if (idempotencyKey.kind === 'malformed') throw idempotencyKeyMalformed();
  const key: Idempotency | undefined =
    idempotencyKey.kind === 'valid' ? { hash: idempotencyKey.hash, requestHash: asked.hash } : undefined;
  const earlier = await findReplay(caller.state.idempotency, key, services);
  if (earlier.kind === 'replayed') return earlier;
  const plan = planImages(asked, caller, services);
  await checkWebhook(plan, services);
  const { idempotency } = earlier;
  const { inline } = asked;
  const { count } = asked.asked;
  const order = { caller, requestId, plan, count, inline, ...(idempotency && { idempotency }) };
  const charged = await chargeRequest(order, services);
  if (charged.kind === 'replayed') return replayed(charged.creations, services);
  await Promise.all(charged.creations.map((creation) => start(creation, services)));
  return { creations: charged.creations, headers: deprecationHeaders(plan.request.model) };
}

/** A creation that could not be started has failed and was refunded. The answer tells it as every other failure. */
async function start(creation: Accepted['creations'][0], services: OpenaiImageServices): Promise<void> {
  try {
    await startCreation(creation, services);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}
