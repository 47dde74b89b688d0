/**
 * POST /images/generate, step by step. The order keeps two promises: nothing is charged for a request that
 * will be refused, and a client that lost its 202 gets the same creation back.
 */
import { deprecationHeaders } from '../../../core/deprecation.ts';
import { acceptedAnswer, type ApiAnswer } from '../../http/answer.ts';
import type { Caller } from '../../http/caller.ts';
import { webhookRefused } from '../../http/problems.ts';
import type { ApiRequest } from '../../http/request.ts';
import type { Handle } from '../../http/serve.ts';
import type { SubmitServices } from '../../services/submit.ts';
import { awaitOutcome, waitSeconds } from './await-outcome.ts';
import { chargeCreation, checkMeans, type Charged } from './charge.ts';
import { parseSubmission } from './parse.ts';
import { narrowToSources, planCreation, type Plan } from './plan.ts';
import { findReplay, replayed, type Accepted, type Idempotency } from './replay.ts';
import { copySources } from './sources.ts';
import { startCreation } from './start.ts';
import { tellRefusal } from './tell-refusal.ts';

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
  const charged = await charge({ request, caller, plan, idempotency: earlier.idempotency }, services);
  if (charged.kind === 'replayed') return replayed(charged.creation, services);
  const start = await startCreation(charged.creation, services);
  return {
    creation: charged.creation,
    headers: start === 'started' ? deprecationHeaders(plan.request.model) : {},
  };
}

interface Charge {
  readonly request: ApiRequest;
  readonly caller: Caller;
  readonly plan: Plan;
  readonly idempotency: Idempotency | undefined;
}

/** A request that is refused for money may be the one by which its account learns that the money has ended. */
async function charge(
  { request, caller, plan, idempotency }: Charge,
  services: SubmitServices,
): Promise<Charged> {
  const { requestId } = request;
  const { topUpUrl } = services;
  const demand = { cost: plan.costMicros, user: plan.request.user };
  try {
    checkMeans(caller, demand, topUpUrl);
    const sources = await copySources(plan, caller, services);
    const submission = { caller, requestId, plan: narrowToSources(plan, sources), sources, topUpUrl };
    return await chargeCreation({ ...submission, ...(idempotency && { idempotency }) }, services);
  } catch (error) {
    await tellRefusal(error, caller, demand, services);
    throw error;
  }
}

/** 202 at once, or what became of the creation for a client that prefers to wait. */
async function answerTo(
  request: ApiRequest,
  { creation }: Accepted,
  caller: Caller,
  services: SubmitServices,
): Promise<ApiAnswer> {
  const seconds = waitSeconds(request.headers['prefer']);
  if (seconds === undefined) return acceptedAnswer(creation, services);
  // A replay is not charged, so no charge has counted it. It takes its place in the rate before it is held.
  await caller.place.take();
  const answer = await awaitOutcome(creation, seconds, services);
  return { ...answer, headers: { ...answer.headers, 'preference-applied': `wait=${seconds}` } };
}

/** The address of the webhook must lead to a public host, at the submission and again at every attempt. */
async function checkWebhook({ request }: Plan, { outbound, budget }: SubmitServices): Promise<void> {
  if (request.webhookUrl === undefined) return;
  const verdict = await outbound.check(request.webhookUrl, budget.signal);
  if (verdict.kind === 'refused') throw webhookRefused(verdict.why);
}
