/**
 * Admits every request of an authenticated caller: a first check of the rate, the work, which is counted, and
 * the rate headers. The API, the OpenAI-shaped endpoint and the playground differ only in their parameters.
 */
import { type Account, type ApiKey, hourOf } from '../accounts/account.ts';
import type { UserToken } from '../accounts/user-token.ts';
import type { SoldCatalog } from '../catalog/operator-catalog.ts';
import { type BeforeCatalog, catalogFor } from '../catalog/sold-catalog.ts';
import { rateWindowSeconds } from '../contract/limits.ts';
import type { ChargeOrder } from '../creations/charge.ts';
import type { Micros } from '../values/money.ts';
import { Problem } from '../values/problem.ts';
import { errorName } from '../values/runtime.ts';
import { problemOf } from './framed.ts';
import type { ApiServices } from './open.ts';
import { RateExceeded, rateExceeded } from './problems.ts';
import type { RefusedCaller } from './refusal-store.ts';
import type { RequestState, RequestStore } from './request-store.ts';
import type { ApiRequest } from './request.ts';

/** A GET writes nothing else, so it is counted against the rate in parallel with the operation. */
export async function countedGet<Answer>(
  caller: Caller,
  services: Pick<ApiServices, 'requests' | 'log'>,
  run: () => Promise<Answer>,
): Promise<Answer> {
  // All three are awaited, even when one fails: Lambda may freeze work that is not awaited.
  const [answer, counting] = await Promise.allSettled([
    run(),
    caller.rateSlot.take(),
    noteKeyUse(caller, services),
  ]);
  if (counting.status === 'rejected') throw counting.reason;
  if (answer.status === 'rejected') throw answer.reason;
  return answer.value;
}

/** Notes the use of a key that only reads, once an hour. A charge notes the use by itself. */
async function noteKeyUse(
  { account, apiKey, nowMillis }: Caller,
  { requests, log }: Pick<ApiServices, 'requests' | 'log'>,
): Promise<void> {
  const hour = hourOf(nowMillis);
  if (apiKey.lastUsedAt === hour) return;
  await requests.noteKeyUse(account.id, apiKey.id, hour).catch((error: unknown) => {
    // This is no reason to refuse an answer: the next request notes the use.
    log.info('key_use_not_noted', { error: errorName(error) });
  });
}

/** Counts a POST against the rate once its answer is decided, unless it was counted before. */
export async function countedPost<Answer>(slot: RateSlot, run: () => Promise<Answer>): Promise<Answer> {
  try {
    const answer = await run();
    await slot.take();
    return answer;
  } catch (error) {
    // When the table is busy or the answer broke, one more write would only add to the load.
    const isDecided = error instanceof Problem && !(error instanceof RateExceeded) && !isOverloaded(error);
    if (isDecided) await slot.take();
    throw error;
  }
}

export function isOverloaded(problem: Problem): boolean {
  return problem.details['reason'] === 'overloaded';
}

/** The rate of an account: how many requests of a kind the account may send in a minute of the clock. */
export type Rate = 'get' | 'post';

export function openRateSlot(
  caller: Authenticated,
  rate: Rate,
  requests: Pick<RequestStore, 'countRequest'>,
) {
  let isTaken = false;
  return {
    get isTaken() {
      return isTaken;
    },
    /** Takes a slot now, unless the request has one. Throws RateExceeded when the window is full. */
    take: async () => {
      if (isTaken) return;
      const limit = limitOf(caller, rate);
      const { account, nowMillis, token } = caller;
      if (!(await requests.countRequest(account.id, rate, limit, nowMillis, token?.id)))
        throw overRate(caller, rate);
      isTaken = true;
    },
    takenByCharge: () => {
      isTaken = true;
    },
  };
}

/** Checks the count that was read with the caller. Throws RateExceeded when the window is full. */
export function checkRate(caller: Authenticated, rate: Rate): void {
  if (caller.state.rateCount >= limitOf(caller, rate)) throw overRate(caller, rate);
}

export function overRate(caller: Authenticated, rate: Rate): RateExceeded {
  const who = caller.token ? 'token' : 'account';
  return rateExceeded(rate, limitOf(caller, rate), windowEndsIn(caller.nowMillis), who);
}

export function limitOf({ account, token }: Authenticated, rate: Rate): number {
  const { postRate, getRate, userPostRate, userGetRate } = account.limits;
  if (token) return rate === 'post' ? userPostRate : userGetRate;
  return rate === 'post' ? postRate : getRate;
}

/** Seconds until the window of the caller's request ends; 1 to 60. */
function windowEndsIn(nowMillis: number): number {
  return rateWindowSeconds - (Math.floor(nowMillis / 1000) % rateWindowSeconds);
}

