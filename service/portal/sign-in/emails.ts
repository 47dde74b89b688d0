/** The notices that a person gets by e-mail. Each person chooses alone, and only for the own verified address. */
import * as z from 'zod/mini';
import type { EmailsView } from '../../contract/portal-views.ts';
import { type MailChoice, mostReaders, topicOf } from '../../notices/mail-readers.ts';
import { type NoticeType, noticeTypes } from '../../notices/notice.ts';
import { parseBody } from '../../operated/body.ts';
import { Problem, retryLater } from '../../values/problem.ts';
import type { MemberCaller, PortalHandle } from '../http/caller.ts';
import type { SignInServices } from './open.ts';

/** GET /emails: SNS knows whether the person has confirmed, or ended it by the link in an e-mail. */
export const getEmails: PortalHandle<'getEmails', SignInServices> = async (_request, caller, services) => {
  const choice = await services.mailStore.choice(caller.account.id, caller.person.id);
  return { status: 200, body: await viewOf(caller, choice, services) };
};

const emailsSchema = z.strictObject({
  notices: z.array(z.enum(noticeTypes as unknown as [NoticeType, ...NoticeType[]])),
});

/** PUT /emails: an empty list ends the e-mails. While an address is not confirmed, SNS asks it again. */
export const setEmails: PortalHandle<'setEmails', SignInServices> = async (request, caller, services) => {
  const { notices } = parseBody(request, emailsSchema);
  const { account, person } = caller;
  const { mailStore, topics } = services;
  if (!topics) throw new Problem('ERR_CONFLICT', 'This service sends no e-mails.', { reason: 'no_emails' });
  const kinds = noticeTypes.filter((kind) => notices.includes(kind));
  const logged = { note: kinds.length === 0 ? 'none' : kinds.join(', ') };
  const before = await mailStore.choice(account.id, person.id);
  const topic = topicOf(account.id, person.id);
  if (kinds.length === 0) {
    // From this write on nothing is published, also when SNS does not delete the topic.
    await mailStore.end(account.id, person.id, account.mailChoices);
    await orUnavailable(() => topics.remove(topic));
    return { status: 200, body: await viewOf(caller, undefined, services), logged };
  }
  const readers = await mailStore.readers(account.id);
  if (readers.length >= mostReaders && !readers.some(({ personId }) => personId === person.id))
    throw new Problem('ERR_CONFLICT', `At most ${mostReaders} people of an account get e-mails.`, {
      reason: 'too_many_readers',
    });
  await orUnavailable(async () => {
    const isSame = before?.address === person.email;
    if (isSame && (await topics.state(topic, person.email)) === 'on') return;
    // The old address may still be subscribed.
    if (before && !isSame) await topics.remove(topic);
    await topics.subscribe(topic, person.email);
  });
  const portalUrl = services.settings.portalUrl.href;
  const choice = { kinds, address: person.email, portalUrl };
  if (!(await mailStore.choose(account.id, person.id, choice))) {
    // Who removed the person may have deleted the topic before it was made.
    await orUnavailable(() => topics.remove(topic));
    throw new Problem('ERR_NOT_FOUND', 'You have lost your place in the account.');
  }
  return { status: 200, body: await viewOf(caller, choice, services), logged };
};

async function viewOf(
  { account, person }: MemberCaller,
  choice: MailChoice | undefined,
  { topics }: SignInServices,
): Promise<EmailsView> {
  const address = choice?.address ?? person.email;
  const topic = topicOf(account.id, person.id);
  const state = !topics ? 'none' : !choice ? 'off' : await orUnavailable(() => topics.state(topic, address));
  return {
    state,
    words: words[state](address),
    choices: noticeTypes.map((notice) => ({
      notice,
      label: labels[notice],
      is_chosen: choice?.kinds.includes(notice) === true,
    })),
  };
}

const words: Readonly<Record<EmailsView['state'], (address: string) => string>> = {
  none: () => 'This service sends no e-mails.',
  off: (address) => `You get none. They would go to ${address}.`,
  waiting: (address) =>
    `Waiting for your confirmation: open the link in the e-mail to ${address}. Save sends it again.`,
  on: (address) => `On: they go to ${address}.`,
  gone: (address) => `The link of an e-mail has ended them for ${address}. Save begins again.`,
};

const labels: Readonly<Record<NoticeType, string>> = {
  'wallet.low': 'The balance is low',
  'wallet.empty': 'The balance is used up',
  'key.cap_reached': 'A key has spent 80 % or 100 % of a cap',
  'webhook.failing': 'Ten webhooks have failed in a row',
  'endpoint.failing': 'An endpoint has failed for four days',
  'endpoint.disabled': 'An endpoint was switched off',
  'budget.reached': 'The budget of the month is spent to 80 % or 100 %',
  'payment.received': 'A payment has come in',
  'payment.failed': 'An automatic top-up has failed',
  'payment.reversed': 'A payment was refunded or disputed',
};

/** @param work calls SNS alone, which may refuse, be too late or be out of reach */
async function orUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch {
    const details = { reason: 'emails_unavailable' };
    throw retryLater('ERR_PROVIDER_UNAVAILABLE', 'The sender of e-mails does not answer now.', details, 5);
  }
}
