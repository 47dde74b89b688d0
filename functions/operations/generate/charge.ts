/** The charge of a creation: one conditional transaction, and what follows when it is refused. */
import { exceededBudget } from '../../../core/caps.ts';
import { dayOf, monthOf, type CreationRecord, type StoredImage } from '../../../core/creation.ts';
import { uuidV7, type CreationId } from '../../../core/ids.ts';
import { chargeMillis, serviceCapacity, startGraceMillis } from '../../../core/limits.ts';
import { machineOf } from '../../../core/machine.ts';
import { asMicros, type Micros } from '../../../core/money.ts';
import type { ChargeOrder, ChargeOutcome, NewCreation } from '../../../core/ports/charges.ts';
import type { Problem } from '../../../core/problem.ts';
import { uploadIdsIn } from '../../../core/upload.ts';
import type { Caller } from '../../http/caller.ts';
import {
  accountDisabled,
  apiSuspended,
  keyInvalid,
  modelNotFound,
  overBalance,
  overBudget,
  overloaded,
  serviceIsFull,
  tooManyOpen,
} from '../../http/problems.ts';
import { overRate } from '../../http/rate.ts';
import type { SubmitServices } from '../../services/submit.ts';
import { checkUser, type Plan } from './plan.ts';
import { findReplay, type Idempotency } from './replay.ts';

/**
 * How often the charge is built anew because a record that it names changed between the read and the write.
 */
const mostCharges = 3;

/** What a request asks of the means. */
export interface Demand {
  readonly cost: Micros;
  /** For whom, as far as the request says. */
  readonly user: string | undefined;
}

/**
 * A first look at budget, balance and room, in this order. It spares the downloads of a request that the
 * charge would refuse; the charge's transaction decides again. Throws what stands against the charge.
 */
export function checkMeans(caller: Caller, { cost, user }: Demand, topUpUrl: string): void {
  const { account, apiKey, state, nowMillis } = caller;
  const budget = exceededBudget(apiKey, cost, nowMillis, state.userSpentMicros ?? asMicros(0));
  if (budget) throw overBudget(budget, user);
  if (account.availableMicros < cost) throw overBalance(cost, account.availableMicros, topUpUrl);
  const { maxConcurrent } = account.limits;
  if (account.inFlight >= maxConcurrent) throw tooManyOpen(maxConcurrent, account.inFlight);
  if (state.openCreations >= serviceCapacity) throw serviceIsFull(state.openCreations);
}

export interface Submission {
  readonly caller: Caller;
  /** By which an operator finds the creation. */
  readonly requestId: string;
  readonly plan: Plan;
  readonly sources: readonly StoredImage[];
  /** Named in a 402. */
  readonly topUpUrl: string;
  readonly idempotency?: Idempotency;
}

/**
 * 'replayed': another request with the same Idempotency-Key made the creation while this request was at work.
 */
export interface Charged {
  readonly kind: 'charged' | 'replayed';
  readonly creation: CreationRecord;
}

/** Charges the creation. Throws the Problem that refuses the charge; then nothing was charged. */
export async function chargeCreation(first: Submission, services: SubmitServices): Promise<Charged> {
  let submission = first;
  for (let charges = 1; ; charges += 1) {
    // A charge whose answer came too late would be a charge for nothing: there must be time to charge and to
    // start.
    if (services.budget.left() < chargeMillis) throw overloaded();
    const order = orderOf(submission, services);
    const outcome = await services.charges.charge(order);
    if (outcome.kind === 'charged') {
      submission.caller.place.takenByCharge();
      return { kind: 'charged', creation: order.creations[0] };
    }
    if (charges === mostCharges) throw overloaded();
    const next = await lookAgain(outcome, submission, services);
    if ('creation' in next) return next;
    submission = next;
  }
}

/**
 * The submission as it stands after the change that refused the charge, or the replay. Throws when it is
 * refused for good.
 */
