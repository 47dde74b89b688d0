/** From a plan to charged creations: check of the money, source images, one transaction, and its refusals. */
import { getsNotices } from '../accounts/account.ts';
import { exceededBudget } from '../accounts/caps.ts';
import { capKinds, toldOf, capRules } from '../accounts/cap-kinds.ts';
import { type Caller, limitOf, overRate } from '../api/admit.ts';
import {
  accountDisabled,
  apiSuspended,
  keyInvalid,
  modelNotFound,
  overBalance,
  overBudget,
  overloaded,
  serviceClosed,
  serviceIsFull,
  tooManyOpen,
} from '../api/problems.ts';
import { chargeMillis, startGraceMillis } from '../contract/limits.ts';
import { plainFields, type WithoutPlain } from '../contract/request-fields.ts';
import type { ChargeOrder, ChargeOutcome, NewCreation } from '../creations/charge.ts';
import type { CreationRecord } from '../creations/creation.ts';
import { machineOf } from '../creations/machines.ts';
import type { RetryCharge } from '../creations/retries.ts';
import { checkQuietly } from '../notices/check-thresholds.ts';
import type { RefusedFor } from '../notices/notice.ts';
import { uploadIdsIn } from '../uploads/upload.ts';
import { defined } from '../values/defined.ts';
import { type CreationId, uuidV7 } from '../values/ids.ts';
import { asMicros, type Micros } from '../values/money.ts';
import { Problem, withDetails } from '../values/problem.ts';
import { dayOf, monthOf } from '../values/time.ts';
import type { SubmitServices } from './open.ts';
import { checkUser, costOfAll, inRatioOfMasked, narrowToSources, type Plan } from './plan.ts';
import { type Creations, findReplay, type Idempotency } from './earlier-request.ts';
import { addressesOf, type CopiedImages, copySources } from './sources.ts';

// What an account and its key can pay for, and how many creations they may have open.

interface Demand {
  readonly cost: Micros;
  /** The number of creations. */
  readonly count: number;
  /** The user of the client, if the request names one. */
  readonly user: string | undefined;
}

/** First check of budget, balance and quota, in this order, to save downloads. The charge decides again. */
export function checkMeans(
  caller: Caller,
  { cost, user, count }: Demand,
  { topUpUrl, serviceCapacity }: Pick<SubmitServices, 'topUpUrl' | 'serviceCapacity'>,
): void {
  const { account, apiKey, state, nowMillis, token } = caller;
  const usedUp = token?.usedUp(cost, count);
  if (usedUp) throw usedUp;
  const budget = exceededBudget(apiKey, cost, nowMillis, state.userSpentMicros ?? asMicros(0));
  if (budget) throw overBudget(budget, user);
  if (account.availableMicros < cost) throw cannotPay(caller, cost, account.availableMicros, topUpUrl);
  const { maxConcurrent } = account.limits;
  if (account.inFlight + count > maxConcurrent) throw tooManyOpen(maxConcurrent, account.inFlight);
  if (state.openCreations + count > serviceCapacity)
    throw serviceIsFull(serviceCapacity, state.openCreations);
}

function cannotPay({ token }: Caller, cost: Micros, available: Micros, topUpUrl: string): Problem {
  return token ? token.cannotPay() : overBalance(cost, available, topUpUrl);
}

function demandOf({ plan }: Pick<Submission, 'plan'>): Demand {
  const { count, user } = plan.request;
  return { cost: costOfAll(plan), count, user };
}

/** Adds to a 402 for the balance whether the automatic top-up of the account will add money. */
async function withTopUpState(
  error: unknown,
  { account, token }: Caller,
  { topUpState }: Pick<SubmitServices, 'topUpState'>,
): Promise<unknown> {
  const isBalance = error instanceof Problem && error.code === 'ERR_INSUFFICIENT_BALANCE';
  if (!isBalance || error.details['top_up_url'] === undefined || token) return error;
  const state = await topUpState(account).catch(() => undefined);
  return state === undefined ? error : withDetails(error, { auto_top_up: state });
}

/**
 * Checks thresholds after a request was refused for money. The client waits for its 402. Does nothing for any other
 * error, and reads nothing when the notice was sent before.
 */
async function alertAfterRefusal(
  error: unknown,
  caller: Caller,
  { cost, user }: Demand,
  services: SubmitServices,
): Promise<void> {
  const { account, apiKey } = caller;
  const refused = refusedFor(error, cost);
  if (!refused || !getsNotices(account) || isAlertSent(refused, caller)) return;
  const nowMillis = services.clock.now();
  const periods = Object.fromEntries(capKinds.map((cap) => [cap, capRules[cap].periodAt(nowMillis)]));
  // The counter of the user is read only when the cap for each user refused the request.
  const asked = refused.kind === 'cap' && refused.cap === 'user' && user !== undefined && { user };
  await checkQuietly({ accountId: account.id, keyId: apiKey.id, periods, refused, ...asked }, services);
}

