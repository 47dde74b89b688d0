import * as z from 'zod/mini';
import type { AccountId, CreationId } from '../../../core/ids.ts';
import { readMoment } from '../../../core/moment.ts';
import { reopenWebhook } from '../../../core/webhook-operations.ts';
import type { RedeliveredView } from '../../../core/portal/views.ts';
import type { ManageServices } from '../../services/portal-manage.ts';
import { moment, parseBody } from '../http/body.ts';
import type { PortalHandle } from '../http/caller.ts';

const sinceSchema = z.strictObject({ since: moment });

/** The most webhooks that one request sends again, and how many of them at once. */
const mostRedelivered = 100;
const atOnce = 8;
/** With less time left the request answers what it has done. */
const enoughMillis = 8_000;

/**
 * POST /deliveries/redeliver: sends all webhooks again that failed for good since a moment, in portions. A creation
 * is sent once, however many failed attempts it has: its webhook is open from then on and no longer failed, so a
 * repetition of the request continues with the rest.
 */
export const redeliverFailed: PortalHandle<'redeliverFailed', ManageServices> = async (
  request,
  caller,
  services,
) => {
  const { since } = parseBody(request, sinceSchema);
  let redelivered = 0;
  const answer = (hasMore: boolean): Awaited<ReturnType<typeof redeliverFailed>> => {
    const view: RedeliveredView = { redelivered, has_more: hasMore };
    return { status: 202, body: view, logged: { note: `${redelivered} since ${since}` } };
  };
  const pages = failedSince(caller.account.id, readMoment(since) ?? 0, services);
  for await (const creations of pages) {
    for (let start = 0; start < creations.length; start += atOnce) {
      if (redelivered >= mostRedelivered || services.budget.left() < enoughMillis) return answer(true);
      const some = creations.slice(start, start + atOnce);
      const outcomes = await Promise.all(some.map((creation) => reopenWebhook(creation, services)));
      redelivered += outcomes.filter((outcome) => outcome === 'started').length;
    }
  }
  return answer(false);
};

/** The creations whose webhook is failed now, by the attempts after which no other followed. Each comes once. */
async function* failedSince(
  accountId: AccountId,
  sinceMillis: number,
  { deliveries, creations }: ManageServices,
): AsyncGenerator<Awaited<ReturnType<ManageServices['creations']['readAll']>>> {
  const seen = new Set<CreationId>();
  for await (const ids of deliveries.lastAttemptsSince(accountId, sinceMillis)) {
    const fresh = ids.filter((id) => !seen.has(id));
    for (const id of fresh) seen.add(id);
    const read = await creations.readAll([...new Set(fresh)]);
    yield read.filter((one) => one.accountId === accountId && one.webhook?.status === 'failed');
  }
}
