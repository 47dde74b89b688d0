/**
 * SNS in a world: a topic for each person, whose e-mail address is subscribed once the person has confirmed it. This
 * file is the far end of the calls. service/aws/topics.ts shows what the service makes of the answers.
 */
import { AwsError } from '../../../local/aws/aws-error.ts';
import { TopicRefused } from '../../../service/aws/topic-calls.ts';
import type { Mail, Topics } from '../../../service/aws/topics.ts';
import type { Clock } from '../../../service/values/runtime.ts';
import type { Invocation, World } from '../world/simulated-world.ts';

/** How SNS behaves in a scenario whose people get e-mails. */
export interface MailHabits {
  /** The probability that SNS throttles a Publish. */
  readonly refusal: number;
}

/** A Publish that SNS has taken. */
export interface Published {
  readonly topic: string;
  readonly mail: Mail;
  /** The confirmed addresses. */
  readonly to: readonly string[];
  readonly at: number;
  readonly sender: Invocation | undefined;
  /** Set once the service knows that SNS has taken it. */
  isKnown: boolean;
}

export interface MailObserver {
  /** A Publish has arrived, whatever becomes of it. */
  readonly onPublish: (topic: string, sender: Invocation | undefined) => void;
  readonly onPublished: (published: Published) => void;
}

interface Subscription {
  readonly address: string;
  /** When the person confirmed. */
  onSince?: number;
}

/** The limit and the repetitions of service/aws/topic-calls.ts. */
const callMillis = 10_000;
const retries = 2;
const passing: Readonly<Record<string, number>> = {
  InternalServerError: 500,
  ThrottlingException: 429,
  Throttled: 429,
};

export function createMails(
  world: World,
  clock: Clock,
  { refusal }: MailHabits,
  observer: Partial<MailObserver>,
) {
  const topics = new Map<string, Subscription[]>();
  let publishes = 0;

  async function ask<Answer>(operation: string, tries: number, effect: () => Answer): Promise<Answer> {
    const limit = clock.timeout(callMillis);
    try {
      for (let left = tries; ; left -= 1) {
        try {
          const request = { service: 'sns', operation, target: '', signal: limit.signal };
          return await world.call(request, effect);
        } catch (error) {
          if (left === 0 || !(error instanceof AwsError) || !(error.code in passing)) throw error;
          await clock.sleep(30, limit.signal);
        }
      }
    } finally {
      limit.release();
    }
  }

  async function call(operation: string, effect: () => void): Promise<void> {
    try {
      await ask(operation, retries, effect);
    } catch (error) {
      if (error instanceof AwsError) throw new TopicRefused(`${operation}: ${error.code}`);
      throw error;
    }
  }

  function subscribed(topic: string): Subscription[] {
    const found = topics.get(topic);
    if (!found) throw new AwsError('NotFound', 'Topic does not exist', { status: 404 });
    return found;
  }

  function publish(topic: string, mail: Mail, sender: Invocation | undefined): Published {
    publishes += 1;
    observer.onPublish?.(topic, sender);
    if (world.dice.chance(`publish ${publishes} refused`, refusal))
      throw new AwsError('Throttled', 'Rate exceeded', { status: 429 });
    const to = subscribed(topic).flatMap(({ address, onSince }) => (onSince === undefined ? [] : [address]));
    const published = { topic, mail, to, at: world.time.now(), sender, isKnown: false };
    observer.onPublished?.(published);
    return published;
  }

  const asService: Topics = {
    subscribe: async (topic, address) => {
      await call('CreateTopic', () => void topics.set(topic, topics.get(topic) ?? []));
      await call('Subscribe', () => {
        const all = subscribed(topic);
        if (!all.some((one) => one.address === address)) all.push({ address });
      });
    },
    state: async (topic, address) => {
      try {
        return await ask('ListSubscriptionsByTopic', retries, () => {
          const found = subscribed(topic).find((one) => one.address === address);
          return !found ? 'gone' : found.onSince === undefined ? 'waiting' : 'on';
        });
      } catch (error) {
        if (!(error instanceof AwsError)) throw error;
        if (error.code === 'NotFound') return 'gone';
        throw new TopicRefused(`ListSubscriptionsByTopic: ${error.code}`);
      }
    },
    publish: async (topic, mail) => {
      const sender = world.current();
      try {
        const published = await ask('Publish', 0, () => publish(topic, mail, sender));
        published.isKnown = true;
        return { kind: 'answered', status: 200, excerpt: 'taken' };
      } catch (error) {
        if (error instanceof AwsError)
          return { kind: 'answered', status: passing[error.code] ?? error.status, excerpt: error.code };
        return { kind: 'unanswered', reason: 'timeout', failure: 'timeout' };
      }
    },
    remove: (topic) => call('DeleteTopic', () => void topics.delete(topic)),
  };

  return {
    topics: asService,
    /** The person opens the link of the e-mail with which SNS asks. */
    confirm: (topic: string): void => {
      for (const one of topics.get(topic) ?? []) one.onSince ??= world.time.now();
    },
    /** The person opens the link that each e-mail has. */
    unsubscribe: (topic: string): void => {
      if (topics.has(topic)) topics.set(topic, []);
    },
    /** Somebody deletes the topic in the console of AWS. */
    lose: (topic: string): void => void topics.delete(topic),
    names: (): readonly string[] => [...topics.keys()],
    /** Since when e-mails reach the address. Undefined: they do not. */
    reachesSince: (topic: string, address: string): number | undefined =>
      topics.get(topic)?.find((one) => one.address === address)?.onSince,
  };
}
