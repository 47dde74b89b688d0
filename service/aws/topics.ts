/**
 * Topics of SNS that send e-mails, one for each person: SNS asks the person to confirm, and says in each e-mail how to
 * end it.
 */
import { createTopicCalls, type TopicAccess, TopicRefused } from './topic-calls.ts';

/** SNS takes at most 100 characters of ASCII in one line. */
const longestSubject = 100;

export interface Mail {
  readonly subject: string;
  readonly text: string;
}

export type SubscriptionState = 'waiting' | 'on' | 'gone';

export type Published =
  | { readonly kind: 'answered'; readonly status: number; readonly excerpt: string }
  | { readonly kind: 'unanswered'; readonly reason: string; readonly failure: 'timeout' | 'unreachable' };

export type Topics = ReturnType<typeof createTopics>;

export function createTopics(access: TopicAccess) {
  const { prefix } = access;
  const name = prefix.slice(prefix.lastIndexOf(':') + 1);
  const { ask, call, remove } = createTopicCalls(access);
  return {
    /** Makes the topic if there is none, and lets SNS ask the address to confirm. */
    subscribe: async (topic: string, address: string): Promise<void> => {
      await call('CreateTopic', {
        Name: name + topic,
        // The sender of the e-mails. Another value would be refused for a topic that exists.
        'Attributes.entry.1.key': 'DisplayName',
        'Attributes.entry.1.value': 'Darkroom',
      });
      await call('Subscribe', { TopicArn: prefix + topic, Protocol: 'email', Endpoint: address });
    },
    /** SNS lets no policy name a subscription, so its state is that in the list of its topic. */
    state: async (topic: string, address: string): Promise<SubscriptionState> => {
      const { status, text } = await ask('ListSubscriptionsByTopic', { TopicArn: prefix + topic }, 2);
      if (status === 404) return 'gone';
      if (status !== 200)
        throw new TopicRefused(`ListSubscriptionsByTopic: ${status} ${memberIn(text, 'Code')}`);
      const own = text.split('<member>').find((one) => textIn(memberIn(one, 'Endpoint')) === address);
      const arn = own === undefined ? '' : memberIn(own, 'SubscriptionArn');
      if (arn === 'PendingConfirmation') return 'waiting';
      return arn.startsWith('arn:') ? 'on' : 'gone';
    },
    /** One try: the record of the notice has the schedule of the others. Throws nothing. */
    publish: async (topic: string, { subject, text: message }: Mail): Promise<Published> => {
      try {
        const members = { TopicArn: prefix + topic, Subject: subjectOf(subject), Message: message };
        const { status, text } = await ask('Publish', members, 0);
        return {
          kind: 'answered',
          status,
          excerpt: status === 200 ? memberIn(text, 'MessageId') : memberIn(text, 'Code'),
        };
      } catch (error) {
        const isLate = error instanceof Error && /Abort|Timeout/.test(error.name);
        return isLate
          ? { kind: 'unanswered', reason: 'timeout', failure: 'timeout' }
          : { kind: 'unanswered', reason: 'no valid http answer', failure: 'unreachable' };
      }
    },
    remove,
  };
}

/** A subject with another character is refused as a whole. */
function subjectOf(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, longestSubject);
}

/** The text of an element as it is written. ARNs, ids and codes have no character that XML writes otherwise. */
function memberIn(xml: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function textIn(xml: string): string {
  return xml.replace(/&(\w+);|&#(\d+);/g, (whole, name: string | undefined, code: string | undefined) =>
    code === undefined ? (entities[name ?? ''] ?? whole) : String.fromCodePoint(Number(code)),
  );
}
