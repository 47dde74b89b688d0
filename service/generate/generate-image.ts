/**
 * POST /images/generate, step by step. The order keeps two promises: nothing is charged for a request that
 * will be refused, and a client that lost its 202 gets the same creation back.
 */
import type { Caller } from '../api/admit.ts';
import { acceptedAnswer, type ApiAnswer } from '../api/answer.ts';
import { overloaded } from '../api/problems.ts';
import type { ApiRequest } from '../api/request.ts';
import type { Handle } from '../api/serve.ts';
import { deprecationHeaders } from '../catalog/deprecation.ts';
import { awaitOutcome, waitSeconds } from './await-outcome.ts';
import { chargeRequest } from './charge.ts';
import type { SubmitServices } from './open.ts';
import { parseSubmission } from './parse.ts';
import { checkWebhook, planCreation } from './plan.ts';
import { type Accepted, findReplay, replayed } from './replay.ts';
import { startCreation } from './start.ts';

export const generateImage: Handle<SubmitServices> = async (request, caller, services) => {
  const accepted = await accept(request, caller, services);
  const answer = await answerTo(request, accepted, caller, services);
  return { ...answer, headers: { ...answer.headers, ...accepted.headers } };
};

/** The creation that this request makes, or that an earlier request with the same Idempotency-Key made. */
async function accept(request: ApiRequest, caller: Caller, services: SubmitServices): Promise<Accepted> {
  const { body, idempotency } = parseSubmission(request, services);
  const earlier = await findReplay(caller.state.idempotency, idempotency, services);
  if (earlier.kind === 'replayed') return earlier;
  const plan = planCreation(body, caller, services);
  await checkWebhook(plan, services);
  const { idempotency: key } = earlier;
  const asked = { caller, requestId: request.requestId, plan, ...(key && { idempotency: key }) };
  const charged = await chargeRequest(asked, services);
  // Only a request that names tries of a call can meet other tries of it.
  if (charged.kind === 'retry_moved') throw overloaded();
  if (charged.kind === 'replayed') return replayed(charged.creations, services);
  const start = await startCreation(charged.creations[0], services);
  return {
    creations: charged.creations,
    headers: start === 'started' ? deprecationHeaders(plan.request.model) : {},
  };
}

/** 202 at once, or what became of the creation for a client that prefers to wait. */
async function answerTo(
  request: ApiRequest,
  { creations }: Accepted,
  caller: Caller,
  services: SubmitServices,
): Promise<ApiAnswer> {
  // A request under the same key may have made several creations. This answer has room for one.
  const creation = creations.find(({ status }) => status !== 'failed') ?? creations[0];
  const seconds = waitSeconds(request.headers['prefer']);
  if (seconds === undefined) return acceptedAnswer(creation, services);
  // A replay is not charged, so no charge has counted it. It takes its place in the rate before it is held.
  await caller.place.take();
  return awaitOutcome(creation, seconds, services);
}
