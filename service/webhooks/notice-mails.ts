/** Notices by e-mail: who gets one, and one attempt to send it. */
import type { SubscriptionState } from '../aws/topics.ts';
import { type MailReader, placeOfReader, shownAddress, topicOf } from '../notices/mail-readers.ts';
import { mailOf } from '../notices/notice-mail.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryServices } from './open.ts';
import type { Owed } from './owed.ts';

/** A person who wants this notice, with the key of the schedule, and the address as the log shows it. */
export type Readers = readonly (MailReader & { readonly place: string; readonly shown: string })[];

/**
 * Who wants the notice now. The first round takes only confirmed people. Later rounds have their schedules.
 */
export async function readersOf(owed: Owed, { mails }: Pick<DeliveryServices, 'mails'>): Promise<Readers> {
  const { accountId, event, ids, webhook } = owed;
  if (!mails || ids.noticeId === undefined) return [];
  const readers = (await mails.readers(accountId))
    .filter(({ kinds }) => kinds.some((kind) => kind === event))
    .map((reader) => ({ ...reader, place: placeOfReader(reader), shown: shownAddress(reader) }));
  if (Object.keys(webhook.endpoints ?? {}).length > 0) return readers;
  const states = await Promise.all(
    readers.map(async ({ personId, address }): Promise<SubscriptionState> => {
      // When SNS does not return the state now, the e-mail must not be lost.
      return mails.state(topicOf(accountId, personId), address).catch(() => 'on' as const);
    }),
  );
  return readers.filter((_, place) => states[place] === 'on');
}

/** The attempt with its outcome: SNS has taken the e-mail, or why not. */
export async function sendMail(
  delivery: Delivery,
  { body, account }: { readonly body: string; readonly account: string },
  { personId, portalUrl }: MailReader,
  { mails }: Pick<DeliveryServices, 'mails'>,
): Promise<Delivery> {
  if (!mails) throw new Error('this function sends no e-mails');
  const result = await mails.publish(
    topicOf(delivery.accountId, personId),
    mailOf(body, { account, portalUrl }),
  );
  if (result.kind === 'unanswered')
    return { ...delivery, outcome: 'failed', reason: result.reason, failure: result.failure };
  const { status, excerpt } = result;
  return { ...delivery, outcome: status === 200 ? 'delivered' : 'failed', status, responseExcerpt: excerpt };
}
