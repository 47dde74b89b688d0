/** A request whose Idempotency-Key was used before. */
import type { CatalogServices } from '../api/open.ts';
import { idempotencyKeyMismatch, overloaded } from '../api/problems.ts';
import { deprecationHeadersOf } from '../catalog/sold-catalog.ts';
import type { ChargeOrder } from '../creations/charge.ts';
import type { CreationStore } from '../creations/creation-store.ts';
import type { CreationRecord, IdempotencyRecord } from '../creations/creation.ts';
import {
  chargeInPlace,
  decideTry,
  needsEntries,
  type RetryCharge,
  type RetryEntry,
  type RetryHead,
  type Try,
} from '../creations/retries.ts';
import type { RetryStore } from '../creations/retry-store.ts';
import type { CreationId } from '../values/ids.ts';

/** The creations of one charge, at least one. */
export type Creations = readonly [CreationRecord, ...CreationRecord[]];

/** Creations that this request made, or that an earlier request made. */
export interface Accepted {
  readonly creations: Creations;
  readonly headers: Readonly<Record<string, string>>;
}

export type Idempotency = NonNullable<ChargeOrder['idempotency']>;

export type Replay =
  | ({ readonly kind: 'replayed' } & Accepted)
  /** Nothing is stored under the key. `replaces`: the first of the failed creations that the key still names. */
  | { readonly kind: 'new'; readonly idempotency: Idempotency | undefined };

/**
 * The creations that an earlier request with the same key made; at least one of them has not failed. Throws
 * 400 idempotency_key_mismatch when the earlier request was different.
 * @param record the stored record of the key
 */
export async function findReplay(
  record: IdempotencyRecord | undefined,
  idempotency: Idempotency | undefined,
  services: CatalogServices,
): Promise<Replay> {
  if (!record || !idempotency) return { kind: 'new', idempotency };
  const creations = await readStanding(record.creationIds, services);
  if (!creations) return { kind: 'new', idempotency: { ...idempotency, replaces: record.creationIds[0] } };
  if (record.requestHash !== idempotency.requestHash) throw idempotencyKeyMismatch();
  return { kind: 'replayed', ...replayed(creations, services) };
}

/** The creations as they are now. Undefined when all of them have failed. */
async function readStanding(
  ids: readonly CreationId[],
  { creations }: Pick<CatalogServices, 'creations'>,
): Promise<Creations | undefined> {
  const read = await Promise.all(ids.map((id) => creations.read(id)));
  const [first, ...others] = read.filter((creation) => creation !== undefined);
  return first && [first, ...others].some(({ status }) => status !== 'failed')
    ? [first, ...others]
    : undefined;
}

/** The answer's part of a replay. */
export function replayed(creations: Creations, { catalog }: CatalogServices): Accepted {
  const headers = { ...deprecationHeadersOf(catalog, creations[0].model), 'idempotent-replayed': 'true' };
  return { creations, headers };
}

// The tries of one call, as the openai libraries number them (service/creations/retries.ts).

/** How often a request reads again because another try of the same body was faster. */
const mostReads = 3;

export type FoundTry =
  | {
      readonly kind: 'attached';
      readonly entry: RetryEntry;
      readonly creations: readonly CreationRecord[];
    }
  /** The charge of this try has to write this. After the outcome 'retry_moved' the try has to be found again. */
  | { readonly kind: 'charge'; readonly retry: RetryCharge };

export interface TryServices {
  readonly retries: RetryStore;
  readonly creations: Pick<CreationStore, 'read'>;
  readonly clock: { readonly now: () => number };
}

/**
 * What an earlier try of the call has made, or what the charge of this one writes. Throws 503 when other tries
 * were faster again and again; then nothing was charged.
 * @param head as `retries.readHead` gave it last, at first and after 'retry_moved'
 */
export async function findTry(
  request: Try,
  head: RetryHead | undefined,
  { retries, creations, clock }: TryServices,
): Promise<FoundTry> {
  let known = head;
  for (let attempt = 1; attempt <= mostReads; attempt += 1) {
    const nowMillis = clock.now();
    const entries = needsEntries(request.attempt, known)
      ? await retries.entries(request.place, nowMillis)
      : [];
    const decision = decideTry(request, known, entries);
    if (decision.kind === 'charge') return decision;
    const { entry } = decision;
    const read = await Promise.all(entry.creationIds.map((id) => creations.read(id)));
    const made = read.filter((creation) => creation !== undefined);
    if (made.every(({ status }) => status === 'failed'))
      return { kind: 'charge', retry: chargeInPlace(request, entry) };
    if (await retries.attach(request, entry, nowMillis)) return { kind: 'attached', entry, creations: made };
    known = await retries.readHead(request.place);
  }
  throw overloaded();
}
