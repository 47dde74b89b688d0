/** The charge and the start of a creation: what stands between a request that may be accepted and its 202. */
import { executionName, monthOf, type CreationRecord, type StoredImage } from '../../../core/creation.ts';
import { deprecationHeaders } from '../../../core/deprecation.ts';
import { uuidV7, type CreationId } from '../../../core/ids.ts';
import { chargeMillis } from '../../../core/limits.ts';
import { asMicros } from '../../../core/money.ts';
import type { ChargeOrder, ChargeOutcome } from '../../../core/ports/charges.ts';
import { retryLater, type Problem } from '../../../core/problem.ts';
import { errorName } from '../../error-name.ts';
import type { SubmitServices } from '../../services.ts';
import { rateExceeded } from '../../http/account-rate.ts';
import { accountDisabled, apiSuspended, keyInvalid } from '../../http/authenticate.ts';
import type { Caller } from '../../http/caller.ts';
import { checkMeans, overBalance, overBudget, tooManyOpen } from '../../http/charge-problem.ts';
import type { Plan } from './plan-creation.ts';
import { replayOf, type Submitted } from './replay.ts';
import { overloaded } from '../../http/serve.ts';

/** The reconciler looks at a creation that was not started by then. */
const startGraceMillis = 60_000;
/** How often the charge is built anew because a record it names changed between read and write. */
const mostCharges = 3;
/** A state machine that cannot be started needs an operator's hand. */
const startRetrySeconds = 30;

export interface Submission {
  readonly caller: Caller;
  /** By which an operator finds the creation. */
  readonly requestId?: string;
  readonly plan: Plan;
  readonly sources: readonly StoredImage[];
  /** Named in a 402. */
  readonly topUpUrl: string;
  readonly idempotency?: NonNullable<ChargeOrder['idempotency']>;
}

/** Charges and starts; what changed between the read and the charge is looked at again. */
export async function submitCreation(
  submission: Submission,
  services: SubmitServices,
  charges = 1,
): Promise<Submitted> {
  const { caller, plan, idempotency } = submission;
  // Too little time to charge and to start: a charge whose answer comes too late would be nobody's.
  if (services.budget.left() < chargeMillis) throw overloaded();
  // Source images may have taken seconds: month, rate window and deadline follow the time of the charge.
  const nowMillis = services.clock.now();
  const creation = newCreation(submission, nowMillis, services);
  const outcome = await services.charges.charge({
    creation,
    nowMillis,
    ...(!caller.place.isTaken && { postRate: caller.account.limits.postRate }),
    ...(caller.apiKey.monthlyCapMicros !== undefined && { monthlyCapMicros: caller.apiKey.monthlyCapMicros }),
    ...(idempotency && { idempotency }),
  });
  if (outcome.kind === 'charged') {
    caller.place.takenByCharge();
    return start(creation, deprecationHeaders(plan.request.model), services);
  }
  if (charges === mostCharges) throw overloaded();
  if (outcome.kind === 'key_changed') {
    const changed = { ...caller, apiKey: outcome.apiKey };
    checkMeans(changed, plan.costMicros, submission.topUpUrl);
    return submitCreation({ ...submission, caller: changed }, services, charges + 1);
  }
  if (outcome.kind === 'idempotency_taken' && idempotency) {
    const replay = await replayOf(outcome.record, idempotency.requestHash, services);
    if (replay.kind === 'replayed') return replay;
    return submitCreation(
      { ...submission, idempotency: { ...idempotency, replaces: replay.replaces } },
      services,
      charges + 1,
    );
  }
  throw refusal(outcome, submission);
}

function newCreation(
  { caller, requestId, plan, sources }: Submission,
  nowMillis: number,
  services: SubmitServices,
): CreationRecord {
  const { request, routes, costMicros } = plan;
  const { account, apiKey } = caller;
  return {
    id: uuidV7(nowMillis, services.randomBytes(16)) as CreationId,
    accountId: account.id,
    keyId: apiKey.id,
    ...(requestId !== undefined && { requestId }),
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
    routes: routes.map(({ provider, provider_model: providerModel, quality }) => ({
      provider,
      providerModel,
      ...(quality !== null && { quality }),
    })),
    attempts: [],
    executions: 1,
    recoveries: 0,
    dueAt: nowMillis + startGraceMillis,
  };
}

/** A charged creation is accepted. Only when its execution is refused for good is the charge reversed at once. */
async function start(
  creation: CreationRecord,
  headers: Submitted['headers'],
  services: SubmitServices,
): Promise<Submitted> {
  const started = await services.executions.start(creation.id, 1);
  if (started !== 'refused') {
    const { id: creationId, accountId, model, costMicros } = creation;
    services.log.info('creation_accepted', {
      creationId,
      accountId,
      executionId: executionName(creationId, 1),
      model,
      costMicros,
      started,
    });
    return { creation, headers };
  }
  services.log.alarm('start_refused', {
    creationId: creation.id,
    executionId: executionName(creation.id, 1),
  });
  // Without a refund the creation stays accepted: the reconciler starts it, or gives the charge back.
  if (!(await isGivenBack(creation, services))) return { creation, headers: {} };
  const message = 'The creation could not be started. Its charge was given back in full.';
  const details = { reason: 'provider_unavailable', creation_id: creation.id };
  throw retryLater('ERR_PROVIDER_UNAVAILABLE', message, details, startRetrySeconds);
}

/**
 * Reverses the charge. False when the creation stands: its refund met a busy table, the refund's outcome is unknown,
 * or an earlier try of the start, whose answer was lost, has started an execution that completed the creation.
 */
async function isGivenBack(
  creation: CreationRecord,
  { charges, creations, clock, log }: SubmitServices,
): Promise<boolean> {
  const failure = 'ServiceUnavailable';
  try {
    const outcome = await charges.refund(creation, { failure, nowMillis: clock.now(), announce: false });
    if (outcome === 'refunded')
      log.info('creation_failed', { creationId: creation.id, failure, refundedMicros: creation.costMicros });
    if (outcome === 'already_terminal') return (await creations.read(creation.id))?.status === 'failed';
    return outcome === 'refunded';
  } catch (error) {
    log.info('refund_unclear', { creationId: creation.id, error: errorName(error) });
    return false;
  }
}

type Refused = Exclude<ChargeOutcome, { kind: 'charged' | 'key_changed' }>;

function refusal(outcome: Refused, { caller, plan, topUpUrl }: Submission): Problem {
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
