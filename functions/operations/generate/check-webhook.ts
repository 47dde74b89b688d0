import { webhookRefused } from '../../http/problems.ts';
import type { SubmitServices } from '../../services/submit.ts';
import type { Plan } from './plan.ts';

/** The address of the webhook must lead to a public host, at the submission and again at every attempt. */
export async function checkWebhook(
  { request }: Plan,
  { outbound, budget }: Pick<SubmitServices, 'outbound' | 'budget'>,
): Promise<void> {
  if (request.webhookUrl === undefined) return;
  const verdict = await outbound.check(request.webhookUrl, budget.signal);
  if (verdict.kind === 'refused') throw webhookRefused(verdict.why);
}
