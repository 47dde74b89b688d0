/** The tries of one call, as the openai libraries number them (service/creations/retries.ts). */
import { overloaded } from '../api/problems.ts';
import type { CreationStore } from '../creations/creation-reads.ts';
import type { CreationRecord } from '../creations/creation.ts';
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

/** How often a request reads again because another try of the same body was faster. */
const mostLooks = 3;

export type FoundTry =
  /** An earlier try has made these creations, and not all of them have failed. */
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
  for (let look = 1; look <= mostLooks; look += 1) {
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
