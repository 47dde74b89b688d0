/**
 * A bounded wait for the end of a creation. A host ends a call after about a minute and then knows nothing of a
 * creation that was paid, so the wait ends before that, and nothing that goes wrong in it is an error.
 */
import { creationView, isTerminal } from '../../../core/creation.ts';
import type { CreationId } from '../../../core/ids.ts';
import { errorName } from '../../error-name.ts';
import { openHold } from '../../http/hold.ts';
import type { CreationBody } from './seen-creation.ts';
import type { ToolCall } from './tool.ts';

const firstLookMillis = 150;
const longestLookMillis = 1_000;
/** The least time between two notices of progress. */
const tellMillis = 5_000;

/**
 * The creation when it is terminal, or as it was last seen. A call of an account without a place left does not wait.
 * @param creation as the API has just shown it
 * @param seconds from the arrival of the request on
 */
export async function awaitEnd(
  creation: CreationBody,
  seconds: number,
  { caller, services, tell }: Pick<ToolCall, 'caller' | 'services' | 'tell'>,
): Promise<CreationBody> {
  const { clock, creations, budget, resultsBaseUrl, log } = services;
  let last = creation;
  let toldAt = -tellMillis;
  const hold = openHold(caller.account.id, seconds * 1000, services);
  try {
    for (
      let pause = firstLookMillis;
      !isTerminal(last.status);
      pause = Math.min(longestLookMillis, pause * 1.5)
    ) {
      const left = seconds * 1000 - budget.elapsed();
      if (left <= 0 || !(await hold.take())) break;
      if (budget.elapsed() - toldAt >= tellMillis) {
        toldAt = budget.elapsed();
        await tell?.(Math.round(toldAt / 1000), seconds, `${last.id}: ${last.status}`);
      }
      await clock.sleep(Math.min(pause, left), budget.signal);
      const record = await creations.read(last.id as CreationId);
      if (record) last = creationView(record, resultsBaseUrl, clock.now()) as unknown as CreationBody;
    }
  } catch (error) {
    log.info('wait_broken_off', { creationId: last.id, error: errorName(error) });
  } finally {
    await hold.release();
  }
  return last;
}
