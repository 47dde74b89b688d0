/**
 * The rule for requests that wait: when all slots of its account are taken, a request is answered at once.
 */
import type { AccountId } from '../values/ids.ts';
import { errorName } from '../values/runtime.ts';
import type { HeldPlace, HeldPlaces } from './held-places-store.ts';
import type { ApiServices } from './open.ts';

export interface HoldServices extends Pick<ApiServices, 'budget' | 'clock' | 'log'> {
  readonly held: HeldPlaces;
}

export type Hold = ReturnType<typeof openHold>;

/** @param untilMillis how long the slot is kept at most, in milliseconds since the request's arrival */
export function openHold(
  account: AccountId,
  untilMillis: number,
  { held, budget, clock, log }: HoldServices,
) {
  let place: HeldPlace | undefined;
  return {
    /** Takes a slot, unless the request has one. False: the account has no free slot. Throws Overloaded. */
    take: async (): Promise<boolean> => {
      if (place) return true;
      const nowMillis = clock.now();
      place = await held.claim(account, nowMillis + untilMillis - budget.elapsed(), nowMillis);
      if (!place) log.info('request_not_held', { door: held.door, limit: held.limit });
      return place !== undefined;
    },
    /** Releases the slot. Never throws. */
    release: async () => {
      const taken = place;
      place = undefined;
      // An expired slot is free already.
      if (!taken || budget.elapsed() >= untilMillis) return;
      await held.release(account, taken).catch((error: unknown) => {
        log.info('place_not_released', { door: held.door, error: errorName(error) });
      });
    },
  };
}
