/**
 * The rule for requests that wait: when all slots of its account are taken, a request is answered at once.
 */
import type { AccountId } from '../values/ids.ts';
import { errorName } from '../values/runtime.ts';
import type { HeldSlot, HeldSlots } from './held-slots-store.ts';
import type { ApiServices } from './open.ts';

export interface HoldServices extends Pick<ApiServices, 'budget' | 'clock' | 'log'> {
  readonly held: HeldSlots;
}

export type Hold = ReturnType<typeof openHold>;

/** @param untilMillis how long the slot is kept at most, in milliseconds since the request's arrival */
export function openHold(
  account: AccountId,
  untilMillis: number,
  { held, budget, clock, log }: HoldServices,
) {
  let slot: HeldSlot | undefined;
  return {
    /** Takes a slot, unless the request has one. False: the account has no free slot. Throws Overloaded. */
    take: async (): Promise<boolean> => {
      if (slot) return true;
      const nowMillis = clock.now();
      slot = await held.claim(account, nowMillis + untilMillis - budget.elapsed(), nowMillis);
      if (!slot) log.info('request_not_held', { door: held.door, limit: held.limit });
      return slot !== undefined;
    },
    /** Releases the slot. Never throws. */
    release: async () => {
      const taken = slot;
      slot = undefined;
      // An expired slot is free already.
      if (!taken || budget.elapsed() >= untilMillis) return;
      await held.release(account, taken).catch((error: unknown) => {
        log.info('place_not_released', { door: held.door, error: errorName(error) });
      });
    },
  };
}
