/** A request that is one of the tries of a call (core/retries.ts): it is charged once, however often it is sent. */
import { Problem } from '../../../core/problem.ts';
import {
  attemptOf,
  entryIdOf,
  type RetryCharge,
  type RetryEntry,
  type RetryHead,
  type RetryPlace,
  type Told,
  type Try,
} from '../../../core/retries.ts';
import { errorName } from '../../error-name.ts';
import type { Caller } from '../../http/caller.ts';
import { overloaded } from '../../http/problems.ts';
import type { ApiRequest } from '../../http/request.ts';
import type { RetryMoved } from '../../operations/generate/charge.ts';
import { findTry } from '../../operations/generate/earlier-try.ts';
import { replayed, type Accepted, type Idempotency } from '../../operations/generate/replay.ts';
import type { OpenaiImageServices } from '../../services/openai-images.ts';
import type { OpenaiRequest } from './read-request.ts';

/** Where the answer of a try is noted. */
export interface TriedCall {
  readonly place: RetryPlace;
  readonly entry: Pick<RetryEntry, 'id' | 'creationIds'>;
}

export interface AcceptedImages extends Accepted {
  /** Of a request without an Idempotency-Key: the call that it is a try of. */
  readonly call?: TriedCall;
}

/** What the charge writes, so that a request that is sent again finds its creations. */
interface Order {
  readonly idempotency?: Idempotency;
  readonly retry?: RetryCharge;
}

/** Charges the creations of the request and starts them. */
export type MakeImages = (order: Order) => Promise<Accepted | RetryMoved>;

const mostRounds = 3;

/**
 * The creations of an earlier try of the call, or new ones. Throws what stands against the request, and 503 when
 * other tries were faster again and again; then nothing was charged.
 */
export async function acceptTry(
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
  if (attempt !== undefined && attempt > 0) await caller.place.take();
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

/** Undefined when another try was faster, so that this one has to read again. */
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

/**
 * Whether a retry was refused for money or room that another try of the call may have taken. A try that was slow
 * may have been charged between the read of the head and the refusal.
 */
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
 * Records the client's answer. The answer does not depend on the record: without it a later try searches
 * longer.
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
