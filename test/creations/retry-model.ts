/**
 * A model of a place and of the requests at it. Each request makes its steps as functions/ does: it reads the
 * head, reads the entries, then attaches or charges on the conditions of the store. Between two steps of one
 * request any other request may make its steps.
 */
import {
  chargeInPlace,
  decideTry,
  entryIdOf,
  needsEntries,
  type RetryCharge,
  type RetryEntry,
  type RetryHead,
  type Try,
} from '../../service/creations/retries.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { accountId, keyId, now } from '../fixtures/records.ts';

export interface Arrival {
  readonly call: number;
  readonly attempt: number;
  /** Whether its creation fails and is refunded as soon as it is charged. */
  readonly fails: boolean;
}

export const callsOf = (tries: readonly Arrival[]): number => new Set(tries.map(({ call }) => call)).size;

/** Far more steps than sixteen requests make. */
const mostTurns = 20_000;

interface Place {
  head: RetryHead | undefined;
  entries: RetryEntry[];
  readonly failed: Set<CreationId>;
  charges: number;
  refusals: number;
}

/** Lets these tries arrive. `order` says which request makes the next step. */
export function chargesOf(
  tries: readonly Arrival[],
  order: readonly number[],
): { readonly live: number; readonly entries: number; readonly refusals: number } {
  const place: Place = { head: undefined, entries: [], failed: new Set(), charges: 0, refusals: 0 };
  const running = tries.map((arrival) => stepsOf(arrival, place));
  for (let turn = 0; running.length > 0; turn += 1) {
    if (turn > mostTurns) throw new Error('the requests refuse one another for ever');
    const at = (order[turn % order.length] ?? 0) % running.length;
    if (running[at]?.next().done === true) running.splice(at, 1);
  }
  const live = place.charges - place.failed.size;
  return { live, entries: place.entries.length, refusals: place.refusals };
}

function* stepsOf({ attempt, fails }: Arrival, place: Place): Generator<undefined> {
  const request: Try = { place: { accountId, keyId, bodyHash: 'body' }, attempt, arrivedMillis: now };
  // Each round that fails means that another request has moved on, so this ends.
  for (;;) {
    const { head } = place;
    yield;
    const entries = needsEntries(attempt, head) ? [...place.entries] : [];
    yield;
    const decision = decideTry(request, head, entries);
    if (decision.kind === 'attach') {
      const isFailed = decision.entry.creationIds.every((id) => place.failed.has(id));
      yield;
      if (
        isFailed
          ? charge(place, chargeInPlace(request, decision.entry), fails)
          : see(place, decision.entry, attempt)
      )
        return;
    } else if (charge(place, decision.retry, fails)) return;
    place.refusals += 1;
  }
}

/** As the conditions of the entry say. */
function see(place: Place, read: RetryEntry, attempt: number, instead?: CreationId): boolean {
  const stored = place.entries.find(({ id }) => id === read.id);
  if (!stored || stored.creationIds[0] !== read.creationIds[0] || stored.seen.includes(attempt)) return false;
  const seen = {
    ...stored,
    seen: [...stored.seen, attempt],
    ...(instead && { creationIds: [instead] as const }),
  };
  place.entries = place.entries.map((one) => (one === stored ? seen : one));
  return true;
}

/** As the conditions of the charge say. */
function charge(place: Place, retry: RetryCharge, fails: boolean): boolean {
  const id = `creation ${place.charges}` as CreationId;
  const attempt = retry.attempt ?? 0;
  if (retry.kind === 'same_entry') {
    if (!see(place, retry.entry, attempt, id)) return false;
  } else {
    const { made, madeByRetry } = place.head ?? { made: 0, madeByRetry: 0 };
    const asRead = retry.head ?? { made: 0, madeByRetry: 0 };
    if (attempt > 0 ? made !== asRead.made : madeByRetry !== asRead.madeByRetry) return false;
    place.head = { made: made + 1, madeByRetry: madeByRetry + (attempt > 0 ? 1 : 0) };
    const entry = { id: entryIdOf(retry, id, now), creationIds: [id] as const, madeAt: now, seen: [attempt] };
    place.entries = [entry, ...place.entries];
  }
  place.charges += 1;
  if (fails) place.failed.add(id);
  return true;
}
