/** The usage that a request asks for. */
import { playgroundKeyId } from '../../../core/api-keys.ts';
import type { ShownUsage } from '../../../core/portal/usage-view.ts';
import { dayBefore } from '../../../core/portal/day-sums.ts';
import { usageDimensions } from '../../../core/usage.ts';
import type { ApiRequest } from '../../http/request.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { MemberCaller } from '../http/caller.ts';
import { choiceOf, daysOf, oneOf, parametersOf } from './parameters.ts';

/** ?from, ?to and ?by. */
export async function usedDays(
  request: ApiRequest,
  { account, nowMillis }: MemberCaller,
  { usage, reads }: ReadServices,
): Promise<ShownUsage> {
  const parameters = parametersOf(request);
  const by = parameters.read('by', oneOf(usageDimensions), choiceOf(usageDimensions)) ?? 'day';
  const range = daysOf(parameters, nowMillis);
  // The clock of the command that opened the account may have been ahead.
  const since = dayBefore(account.createdAt.slice(0, 10));
  const [days, keys] = await Promise.all([
    usage.days(account.id, { ...range, by, since, nowMillis }),
    by === 'key' ? reads.keys(account.id) : [],
  ]);
  const names = new Map<string, string>(keys.map(({ id, name }) => [id, name]));
  return { range, by, days, ...(by === 'key' && { names: names.set(playgroundKeyId, 'Playground') }) };
}
