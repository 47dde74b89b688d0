/**
 * The topics of SNS with subscriptions by e-mail. The e-mails are kept, also those with which SNS asks for a
 * confirmation, and the page of e-mails shows them. Nothing is sent.
 */
import { randomUUID } from 'node:crypto';
import type { OnWriteFailed } from '../disk.ts';
import { openJournal } from '../journal.ts';
import { isObject } from '../json.ts';
import { type AwsCall, type AwsService, localAccount, localRegion, serviceOf } from './aws-call.ts';
import { AwsError } from './aws-error.ts';

export interface SentMail {
  /** RFC 3339, of the virtual clock. */
  readonly at: string;
  readonly to: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly topic: string;
  /** Of the e-mail that asks for a confirmation. */
  readonly token?: string;
  /** Of every other e-mail. */
  readonly subscription?: string;
}

interface Subscription {
  readonly topic: string;
  readonly address: string;
  readonly token: string;
  readonly arn: string;
  isConfirmed: boolean;
}

/** A line of the file: what happened, in its order. */
type Entry =
  | { readonly kind: 'topic'; readonly arn: string; readonly attributes: Readonly<Record<string, string>> }
  | { readonly kind: 'deleted'; readonly arn: string }
  | { readonly kind: 'asked'; readonly subscription: Subscription }
  | { readonly kind: 'confirmed' | 'ended'; readonly arn: string }
  | { readonly kind: 'mail'; readonly mail: SentMail };

export interface Topics {
  readonly service: AwsService;
  readonly mails: () => readonly SentMail[];
  /** What the links of the e-mails do. False when there is no such subscription. */
  readonly confirm: (token: string) => boolean;
  readonly unsubscribe: (arn: string) => boolean;
  readonly close: () => void;
}

export interface TopicsOptions {
  /** The file of JSON lines. It is made when it is missing. */
  readonly file: string;
  readonly now: () => number;
  readonly onWriteFailed?: OnWriteFailed;
}

const longestSubject = 100;
const longestMessage = 262_144;

