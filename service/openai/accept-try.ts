/** A try of a call (service/creations/retries.ts). The call is charged once, however often it is sent. */
import type { Caller } from '../api/admit.ts';
import type { Hold } from '../api/hold.ts';
import { idempotencyKeyMalformed, overloaded, tooManyHeld } from '../api/problems.ts';
import type { ApiRequest } from '../api/request.ts';
import { deprecationHeaders } from '../catalog/sold-catalog.ts';
import {
  attemptOf,
  entryIdOf,
  type RetryCharge,
  type RetryEntry,
  type RetryHead,
  type RetryPlace,
  type Told,
  type Try,
} from '../creations/retries.ts';
import { chargeRequest, type RetryMoved } from '../generate/charge.ts';
import {
  type Accepted,
  findReplay,
  findTry,
  type Idempotency,
  replayed,
} from '../generate/earlier-request.ts';
import { startCreations } from '../generate/generate-image.ts';
import { checkWebhook } from '../generate/plan.ts';
import { Problem } from '../values/problem.ts';
import { errorName } from '../values/runtime.ts';
import type { OpenaiImageServices } from './open.ts';
import { type OpenaiRequest, planImages } from './read-request.ts';

export interface TriedCall {
  readonly place: RetryPlace;
  readonly entry: Pick<RetryEntry, 'id' | 'creationIds'>;
}

export interface AcceptedImages extends Accepted {
  /** The call of a try. Only without an Idempotency-Key. */
  readonly call?: TriedCall;
}

/** Written by the charge, so that a repeated request finds its creations. */
interface Order {
  readonly idempotency?: Idempotency;
  readonly retry?: RetryCharge;
}

type MakeImages = (order: Order) => Promise<Accepted | RetryMoved>;

const mostRounds = 3;

/** The creations of an earlier try, or new ones. Throws 503 when other tries were faster too often. */
async function acceptTry(
  { headers }: Pick<ApiRequest, 'headers'>,
  { hash }: Pick<OpenaiRequest, 'hash'>,
  caller: Caller,
  make: MakeImages,
  services: OpenaiImageServices,
): Promise<AcceptedImages> {
  const { account, apiKey } = caller;
  const attempt = attemptOf(headers['x-stainless-retry-count']);
  const place = { accountId: account.id, keyId: apiKey.id, bodyHash: hash };
  // A try that attaches is noted at once. It must not be refused after that.
  if (attempt !== undefined && attempt > 0) await caller.rateSlot.take();
  for (let round = 1; round <= mostRounds; round += 1) {
    const head = await services.retries.readHead(place);
    const accepted = await takeOrMake(
      { place, attempt, arrivedMillis: caller.nowMillis },
      head,
      make,
      services,
    );
    if (accepted) return accepted;
  }
  throw overloaded();
}

/** Undefined when another try was faster. Then this try has to read again. */
async function takeOrMake(
  request: Try,
  head: RetryHead | undefined,
  make: MakeImages,
  services: OpenaiImageServices,
): Promise<AcceptedImages | undefined> {
  const { place } = request;
  const found = await findTry(request, head, services);
  if (found.kind === 'attached') {
    const [first, ...others] = found.creations;
    if (!first) return undefined;
    return { ...replayed([first, ...others], services), call: { place, entry: found.entry } };
  }
  try {
    const made = await make({ retry: found.retry });
    if (!('creations' in made)) return undefined;
    return { ...made, call: { place, entry: entryOf(made, found.retry) } };
  } catch (error) {
    if (await isRefusedByOwnCall(error, request, head, services)) return undefined;
    throw error;
  }
}

function entryOf({ creations }: Accepted, retry: RetryCharge): TriedCall['entry'] {
  const [first, ...others] = creations;
  return {
    // The charge wrote the entry at the time that it gave its creations.
    id: entryIdOf(retry, first.id, Date.parse(first.createdAt)),
    creationIds: [first.id, ...others.map(({ id }) => id)],
  };
}

/** Whether money or room that refused a retry may have gone to another try, charged meanwhile. */
async function isRefusedByOwnCall(
  error: unknown,
  { place, attempt }: Try,
  head: RetryHead | undefined,
  { retries }: OpenaiImageServices,
): Promise<boolean> {
  const isForMeans =
    error instanceof Problem &&
    (error.code === 'ERR_INSUFFICIENT_BALANCE' || error.code === 'ERR_QUOTA_EXCEEDED');
  if (!isForMeans || attempt === undefined || attempt === 0) return false;
  return (await retries.readHead(place))?.made !== head?.made;
}

/**
 * Records the client's answer. The answer does not wait for it: without the record a later try only reads
 * more.
 */
export async function noteTold(
  call: TriedCall | undefined,
  told: Told,
  { retries, log }: Pick<OpenaiImageServices, 'retries' | 'log'>,
): Promise<void> {
  if (!call) return;
  try {
    await retries.note(call.place, call.entry, told);
  } catch (error) {
    log.info('answer_not_noted', { creationId: call.entry.creationIds[0], error: errorName(error) });
  }
}

/** The creations of a request: those of an earlier request that was the same, or new ones that are charged. */
interface Sent {
  readonly request: ApiRequest;
  readonly asked: OpenaiRequest;
  readonly caller: Caller;
  /** A request that makes creations takes a slot before the charge. */
  readonly hold: Hold;
}

/**
 * An Idempotency-Key wins over the number of a try. Throws the refusal of the request; then nothing was
 * charged.
 */
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
  // A charge without a try never conflicts with a try.
  throw overloaded();
}

async function makeImages(
  { request: { requestId }, asked, caller, hold }: Sent,
  order: Parameters<MakeImages>[0],
  services: OpenaiImageServices,
): ReturnType<MakeImages> {
  const plan = planImages(asked, caller, services);
  await checkWebhook(plan, services);
  // The answer has no form for pictures that are not rendered yet, so a request that cannot wait is not
  // charged.
  if (!(await hold.take())) throw tooManyHeld(services.held.limit);
  const { inline } = asked;
  const charged = await chargeRequest({ caller, requestId, plan, inline, ...order }, services);
  if (charged.kind === 'retry_moved') return charged;
  if (charged.kind === 'replayed') return replayed(charged.creations, services);
  await startCreations(charged.creations, services);
  return { creations: charged.creations, headers: deprecationHeaders(plan.request.model) };
}
