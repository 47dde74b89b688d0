/** Who gets which notices by e-mail: what the person chose, and the topic that reaches the person. */
import type { AccountId, PersonId } from '../values/ids.ts';
import type { NoticeType } from './notice.ts';

/** The most people of an account that get e-mails: the record of a notice holds an attempt for each. */
export const mostReaders = 10;

/** What the item of a member says. Absent there: the person gets no e-mails. */
export interface MailChoice {
  readonly kinds: readonly NoticeType[];
  /** The verified address of the person when the person chose. */
  readonly address: string;
  /** Where the portal was, for the link in the e-mail. */
  readonly portalUrl: string;
}

export interface MailReader extends MailChoice {
  readonly personId: PersonId;
}

/** The last part of the topic's name. No topic reaches two accounts or two people. */
export function topicOf(account: AccountId, person: PersonId): string {
  return `${account}-${person}`;
}

/** The key of a person among the endpoints of a notice. No id of an endpoint begins so. */
export function placeOfReader({ personId }: Pick<MailReader, 'personId'>): string {
  return `mail_${personId}`;
}

/** How the log of deliveries, which all members see, names the address: "mailto:o…@studio.test". */
export function shownAddress({ address }: Pick<MailReader, 'address'>): string {
  const at = address.lastIndexOf('@');
  return `mailto:${address.slice(0, 1)}…${address.slice(at)}`;
}
