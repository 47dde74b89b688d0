/** Calls of SNS in the signed query protocol. The bundles have no room for a client of the SDK. */
import type { Clock } from '../values/runtime.ts';
import { type AwsPlace, serviceUrl } from './aws-place.ts';
import { createSignedFetch, type SigningKeys } from './signed-fetch.ts';

const callMillis = 10_000;

export interface TopicAccess extends AwsPlace, SigningKeys {
  /** The beginning of the ARN of every topic. */
  readonly prefix: string;
  readonly clock: Pick<Clock, 'now' | 'sleep' | 'timeout'>;
}

/** SNS refused the call. */
export class TopicRefused extends Error {}

export function createTopicCalls({ prefix, clock, ...access }: TopicAccess) {
  const url = `${serviceUrl('sns', access)}/`;
  const ask = async (
    operation: string,
    members: Readonly<Record<string, string>>,
    retries: number,
  ): Promise<{ readonly status: number; readonly text: string }> => {
    const send = createSignedFetch({ ...access, service: 'sns', retries, clock });
    const limit = clock.timeout(callMillis);
    try {
      const response = await send(url, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
        body: new URLSearchParams({ Action: operation, Version: '2010-03-31', ...members }).toString(),
        signal: limit.signal,
      });
      return { status: response.status, text: await response.text() };
    } finally {
      limit.release();
    }
  };
  const call = async (operation: string, members: Readonly<Record<string, string>>): Promise<void> => {
    const { status } = await ask(operation, members, 2);
    if (status !== 200) throw new TopicRefused(`${operation}: ${status}`);
  };
  return {
    ask,
    call,
    /** Ends all subscriptions of the topic, also one that waits. No topic is no error. */
    remove: (topic: string): Promise<void> => call('DeleteTopic', { TopicArn: prefix + topic }),
  };
}
