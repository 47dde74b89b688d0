import { csvLine } from '../../../core/csv.ts';
import { usageCsv } from '../../../core/portal/usage-view.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';
import { csvAnswer } from './csv-answer.ts';
import { usedDays } from './used-days.ts';

/** GET /usage.csv: the lines of GET /usage, all of them. */
export const exportUsage: PortalHandle<'exportUsage', ReadServices> = async (request, caller, services) => {
  const shown = await usedDays(request, caller, services);
  const { from, to } = shown.range;
  return csvAnswer(usageCsv(shown).map(csvLine), `usage-${from}-${to}-${shown.by}.csv`);
};
