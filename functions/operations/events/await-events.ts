/**
 * `wait`: the answer is held until there is an event, until the seconds have passed, or until shortly before the
 * gateway's own time limit.
 */
import type { AccountId } from '../../../core/ids.ts';
import { eventPausesMillis, latestAnswerMillis } from '../../../core/limits.ts';
import type { EventPlace } from '../../../core/ports/events.ts';
import { errorName } from '../../error-name.ts';
import { openHold } from '../../http/hold.ts';
import type { EventServices } from '../../services/events.ts';

/** The result of a poll: events to show, or only a later position. */
export interface Look<Found> {
  readonly found: Found | undefined;
  readonly place: EventPlace;
}

/**
 * Looks again and again, if the account has a place left.
 * @param first the result of the poll before the wait, without events
 */
export async function awaitEvents<Found>(
  account: AccountId,
  seconds: number,
  first: Look<Found>,
  look: (place: EventPlace) => Promise<Look<Found>>,
  services: EventServices,
): Promise<Look<Found>> {
  const { budget, clock, log } = services;
  const until = Math.min(budget.elapsed() + seconds * 1000, latestAnswerMillis);
  let last = first;
  const hold = openHold(account, until, services);
  try {
    if (!(await hold.take())) return first;
    for (let looks = 0; last.found === undefined; looks += 1) {
      const left = until - budget.elapsed();
      if (left <= 0) return last;
      const pause = eventPausesMillis[looks] ?? eventPausesMillis[2];
      await clock.sleep(Math.min(pause, left), budget.signal);
      last = await look(last.place);
    }
  } catch (error) {
    // The position is known, so a failed poll is no reason to refuse the request.
    log.info('wait_broken_off', { error: errorName(error) });
  } finally {
    await hold.release();
  }
  return last;
}
