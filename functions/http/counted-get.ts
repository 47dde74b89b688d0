import { hourOf } from '../../core/account.ts';
import { errorName } from '../error-name.ts';
import type { ApiServices } from '../services/api.ts';
import type { Caller } from './caller.ts';

/** A GET writes nothing else, so its place in the rate is taken in parallel with the operation. */
export async function countedGet<Answer>(
  caller: Caller,
  services: Pick<ApiServices, 'requests' | 'log'>,
  run: () => Promise<Answer>,
): Promise<Answer> {
  // All three are awaited, whatever becomes of the others: Lambda may freeze work that is not awaited.
  const [answer, place] = await Promise.allSettled([
    run(),
    caller.place.take(),
    noteKeyUse(caller, services),
  ]);
  if (place.status === 'rejected') throw place.reason;
  if (answer.status === 'rejected') throw answer.reason;
  return answer.value;
}

/** Notes the use of a key that only reads, once an hour. A charge notes the use by itself. */
async function noteKeyUse(
  { account, apiKey, nowMillis }: Caller,
  { requests, log }: Pick<ApiServices, 'requests' | 'log'>,
): Promise<void> {
  const hour = hourOf(nowMillis);
  if (apiKey.lastUsedAt === hour) return;
  await requests.noteKeyUse(account.id, apiKey.id, hour).catch((error: unknown) => {
    // This is no reason to refuse an answer: the next request notes the use.
    log.info('key_use_not_noted', { error: errorName(error) });
  });
}
