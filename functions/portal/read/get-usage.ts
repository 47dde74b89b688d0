import { usageView } from '../../../core/portal/usage-view.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';
import { usedDays } from './used-days.ts';

/** Success and times are computed from at most this number of creations. */
const sampled = 300;

/** GET /usage: what was spent on some days, by day, key, model or user; ?from, ?to and ?by. */
export const getUsage: PortalHandle<'getUsage', ReadServices> = async (request, caller, services) => {
  const shown = await usedDays(request, caller, services);
  const sample = await services.usage.newest(caller.account.id, shown.range, sampled);
  return { status: 200, body: usageView(shown, sample) };
};
