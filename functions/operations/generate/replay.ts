/** A request whose Idempotency-Key was used before. */
import type { CreationRecord } from '../../../core/creation.ts';
import { deprecationHeadersOf } from '../../../core/deprecation.ts';
import type { ChargeOrder } from '../../../core/ports/charges.ts';
import type { IdempotencyRecord } from '../../../core/ports/requests.ts';
import { idempotencyKeyMismatch } from '../../http/problems.ts';
import type { CatalogServices } from '../../services/api.ts';

/** A creation that this request made, or that an earlier request made. */
export interface Accepted {
  readonly creation: CreationRecord;
  /** Headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What the charge has to know of the request's Idempotency-Key. */
export type Idempotency = NonNullable<ChargeOrder['idempotency']>;

export type Replay =
  | ({ readonly kind: 'replayed' } & Accepted)
  /**
   * No creation stands under the key. `replaces`: the key named creations that all failed and were refunded.
   * The key is free again, for as long as it still names the first of them.
   */
  | { readonly kind: 'new'; readonly idempotency: Idempotency | undefined };

/**
 * The creation that an earlier request with the same key made: the first that has not failed. Throws 400 idempotency_key_mismatch when that
 * was another request.
 * @param record what the table holds under the key
 */
export async function findReplay(
  record: IdempotencyRecord | undefined,
  idempotency: Idempotency | undefined,
  services: CatalogServices,
): Promise<Replay> {
  if (!record || !idempotency) return { kind: 'new', idempotency };
  const made = await Promise.all(record.creationIds.map((id) => services.creations.read(id)));
  const creation = made.find((read) => read && read.status !== 'failed');
  if (!creation) return { kind: 'new', idempotency: { ...idempotency, replaces: record.creationIds[0] } };
  if (record.requestHash !== idempotency.requestHash) throw idempotencyKeyMismatch();
  return { kind: 'replayed', ...replayed(creation, services) };
}

/** The answer's part of a replay. */
export function replayed(creation: CreationRecord, { catalog }: CatalogServices): Accepted {
  const headers = { ...deprecationHeadersOf(catalog, creation.model), 'idempotent-replayed': 'true' };
  return { creation, headers };
}
