/**
 * One attempt to deliver the webhook of a creation that has ended, or a notice. The function that completes a
 * creation makes the first attempt. DeliverWebhook, a state of all machines, makes the others. The first
 * attempt checks whether the creation passed a threshold for which the account gets notices.
 */
import { type CreationRecord, idsOf, resultUrls, type WebhookState } from '../creations/creation.ts';
import {
  creationIdOf,
  noticeIdOf,
  type NoticePayload,
  type Payload,
  WorkflowError,
  requireKnownRelease,
} from '../creations/payload.ts';
import { checkQuietly, subjectOf } from '../notices/check-thresholds.ts';
import { failingAttempts, noticeIdsOf, type NoticeRecord } from '../notices/notice.ts';
import { Overloaded } from '../values/errors.ts';
import type { CreationId } from '../values/ids.ts';
import { errorName } from '../values/runtime.ts';
import { deliverOwed } from './deliver-attempt.ts';
import type { DeliveringAccount } from './delivery.ts';
import type { DeliveryServices } from './open.ts';
import { notDelivered, type Owed } from './owed.ts';
import { endedEvent, webhookBody } from './webhook.ts';

/** Throws WebhookNotDelivered when a further attempt, or a further check of thresholds, is due later. */
export async function deliverWebhook<Given extends Payload | NoticePayload>(
  payload: Given,
  services: DeliveryServices,
): Promise<Given> {
  if ('notice_id' in payload) await deliverNotice(payload, services);
  else await deliverOfCreation(payload, services);
  return payload;
}

async function deliverNotice(payload: NoticePayload, services: DeliveryServices): Promise<void> {
  const notice = await services.notices.read(noticeIdOf(payload));
  if (notice?.webhook.status !== 'pending') return;
  if (notice.copyOf) await services.copyOwed?.(notice, services);
  else await deliverOwed(owedNotice(notice), services);
}

async function deliverOfCreation(payload: Payload, services: DeliveryServices): Promise<void> {
  const creation = await services.creations.read(creationIdOf(payload));
  if (creation) requireKnownRelease(creation, services);
  if (!creation?.completedAt) return;
  const isChecked = creation.isWatched !== true || (await checkQuietly(subjectOf(creation), services));
  const { webhook } = creation;
  if (webhook?.status === 'pending') await deliverOwed(owedWebhook(creation, webhook, services), services);
  // The state machine retries, and then the check may succeed.
  if (!isChecked) throw notDelivered();
}

function owedNotice(notice: NoticeRecord): Owed {
  const { id, accountId, webhook, type } = notice;
  return {
    id,
    accountId,
    webhook,
    ids: { noticeId: id },
    logIds: noticeIdsOf(notice),
    event: type,
    messageId: id,
    bodyAt: () => Promise.resolve(webhook.body ?? ''),
  };
}

function owedWebhook(creation: CreationRecord, webhook: WebhookState, services: DeliveryServices): Owed {
  const event = endedEvent(creation);
  return {
    id: creation.id,
    accountId: creation.accountId,
    webhook,
    ids: { creationId: creation.id },
    logIds: idsOf(creation),
    event,
    messageId: `${creation.id}:${event}`,
    bodyAt: async (now) =>
      webhookBody(creation, resultUrls(creation, await services.results.of([creation]), now)),
    onEnded: (isDelivered, account) => countEnd(creation, isDelivered, account, services),
  };
}

/** Counts failed attempts in a row of an account with notices. A busy table only loses a count. */
async function countEnd(
  { accountId }: CreationRecord,
  isDelivered: boolean,
  { failures }: DeliveringAccount,
  services: DeliveryServices,
): Promise<void> {
  if (!failures) return;
  try {
    if (isDelivered) {
      if (failures.inARow > 0) await services.deliveries.resetFailures(accountId);
      return;
    }
    const inARow = await services.deliveries.countFailure(accountId);
    if (inARow >= failingAttempts && !failures.isTold)
      await checkQuietly({ accountId, periods: {} }, services);
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error;
  }
}

/** A failing receiver is an ordinary outcome. Our own error alarms the operator. */
export async function deliverOrAlarm<Given extends Payload | NoticePayload>(
  payload: Given,
  services: DeliveryServices,
): Promise<Given> {
  try {
    return await deliverWebhook(payload, services);
  } catch (error) {
    if (!(error instanceof WorkflowError)) {
      const ids =
        'notice_id' in payload ? { noticeId: payload.notice_id } : { creationId: payload.creation_id };
      services.log.alarm('webhook_delivery_broke', { ...ids, error: errorName(error) });
    }
    throw error;
  }
}

/**
 * The first attempt, by the function that has ended the creation. Nothing is thrown, because the creation has ended.
 * @param known the creation before its end, which saves a read when nobody is to be notified
 * @returns false when the state DeliverWebhook has to continue
 */
export async function deliverFirst(
  id: CreationId,
  known: CreationRecord | undefined,
  services: DeliveryServices,
): Promise<boolean> {
  if (known && !known.webhook && !known.isWatched) return true;
  try {
    await deliverOrAlarm({ creation_id: id }, services);
    return true;
  } catch {
    return false;
  }
}
