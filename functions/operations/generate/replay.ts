import { creationView, type CreationRecord } from '../../../core/creation.ts';
import { deprecationHeadersOf } from '../../../core/deprecation.ts';
import type { CreationId } from '../../../core/ids.ts';
import { pollPaceSeconds } from '../../../core/limits.ts';
import type { IdempotencyRecord } from '../../../core/ports/requests.ts';
import { Problem } from '../../../core/problem.ts';
import { apiRoot } from '../../../core/contract.ts';
import type { ApiServices, CatalogServices } from '../../services.ts';
import type { ApiAnswer } from '../../http/answer.ts';

/** A creation that this request made, or made before. */
export interface Submitted {
  readonly creation: CreationRecord;
  /** That go with the answer. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What an Idempotency-Key that was used before means for this request. */
export type Replay =
  | ({ readonly kind: 'replayed' } & Submitted)
  /** Its creation failed and was refunded: the key is free again, for as long as it still names that one. */
  | { readonly kind: 'free'; readonly replaces: CreationId };

/** Throws 400 idempotency_key_mismatch when the key was used for another request. */
export async function replayOf(
  record: IdempotencyRecord,
  requestHash: string,
  services: CatalogServices,
): Promise<Replay> {
  const creation = await services.creations.read(record.creationId);
  if (!creation || creation.status === 'failed') return { kind: 'free', replaces: record.creationId };
  if (record.requestHash !== requestHash) {
    const message =
      'This Idempotency-Key was used for another request. Use a new key, or send the same request again.';
    throw new Problem('ERR_INVALID_REQUEST', message, {
      reason: 'idempotency_key_mismatch',
      errors: [{ field: 'Idempotency-Key', code: 'mismatch', message: 'was used for another request' }],
    });
  }
  const headers = {
    ...deprecationHeadersOf(services.catalog, creation.model),
    'idempotent-replayed': 'true',
  };
  return { kind: 'replayed', creation, headers };
}

/** 202 with the creation in its current state. */
export function accepted(creation: CreationRecord, services: ApiServices): ApiAnswer {
  return {
    status: 202,
    headers: { location: `${apiRoot}/creations/${creation.id}`, 'retry-after': String(pollPaceSeconds) },
    body: creationView(creation, services.resultsBaseUrl, services.clock.now()),
  };
}