/**
 * The RateLimit fields of the IETF draft: the policy, the requests left and the seconds until the next
 * window.
 * @param taken how many slots of the window this request takes: 1; 0 when the request is not counted;
 * Infinity
 *   when the window is full
 */
export function rateHeaders(caller: Authenticated, rate: Rate, taken: number): Record<string, string> {
  const limit = limitOf(caller, rate);
  const left = Math.max(0, limit - caller.state.rateCount - taken);
  return {
    'ratelimit-policy': `"${rate}";q=${limit};w=${rateWindowSeconds}`,
    ratelimit: `"${rate}";r=${left};t=${windowEndsIn(caller.nowMillis)}`,
  };
}

interface WithHeaders {
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Door<Answer extends WithHeaders> {
  readonly rate: Rate;
  readonly request: ApiRequest;
  /** From the key, or from the session and the key of its playground. */
  readonly known: Authenticated;
  readonly run: (caller: Caller) => Promise<Answer>;
  readonly refuse: (problem: Problem) => Answer;
}

/** The answer of the work, or its refusal, with the headers of the account's rate. It never throws. */
export async function admit<Answer extends WithHeaders>(
  door: Door<Answer>,
  services: Pick<ApiServices, 'requests' | 'refusals' | 'log'>,
): Promise<Answer> {
  const { rate, request, known, refuse } = door;
  const withRate = (answer: Answer, taken: number): Answer => ({
    ...answer,
    headers: { ...rateHeaders(known, rate, taken), ...answer.headers },
  });
  try {
    return withRate(await counted(door, services), 1);
  } catch (error) {
    const problem = problemOf(error, request.requestId, services);
    if (isOverloaded(problem)) services.log.info('request_shed', { path: request.path });
    await services.refusals.note(request, callerOf(known), problem);
    return withRate(refuse(problem), problem instanceof RateExceeded ? Infinity : 1);
  }
}

/** Who is refused, for the log of refused requests. */
export function callerOf({ account, apiKey, token }: Authenticated): RefusedCaller {
  return { accountId: account.id, keyId: apiKey.id, tokenId: token?.id };
}

/** The work within the rate of the account. Throws the Problem of a refusal. */
export async function counted<Answer>(
  { rate, known, run }: Pick<Door<never>, 'rate' | 'known'> & { run: (caller: Caller) => Promise<Answer> },
  services: Pick<ApiServices, 'requests' | 'log'>,
): Promise<Answer> {
  checkRate(known, rate);
  const caller = { ...known, rateSlot: openRateSlot(known, rate, services.requests) };
  const work = (): Promise<Answer> => run(caller);
  return rate === 'get' ? countedGet(caller, services, work) : countedPost(caller.rateSlot, work);
}

// The caller, as every operation gets it.

/** The token of an end user, with the rules that only the door for tokens has (token-door.ts). */
export interface CallingToken extends UserToken, Pick<NonNullable<ChargeOrder['token']>, 'part'> {
  /** The 402 when limit or uses do not cover the creations. @param now as a charge has found them */
  readonly usedUp: (
    cost: Micros,
    count: number,
    now?: Pick<UserToken, 'leftMicros' | 'usesLeft'>,
  ) => Problem | undefined;
  readonly usesExceeded: () => Problem;
  readonly cannotPay: () => Problem;
  readonly ended: (how: 'expired' | 'revoked') => Problem;
}

export interface Authenticated {
  readonly account: Account;
  /** The key, or the key that minted the token, then with the models of both. */
  readonly apiKey: ApiKey;
  readonly token?: CallingToken;
  readonly state: RequestState;
  /** When the request was authenticated, in Unix milliseconds. */
  readonly nowMillis: number;
}

/** A request's slot in its account's rate window, taken before costly work, by the charge, or at the end. */
type RateSlot = ReturnType<typeof openRateSlot>;

export interface Caller extends Authenticated {
  readonly rateSlot: RateSlot;
}

/** The operation with the catalog of the revision that was read with its caller. Throws Overloaded. */
export function withCatalog<Request, Services extends { readonly catalog: SoldCatalog }, Answer>(
  handle: (request: Request, caller: Caller, services: Services) => Promise<Answer>,
): (request: Request, caller: Caller, services: BeforeCatalog<Services>) => Promise<Answer> {
  return async (request, caller, services) => handle(request, caller, await addCatalog(caller, services));
}

/** The services of an operation with the catalog. Throws Overloaded. */
export async function addCatalog<Services extends { readonly catalog: SoldCatalog }>(
  { state, nowMillis }: Pick<Caller, 'state' | 'nowMillis'>,
  services: BeforeCatalog<Services>,
): Promise<Services> {
  const catalog = await catalogFor(state, nowMillis, services.catalogs);
  // The compiler does not see that both parts together are the whole.
  return { ...services, catalog } as unknown as Services;
}
