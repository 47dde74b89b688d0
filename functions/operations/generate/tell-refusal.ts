/** Checks thresholds after a request was refused for money. The client waits for its 402. */
import type { RefusedFor } from '../../../core/notice.ts';
import { Problem } from '../../../core/problem.ts';
import { capKinds, toldOf, watchedCaps } from '../../../core/watched-caps.ts';
import type { Caller } from '../../http/caller.ts';
import { lookQuietly } from '../../look-quietly.ts';
import type { SubmitServices } from '../../services/submit.ts';
import type { Demand } from './means.ts';

/** Does nothing for any other error, and reads nothing when the notice was sent before. */
export async function tellRefusal(
  error: unknown,
  caller: Caller,
  { cost, user }: Demand,
  services: SubmitServices,
): Promise<void> {
  const { account, apiKey } = caller;
  const refused = refusedFor(error, cost);
  if (!refused || account.noticeUrl === undefined || isTold(refused, caller)) return;
  const nowMillis = services.clock.now();
  const periods = Object.fromEntries(capKinds.map((cap) => [cap, watchedCaps[cap].periodAt(nowMillis)]));
  // The counter of the user is read only when the cap for each user refused the request.
  const asked = refused.kind === 'cap' && refused.cap === 'user' && user !== undefined && { user };
  await lookQuietly({ accountId: account.id, keyId: apiKey.id, periods, refused, ...asked }, services);
}

function refusedFor(error: unknown, costMicros: Demand['cost']): RefusedFor | undefined {
  if (!(error instanceof Problem) || error.code !== 'ERR_INSUFFICIENT_BALANCE') return undefined;
  const { reason } = error.details;
  if (reason === undefined) return { kind: 'balance', costMicros };
  const cap = capKinds.find((kind) => watchedCaps[kind].reason === reason);
  return cap && { kind: 'cap', cap, costMicros };
}

/** By the marks as the request read them. If a mark was removed since, the next refusal sends the notice. */
function isTold(refused: RefusedFor, { account, apiKey, state, nowMillis }: Caller): boolean {
  if (refused.kind === 'balance') return account.toldEmpty !== undefined;
  const { capName, periodAt } = watchedCaps[refused.cap];
  const mark = refused.cap === 'user' ? state.userTold : toldOf({ apiKey }, refused.cap, periodAt(nowMillis));
  return mark?.level === 100 && mark.capMicros === apiKey[capName];
}