function refusedFor(error: unknown, costMicros: Demand['cost']): RefusedFor | undefined {
  if (!(error instanceof Problem) || error.code !== 'ERR_INSUFFICIENT_BALANCE') return undefined;
  const { reason } = error.details;
  if (reason === undefined || reason === 'account_balance') return { kind: 'balance', costMicros };
  const cap = capKinds.find((kind) => capRules[kind].reason === reason);
  return cap && { kind: 'cap', cap, costMicros };
}

/** By the marks as the request read them. If a mark was removed since, the next refusal sends the notice. */
function isAlertSent(refused: RefusedFor, { account, apiKey, state, nowMillis }: Caller): boolean {
  if (refused.kind === 'balance') return account.toldEmpty !== undefined;
  const { capName, periodAt } = capRules[refused.cap];
  const mark = refused.cap === 'user' ? state.userTold : toldOf({ apiKey }, refused.cap, periodAt(nowMillis));
  return mark?.level === 100 && mark.capMicros === apiKey[capName];
}

/** How often the charge is built again because a record changed between the read and the write. */
const mostCharges = 3;

interface Submission extends CopiedImages {
  readonly caller: Caller;
  readonly requestId: string;
  readonly plan: Plan;
  readonly topUpUrl: string;
  readonly idempotency?: Idempotency;
  readonly retry?: RetryCharge;
}

/** 'replayed': another request with the same Idempotency-Key made the creations meanwhile. */
export interface Charged {
  readonly kind: 'charged' | 'replayed';
  readonly creations: Creations;
}

/** Another try of the same call was faster. Nothing was charged; the try has to be found again. */
export interface RetryMoved {
  readonly kind: 'retry_moved';
}

export interface ChargeRequest extends Omit<Submission, 'sources' | 'mask' | 'topUpUrl'> {
  readonly caller: Caller;
  /** The bytes of source images that the request itself holds, by their items in image_urls. */
  readonly inline?: ReadonlyMap<string, Uint8Array>;
}

/** Charges the creations. A refusal for money may also send a notice that the wallet is empty. */
export async function chargeRequest(
  asked: ChargeRequest,
  services: SubmitServices,
): Promise<Charged | RetryMoved> {
  const { inline, ...request } = asked;
  const { caller, plan } = request;
  const { topUpUrl } = services;
  const demand = demandOf(request);
  // An earlier request with the same key was answered before. Only a new creation is refused.
  if (caller.state.closed) throw serviceClosed(caller.state.closed);
  try {
    checkMeans(caller, demand, services);
    const copied = await copySources(plan, caller, services, inline);
    const shaped = inRatioOfMasked(plan, copied.mask && copied.sources[0]);
    return await chargeCreations(
      { ...request, plan: narrowToSources(shaped, copied.sources), ...copied, topUpUrl },
      services,
    );
  } catch (error) {
    await alertAfterRefusal(error, caller, demand, services);
    throw await withTopUpState(error, caller, services);
  }
}

/** Charges all creations of the plan. Throws the Problem that refuses the charge; then nothing was charged. */
async function chargeCreations(first: Submission, services: SubmitServices): Promise<Charged | RetryMoved> {
  let submission = first;
  for (let charges = 1; ; charges += 1) {
    // There must be time to charge and to start. Otherwise the client would not get the answer of its charge.
    if (services.budget.left() < chargeMillis) throw overloaded();
    const order = orderOf(submission, services);
    const outcome = await services.charges.charge(order);
    if (outcome.kind === 'charged') {
      submission.caller.rateSlot.takenByCharge();
      return { kind: 'charged', creations: order.creations };
    }
    if (outcome.kind === 'retry_moved') return outcome;
    if (charges === mostCharges) throw overloaded();
    const next = await lookAgain(outcome, submission, services);
    if ('creations' in next) return next;
    submission = next;
  }
}

/** The submission after the change that refused the charge, or the replay. Throws a final refusal. */
async function lookAgain(
  outcome: Refused,
  submission: Submission,
  services: SubmitServices,
): Promise<Submission | Charged> {
  const { caller, plan, idempotency } = submission;
  if (outcome.kind === 'key_changed' || outcome.kind === 'account_changed') {
    const { kind: _, ...read } = outcome;
    const changed = { ...caller, ...read };
    checkUser(changed.apiKey, plan.request.user);
    checkMeans(changed, demandOf(submission), services);
    return { ...submission, caller: changed };
  }
  if (outcome.kind === 'idempotency_taken' && idempotency) {
    const earlier = await findReplay(outcome.record, idempotency, services);
    if (earlier.kind === 'replayed') return { kind: 'replayed', creations: earlier.creations };
    return { ...submission, ...(earlier.idempotency && { idempotency: earlier.idempotency }) };
  }
  throw refusal(outcome, submission);
}

