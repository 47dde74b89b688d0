/**
 * POST /images/generate. In this order, so that nothing is charged for a request that
 * will be refused and a client that lost its 202 gets it back: body, replay, model and
 * route, webhook target, a first look at the means, source images, the charge, the start.
 */
import { monthOf, type CreationRecord, type StoredImage } from '../../core/creation.ts';
import { requestHash } from '../../core/image-request.ts';
import { uuidV7, type CreationId } from '../../core/ids.ts';
import { asMicros } from '../../core/money.ts';
import type { ChargeOrder, ChargeOutcome } from '../../core/ports.ts';
import { invalidRequest, retryLater, type Problem } from '../../core/problem.ts';
import { submitServices, type SubmitServices } from '../services.ts';
import { rateExceeded } from './account-rate.ts';
import { accountDisabled, apiSuspended, keyInvalid, type Caller } from './authenticate.ts';
import { checkMeans, overBalance, overBudget, tooManyOpen } from './charge-problem.ts';
import { checkIdempotencyKey, idempotencyHash } from './idempotency.ts';
import { parseImageRequest } from './parse-image-request.ts';
import { planCreation, type Plan } from './plan-creation.ts';
import { accepted, replayOf, type Replay } from './replay.ts';
import { copySources } from './source-images.ts';
import { overloaded, serve, type Handle, type OperationAnswer } from './serve.ts';

/** The reconciler looks at a creation that was not started by then. */
const startGraceMillis = 60_000;
/** How often the charge is built anew because a record it names changed between read and write. */
const mostCharges = 3;

export const generateImage: Handle<SubmitServices> = async (request, caller, services) => {
  const header = request.headers['idempotency-key'];
  checkIdempotencyKey(header);
  const body = parseImageRequest(request);
  const hash = requestHash(body);
  const known = caller.state.idempotency && (await replayOf(caller.state.idempotency, hash, services));
  if (known?.kind === 'replayed') return known.answer;
  const plan = planCreation(body, caller, services);
  await checkWebhook(plan, services);
  // A first look, so that nothing is fetched for a request that will be refused.
  checkMeans(caller, plan.costMicros, services.topUpUrl);
  const sources = await copySources(plan.request.imageUrls, services);
  const keyHash = idempotencyHash(header);
  const idempotency = keyHash === undefined ? undefined : idempotencyOf(keyHash, hash, known);
  return submit({ caller, plan, sources, ...(idempotency && { idempotency }) }, services);
};

interface Submission {
  readonly caller: Caller;
  readonly plan: Plan;
  readonly sources: readonly StoredImage[];
  readonly idempotency?: NonNullable<ChargeOrder['idempotency']>;
}

function idempotencyOf(hash: string, request: string, known: Replay | undefined): NonNullable<ChargeOrder['idempotency']> {
  return { hash, requestHash: request, ...(known?.kind === 'free' && { replaces: known.replaces }) };
}

async function checkWebhook({ request }: Plan, { outbound }: SubmitServices): Promise<void> {
  if (request.webhookUrl === undefined) return;
  const verdict = await outbound.check(request.webhookUrl);
  if (verdict.kind === 'refused') {
    throw invalidRequest([{ field: 'webhook_url', code: 'refused_target', message: verdict.why }]);
  }
}

