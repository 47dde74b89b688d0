/** Checks thresholds without failing the work of the caller. */
import { lookForCrossings, type LookServices, type Place } from '../core/look-for-crossings.ts';
import { errorName } from './error-name.ts';
import type { CommonServices } from './services/common.ts';

/** False when the check failed. The crossing then stays unmarked, and the next check sends its notice. */
export async function lookQuietly(
  place: Place,
  services: LookServices & Pick<CommonServices, 'log'>,
): Promise<boolean> {
  const { accountId } = place;
  const { log } = services;
  try {
    for (const { id: noticeId, type } of await lookForCrossings(place, services))
      log.info('notice_told', { noticeId, accountId, type });
    return true;
  } catch (error) {
    log.info('notices_not_looked_for', { accountId, error: errorName(error) });
    return false;
  }
}
