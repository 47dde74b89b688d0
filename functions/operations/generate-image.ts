/**
 * POST /images/generate. In this order, so that nothing is charged for a request that
 * will be refused and a client that lost its 202 gets it back: body, replay, model and
 * route, webhook target, a first look at the means, source images, the charge, the start.
 */
import { requestHash } from '../../core/image-request.ts';
import { invalidRequest } from '../../core/problem.ts';
import { submitServices, type SubmitServices } from '../services.ts';
import type { ApiAnswer } from '../http/answer.ts';
import type { Caller } from '../http/caller.ts';
import { awaitOutcome, waitSeconds } from './generate/await-outcome.ts';
import { checkMeans } from '../http/charge-problem.ts';
import { checkIdempotencyKey, idempotencyHash } from './generate/idempotency.ts';
import { parseImageRequest } from './generate/parse-image-request.ts';
import { narrowToSources, planCreation, type Plan } from './generate/plan-creation.ts';
import { accepted, replayOf, type Replay, type Submitted } from './generate/replay.ts';
import type { ApiRequest } from '../http/request.ts';
import { serve, type Handle } from '../http/serve.ts';
import { copySources } from './generate/source-images.ts';
import { submitCreation, type Submission } from './generate/submit-creation.ts';

export const generateImage: Handle<SubmitServices> = async (request, caller, services) => {
  const { creation, headers } = await submit(request, caller, services);
  const answer = await answered(creation, request, caller, services);
  return { ...answer, headers: { ...answer.headers, ...headers } };
};

async function answered(
  creation: Submitted['creation'],
  request: ApiRequest,
  caller: Caller,
  services: SubmitServices,
): Promise<ApiAnswer> {
  const wait = waitSeconds(request.headers['prefer']);
  if (wait === undefined) return accepted(creation, services);
  // A replay has no charge that would count it: a held answer takes its place in the rate before it is held.
  await caller.place.take();
  const answer = await awaitOutcome(creation, wait, services);
  return { ...answer, headers: { ...answer.headers, 'preference-applied': `wait=${wait}` } };
}

async function submit(request: ApiRequest, caller: Caller, services: SubmitServices): Promise<Submitted> {
  const header = request.headers['idempotency-key'];
  checkIdempotencyKey(header);
  const body = parseImageRequest(request, 'generateImage', services);
  const hash = requestHash(body);
  const known = caller.state.idempotency && (await replayOf(caller.state.idempotency, hash, services));
  if (known?.kind === 'replayed') return known;
  const plan = planCreation(body, caller, services);
  await checkWebhook(plan, services);
  const topUpUrl = topUpUrlOf(request, services);
  checkMeans(caller, plan.costMicros, topUpUrl);
  // Downloads cost more than a refusal: the request takes its place in the rate before the first one.
  if (plan.request.imageUrls.length > 0) await caller.place.take();
  const sources = await copySources(plan.request.imageUrls, services);
  const idempotency = idempotencyOf(header, hash, known);
  return submitCreation(
    {
      caller,
      requestId: request.requestId,
      plan: narrowToSources(plan, sources),
      sources,
      topUpUrl,
      ...(idempotency && { idempotency }),
    },
    services,
  );
}

/** The deployment's setting, or where the portal of this deployment will be. */
function topUpUrlOf({ domain }: ApiRequest, { topUpUrl }: SubmitServices): string {
  return topUpUrl === '' ? `https://${domain}/portal/wallet` : topUpUrl;
}

function idempotencyOf(
  header: string | undefined,
  requestHash: string,
  known: Replay | undefined,
): Submission['idempotency'] {
  const hash = idempotencyHash(header);
  if (hash === undefined) return undefined;
  return { hash, requestHash, ...(known?.kind === 'free' && { replaces: known.replaces }) };
}

async function checkWebhook({ request }: Plan, { outbound, budget }: SubmitServices): Promise<void> {
  if (request.webhookUrl === undefined) return;
  const verdict = await outbound.check(request.webhookUrl, budget.signal);
  if (verdict.kind === 'refused') {
    throw invalidRequest([{ field: 'webhook_url', code: 'refused_target', message: verdict.why }]);
  }
}

export const handler = serve('post', generateImage, submitServices());
