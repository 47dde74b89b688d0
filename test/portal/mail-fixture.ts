/** Topics in memory, with the e-mails that were published to those who have confirmed. */
import type { Mail, Topics } from '../../service/aws/topics.ts';

export function fakeTopics() {
  const subscriptions = new Map<string, { readonly address: string; isConfirmed: boolean }>();
  const asked: string[] = [];
  const mails: (Mail & { readonly topic: string; readonly to: string })[] = [];
  const failing: { by?: Error | undefined } = {};
  const orDown = <Result>(work: () => Result): Promise<Result> =>
    failing.by ? Promise.reject(failing.by) : Promise.resolve(work());
  const topics: Topics = {
    subscribe: (topic, address) =>
      orDown(() => {
        asked.push(address);
        subscriptions.set(topic, { address, isConfirmed: false });
      }),
    state: (topic, address) =>
      orDown(() => {
        const found = subscriptions.get(topic);
        if (found?.address !== address) return 'gone';
        return found.isConfirmed ? 'on' : 'waiting';
      }),
    publish: (topic, mail) => {
      if (failing.by) return Promise.resolve({ kind: 'answered', status: 429, excerpt: 'Throttled' });
      const found = subscriptions.get(topic);
      if (found?.isConfirmed === true) mails.push({ ...mail, topic, to: found.address });
      return Promise.resolve({ kind: 'answered', status: 200, excerpt: 'message-1' });
    },
    remove: (topic) => orDown(() => void subscriptions.delete(topic)),
  };
  const confirm = (topic: string): void => {
    const found = subscriptions.get(topic);
    if (found) found.isConfirmed = true;
  };
  return { topics, subscriptions, asked, mails, confirm, failing };
}