/** Source images may have taken seconds: month, rate window and deadline follow the time of the charge. */
function orderOf(submission: Submission, services: SubmitServices): ChargeOrder {
  const { caller, idempotency, retry, plan } = submission;
  const { account, apiKey, rateSlot, token } = caller;
  const nowMillis = services.clock.now();
  const { count } = plan.request;
  const uploads = uploadIdsIn(addressesOf(plan.request));
  return {
    creations: [
      newCreation(submission, 0, nowMillis, services),
      ...Array.from({ length: count - 1 }, (_, index) =>
        newCreation(submission, index + 1, nowMillis, services),
      ),
    ],
    apiKey,
    ...(token && { token }),
    maxConcurrent: account.limits.maxConcurrent,
    nowMillis,
    ...(!rateSlot.isTaken && { postRate: limitOf(caller, 'post') }),
    ...(uploads.length > 0 && { uploads }),
    ...(idempotency && { idempotency }),
    ...(retry && { retry }),
  };
}

type SetLater =
  | 'startedAt'
  | 'completedAt'
  | 'failure'
  | 'cancelRequestedAt'
  | 'cancelledAt'
  | 'erasedAt'
  | 'erasedBy'
  | 'resultsDeletedBy'
  | 'resultsExpireAt'
  | 'colours'
  | 'copy'
  | 'lease'
  | 'fence';

/** @param index of the creation among those of the request */
function newCreation(
  { caller, requestId, plan, sources, mask }: Submission,
  index: number,
  nowMillis: number,
  { randomBytes, schema, catalog, signedMinutesOf }: SubmitServices,
): NewCreation {
  const { request, routes, costMicros } = plan;
  const { account, apiKey, token } = caller;
  const { model, imageUrls: _copied, maskUrl: _mask, webhookUrl, ...others } = request;
  const { isRatioNamed: _settled, maxCostUsd: _compared, count: _made, ...asked } = others;
  // The record has an attribute for every field of the request.
  asked satisfies { [Name in keyof typeof asked]: Name extends keyof CreationRecord ? unknown : never };
  const machine = machineOf(routes);
  return defined<Omit<WithoutPlain<NewCreation>, SetLater>>({
    v: schema.written,
    id: uuidV7(nowMillis, randomBytes(16)) as CreationId,
    accountId: account.id,
    keyId: apiKey.id,
    tokenId: token?.id,
    requestId,
    status: 'queued',
    model: model.id,
    ...asked,
    // The same seed would make the same picture again: each creation after the first has the next seed.
    seed: asked.seed === null ? null : (asked.seed + index) % (plainFields.seed.most + 1),
    index: index > 0 ? index : undefined,
    sources,
    mask,
    costMicros,
    refundedMicros: asMicros(0),
    chargedMonth: monthOf(nowMillis),
    chargedDay: dayOf(nowMillis),
    countedForUser: apiKey.perUserMonthlyCapMicros !== undefined || undefined,
    createdAt: new Date(nowMillis).toISOString(),
    deadlineAt: nowMillis + account.limits.deadlineSeconds * 1000,
    results: [],
    signedMinutes: signedMinutesOf(account),
    // The address of the request goes before the endpoints of the account.
    webhook:
      webhookUrl === undefined && !account.creationEndpoints
        ? undefined
        : {
            url: webhookUrl ?? '',
            status: 'pending',
            attempts: 0,
            nextAt: nowMillis,
            ...(webhookUrl === undefined && { endpoints: {} }),
          },
    copies: account.copies,
    isWatched: getsNotices(account) || undefined,
    tellsEvents: account.eventsSince !== undefined || undefined,
    routes: routes.map(({ provider, provider_model: providerModel, quality }) => ({
      provider,
      providerModel,
      ...(quality !== null && { quality }),
    })),
    attempts: [],
    catalogRevision: catalog.revision,
    machine,
    executions: 1,
    recoveries: 0,
    dueAt: nowMillis + startGraceMillis,
  });
}

type Refused = Exclude<ChargeOutcome, { kind: 'charged' | 'retry_moved' }>;

function refusal(outcome: Refused, submission: Submission): Problem {
  const { caller, plan, topUpUrl } = submission;
  switch (outcome.kind) {
    case 'account_not_active':
      return outcome.condition === 'suspended' ? apiSuspended() : accountDisabled();
    case 'key_revoked':
      return caller.token?.ended('revoked') ?? keyInvalid('is not recognised');
    case 'token_ended':
      return caller.token?.ended(outcome.how) ?? overloaded();
    case 'token_used_up':
      return caller.token?.usedUp(costOfAll(plan), plan.request.count, outcome.token) ?? overloaded();
    case 'model_not_allowed':
      return modelNotFound(plan.request.model.id);
    case 'rate_used_up':
      return overRate(caller, 'post');
    case 'over_budget':
      return overBudget(outcome.budget, plan.request.user);
    case 'over_balance':
      return cannotPay(caller, demandOf(submission).cost, outcome.availableMicros, topUpUrl);
    case 'too_many_open':
      return tooManyOpen(outcome.limit, outcome.current);
    case 'key_changed':
    case 'account_changed':
    case 'idempotency_taken':
    case 'overloaded':
      return overloaded();
  }
}
