/** A request whose Idempotency-Key was used before. */
import type { CatalogServices } from '../api/open.ts';
import { idempotencyKeyMismatch } from '../api/problems.ts';
import { deprecationHeadersOf } from '../catalog/deprecation.ts';
import type { ChargeOrder } from '../creations/charges.ts';
import type { CreationRecord } from '../creations/creation.ts';
import type { IdempotencyRecord } from '../creations/idempotency.ts';
import type { CreationId } from '../values/ids.ts';

/** At least one: what one charge made. */
export type Creations = readonly [CreationRecord, ...CreationRecord[]];

/** Creations that this request made, or that an earlier request made. */
export interface Accepted {
  readonly creations: Creations;
  /** Headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What the charge has to know of the request's Idempotency-Key. */
export type Idempotency = NonNullable<ChargeOrder['idempotency']>;

export type Replay =
  | ({ readonly kind: 'replayed' } & Accepted)
  /**
   * No creation is stored under the key. `replaces`: the key named creations that all failed and were
   * refunded. The key is free again, for as long as it still names the first of them.
   */
  | { readonly kind: 'new'; readonly idempotency: Idempotency | undefined };

/**
 * The creations that an earlier request with the same key made; one of them at least has not failed. Throws 400
 * idempotency_key_mismatch when that was another request.
 * @param record what the table holds under the key
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