/** Charges and starts; what changed between the read and the charge is looked at again. */
async function submit(submission: Submission, services: SubmitServices, charges = 1): Promise<OperationAnswer> {
  const { caller, plan, idempotency } = submission;
  const creation = newCreation(submission, services);
  const outcome = await services.charges.charge({
    creation,
    postRate: caller.account.limits.postRate,
    nowMillis: caller.nowMillis,
    ...(caller.apiKey.monthlyCapMicros !== undefined && { monthlyCapMicros: caller.apiKey.monthlyCapMicros }),
    ...(idempotency && { idempotency }),
  });
  if (outcome.kind === 'charged') return start(creation, services);
  if (charges === mostCharges) throw overloaded();
  if (outcome.kind === 'key_changed') {
    const changed = { ...caller, apiKey: outcome.apiKey };
    checkMeans(changed, plan.costMicros, services.topUpUrl);
    return submit({ ...submission, caller: changed }, services, charges + 1);
  }
  if (outcome.kind === 'idempotency_taken' && idempotency) {
    const replay = await replayOf(outcome.record, idempotency.requestHash, services);
    if (replay.kind === 'replayed') return replay.answer;
    return submit({ ...submission, idempotency: { ...idempotency, replaces: replay.replaces } }, services, charges + 1);
  }
  throw refusal(outcome, submission, services);
}

function newCreation({ caller, plan, sources }: Submission, services: SubmitServices): CreationRecord {
  const { request, routes, costMicros } = plan;
  const { nowMillis, account, apiKey } = caller;
  return {
    id: uuidV7(nowMillis, services.randomBytes(16)) as CreationId,
    accountId: account.id,
    keyId: apiKey.id,
    status: 'queued',
    model: request.model.id,
    prompt: request.prompt,
    resolution: request.resolution,
    aspectRatio: request.aspectRatio,
    outputFormat: request.outputFormat,
    seed: request.seed,
    sources,
    metadata: request.metadata,
    costMicros,
    refundedMicros: asMicros(0),
    chargedMonth: monthOf(nowMillis),
    createdAt: new Date(nowMillis).toISOString(),
    deadlineAt: nowMillis + account.limits.deadlineSeconds * 1000,
    results: [],
    ...(request.webhookUrl !== undefined && {
      webhook: { url: request.webhookUrl, status: 'pending', attempts: 0, nextAt: nowMillis },
    }),
    routes: routes.map((route) => ({ provider: route.provider, providerModel: route.provider_model })),
    attempts: [],
    executions: 1,
    recoveries: 0,
    dueAt: nowMillis + startGraceMillis,
  };
}

/** Charged is accepted, but for an execution that definitely cannot be started: that is undone at once. */
async function start(creation: CreationRecord, services: SubmitServices): Promise<OperationAnswer> {
  const started = await services.executions.start(creation.id, 1);
  if (started !== 'refused') {
    const { id: creationId, accountId, model, costMicros } = creation;
    services.log.info('creation_accepted', { creationId, accountId, model, costMicros, started });
    return { ...accepted(creation, services), counted: true };
  }
  services.log.alarm('start_refused', { creationId: creation.id });
  const nowMillis = services.clock.now();
  await services.charges.refund(creation, { failure: 'ServiceUnavailable', nowMillis, announce: false });
  const message = 'The creation could not be started. Its charge was given back in full.';
  throw retryLater('ERR_PROVIDER_UNAVAILABLE', message, { reason: 'provider_unavailable', creation_id: creation.id }, 30);
}

type Refused = Exclude<ChargeOutcome, { kind: 'charged' | 'key_changed' }>;

function refusal(outcome: Refused, { caller, plan }: Submission, { topUpUrl }: SubmitServices): Problem {
  switch (outcome.kind) {
    case 'account_not_active':
      return outcome.condition === 'suspended' ? apiSuspended() : accountDisabled();
    case 'key_revoked':
      return keyInvalid();
    case 'rate_used_up':
      return rateExceeded(caller, 'post');
    case 'over_budget':
      return overBudget(caller.apiKey.monthlyCapMicros ?? asMicros(0), outcome.spentMicros, caller.nowMillis);
    case 'over_balance':
      return overBalance(plan.costMicros, outcome.availableMicros, topUpUrl);
    case 'too_many_open':
      return tooManyOpen(outcome.limit, outcome.current);
    case 'idempotency_taken':
    case 'overloaded':
      return overloaded();
  }
}

export const handler = serve('post', generateImage, submitServices());