async function lookAgain(
  outcome: Refused,
  submission: Submission,
  services: SubmitServices,
): Promise<Submission | Charged> {
  const { caller, plan, idempotency, topUpUrl } = submission;
  if (outcome.kind === 'key_changed' || outcome.kind === 'account_changed') {
    const { kind: _, ...read } = outcome;
    const changed = { ...caller, ...read };
    checkUser(changed.apiKey, plan.request.user);
    checkMeans(changed, { cost: plan.costMicros, user: plan.request.user }, topUpUrl);
    return { ...submission, caller: changed };
  }
  if (outcome.kind === 'idempotency_taken' && idempotency) {
    const earlier = await findReplay(outcome.record, idempotency, services);
    if (earlier.kind === 'replayed') return { kind: 'replayed', creation: earlier.creation };
    return { ...submission, ...(earlier.idempotency && { idempotency: earlier.idempotency }) };
  }
  throw refusal(outcome, submission);
}

/** Source images may have taken seconds: month, rate window and deadline follow the time of the charge. */
function orderOf(submission: Submission, services: SubmitServices): ChargeOrder {
  const { caller, idempotency } = submission;
  const { account, apiKey, place } = caller;
  const nowMillis = services.clock.now();
  const uploads = uploadIdsIn(submission.plan.request.imageUrls);
  return {
    creations: [newCreation(submission, nowMillis, services)],
    apiKey,
    maxConcurrent: account.limits.maxConcurrent,
    nowMillis,
    ...(!place.isTaken && { postRate: account.limits.postRate }),
    ...(uploads.length > 0 && { uploads }),
    ...(idempotency && { idempotency }),
  };
}

function newCreation(
  { caller, requestId, plan, sources }: Submission,
  nowMillis: number,
  { randomBytes, schema }: SubmitServices,
): NewCreation {
  const { request, routes, costMicros } = plan;
  const { account, apiKey } = caller;
  const { model, imageUrls: _copied, webhookUrl, user, maxCostUsd: _compared, ...asked } = request;
  // The record has a place for every field of the request.
  asked satisfies Pick<CreationRecord, keyof typeof asked>;
  const machine = machineOf(routes);
  return {
    v: schema.written,
    id: uuidV7(nowMillis, randomBytes(16)) as CreationId,
    accountId: account.id,
    keyId: apiKey.id,
    requestId,
    status: 'queued',
    model: model.id,
    ...asked,
    ...(user !== undefined && { user }),
    sources,
    costMicros,
    refundedMicros: asMicros(0),
    chargedMonth: monthOf(nowMillis),
    chargedDay: dayOf(nowMillis),
    ...(apiKey.perUserMonthlyCapMicros !== undefined && { countedForUser: true }),
    createdAt: new Date(nowMillis).toISOString(),
    deadlineAt: nowMillis + account.limits.deadlineSeconds * 1000,
    results: [],
    ...(webhookUrl !== undefined && {
      webhook: { url: webhookUrl, status: 'pending', attempts: 0, nextAt: nowMillis },
    }),
    ...(account.noticeUrl !== undefined && { isWatched: true }),
    ...(account.eventsSince !== undefined && { tellsEvents: true }),
    routes: routes.map(({ provider, provider_model: providerModel, quality }) => ({
      provider,
      providerModel,
      ...(quality !== null && { quality }),
    })),
    attempts: [],
    ...(machine && { machine }),
    executions: 1,
    recoveries: 0,
    dueAt: nowMillis + startGraceMillis,
  };
}

type Refused = Exclude<ChargeOutcome, { kind: 'charged' }>;

function refusal(outcome: Refused, { caller, plan, topUpUrl }: Submission): Problem {
  switch (outcome.kind) {
    case 'account_not_active':
      return outcome.condition === 'suspended' ? apiSuspended() : accountDisabled();
    case 'key_revoked':
      return keyInvalid();
    case 'model_not_allowed':
      return modelNotFound(plan.request.model.id);
    case 'rate_used_up':
      return overRate(caller, 'post');
    case 'over_budget':
      return overBudget(outcome.budget, plan.request.user);
    case 'over_balance':
      return overBalance(plan.costMicros, outcome.availableMicros, topUpUrl);
    case 'too_many_open':
      return tooManyOpen(outcome.limit, outcome.current);
    case 'key_changed':
    case 'account_changed':
    case 'idempotency_taken':
    case 'overloaded':
      return overloaded();
  }
}