export function openTopics({ file, now, onWriteFailed }: TopicsOptions): Topics {
  const topics = new Map<string, Readonly<Record<string, string>>>();
  const subscriptions = new Map<string, Subscription>();
  const mails: SentMail[] = [];
  const { entries, journal } = openJournal<Entry>(file, undefined, onWriteFailed);

  const effects: { readonly [Kind in Entry['kind']]: (entry: Extract<Entry, { kind: Kind }>) => void } = {
    topic: ({ arn, attributes }) => topics.set(arn, attributes),
    deleted: ({ arn }) => {
      topics.delete(arn);
      for (const { topic, arn: own } of subscriptions.values()) if (topic === arn) subscriptions.delete(own);
    },
    asked: ({ subscription }) => subscriptions.set(subscription.arn, { ...subscription }),
    confirmed: ({ arn }) => {
      const found = subscriptions.get(arn);
      if (found) found.isConfirmed = true;
    },
    ended: ({ arn }) => subscriptions.delete(arn),
    mail: ({ mail }) => mails.push(mail),
  };
  const apply = (entry: Entry): void => (effects[entry.kind] as (one: Entry) => void)(entry);
  for (const entry of entries) apply(entry);
  const happen = (entry: Entry): void => {
    journal.append(entry);
    apply(entry);
  };

  const send = (mail: Omit<SentMail, 'at' | 'from'>): void => {
    const from = topics.get(mail.topic)?.['DisplayName'] ?? 'AWS Notifications';
    happen({ kind: 'mail', mail: { at: new Date(now()).toISOString(), from, ...mail } });
  };
  const existing = (call: AwsCall): string => {
    const arn = textIn(call, 'TopicArn');
    if (!arn.startsWith(topicArn(''))) throw invalid('TopicArn');
    if (!topics.has(arn)) throw new AwsError('NotFound', 'Topic does not exist', { status: 404 });
    return arn;
  };
  const ofTopic = (arn: string): Subscription[] =>
    [...subscriptions.values()].filter(({ topic }) => topic === arn);

  const service = serviceOf({
    CreateTopic: (call) => {
      const name = textIn(call, 'Name');
      if (!/^[\w-]{1,256}$/.test(name)) throw invalid('Topic Name');
      const given = isObject(call.input['Attributes']) ? call.input['Attributes'] : {};
      const attributes = Object.fromEntries(
        Object.entries(given).map(([key, value]) => [key, String(value)]),
      );
      const arn = topicArn(name);
      const known = topics.get(arn);
      if (known && Object.entries(attributes).some(([key, value]) => known[key] !== value))
        throw new AwsError(
          'InvalidParameter',
          'Invalid parameter: Attributes Reason: Topic already exists with different attributes',
        );
      if (!known) happen({ kind: 'topic', arn, attributes });
      return { TopicArn: arn };
    },
    DeleteTopic: (call) => {
      const arn = textIn(call, 'TopicArn');
      // Deleting a topic that does not exist is no error.
      if (topics.has(arn)) happen({ kind: 'deleted', arn });
      return {};
    },
    Subscribe: (call) => {
      const topic = existing(call);
      const address = textIn(call, 'Endpoint');
      if (textIn(call, 'Protocol') !== 'email') throw invalid('Protocol');
      if (!/^[^\s@]+@[^\s@]+$/.test(address)) throw invalid('Email address');
      const known = ofTopic(topic).find((one) => one.address === address);
      if (known?.isConfirmed === true) return { SubscriptionArn: known.arn };
      const token = randomUUID();
      const subscription = { topic, address, token, arn: `${topic}:${randomUUID()}`, isConfirmed: false };
      if (known) happen({ kind: 'ended', arn: known.arn });
      happen({ kind: 'asked', subscription });
      send({
        to: address,
        topic,
        token,
        subject: 'AWS Notification - Subscription Confirmation',
        text: `You have chosen to subscribe to the topic:\n${topic}\n\nTo confirm this subscription, click or visit the link below.`,
      });
      return { SubscriptionArn: 'pending confirmation' };
    },
    ListSubscriptionsByTopic: (call) => ({
      Subscriptions: ofTopic(existing(call)).map(({ topic, address, arn, isConfirmed }) => ({
        SubscriptionArn: isConfirmed ? arn : 'PendingConfirmation',
        Owner: localAccount,
        Protocol: 'email',
        Endpoint: address,
        TopicArn: topic,
      })),
    }),
    Publish: (call) => {
      const topic = existing(call);
      const [subject, text] = [textIn(call, 'Subject'), textIn(call, 'Message')];
      if (subject.length > longestSubject || !/^[\x21-\x7e][\x20-\x7e]*$/.test(subject))
        throw invalid('Subject');
      if (text === '') throw invalid('Empty message');
      if (Buffer.byteLength(text) > longestMessage) throw invalid('Message too long');
      for (const { address, arn, isConfirmed } of ofTopic(topic))
        if (isConfirmed) send({ to: address, topic, subscription: arn, subject, text });
      return { MessageId: randomUUID() };
    },
  });
  return {
    service,
    mails: () => mails,
    confirm: (token) => {
      const found = [...subscriptions.values()].find((one) => one.token === token);
      if (found) happen({ kind: 'confirmed', arn: found.arn });
      return found !== undefined;
    },
    unsubscribe: (arn) => {
      const isKnown = subscriptions.has(arn);
      if (isKnown) happen({ kind: 'ended', arn });
      return isKnown;
    },
    close: () => journal.close(),
  };
}

export function topicArn(name: string): string {
  return `arn:aws:sns:${localRegion}:${localAccount}:${name}`;
}

function invalid(what: string): AwsError {
  return new AwsError('InvalidParameter', `Invalid parameter: ${what}`);
}

function textIn({ input }: AwsCall, member: string): string {
  const value = input[member];
  return typeof value === 'string' ? value : '';
}
