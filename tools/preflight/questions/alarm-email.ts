import { paginateListSubscriptionsByTopic, type SNSClient, type Subscription } from '@aws-sdk/client-sns';
import { askAws } from '../ask-aws.ts';
import type { Finding, Question } from '../finding.ts';

/** Whether the alarms reach an address. An operator who wants none says so by an option. */
export const alarmEmail: Question = {
  title: 'E-mail of alarms',
  async ask({ settings, stack, withoutAlarms, clients: { sns } }) {
    const email = settings.alarmEmail;
    const base = { question: this.title, wanted: 'a confirmed address' };
    const nobody = (found: string, fix: string): Finding[] => [
      {
        ...base,
        level: withoutAlarms ? 'limits' : 'stops',
        found: `${found}: nobody gets the alarms`,
        fix: withoutAlarms ? fix : `${fix}; or go on with --without-alarms`,
      },
    ];
    const TopicArn = (await stack()).outputs.get('AlarmTopicArn');
    const subscriptions = TopicArn === undefined ? [] : await subscriptionsOf(TopicArn, sns);
    const confirmed = subscriptions.filter(isConfirmed);
    const own = subscriptions.find(({ Endpoint }) => Endpoint === email);
    if (email === undefined)
      return confirmed.length === 0
        ? nobody('no address', "alarmEmail: 'you@example.com' in the settings")
        : [{ ...base, level: 'ok', found: `${confirmed.length} confirmed, beside the settings` }];
    if (TopicArn === undefined)
      return [
        {
          ...base,
          level: 'note',
          found: `${email}, not subscribed before the first deployment`,
          fix: 'confirm by the link of the e-mail that AWS sends during the deployment, and run this again',
        },
      ];
    if (own && isConfirmed(own)) return [{ ...base, level: 'ok', found: `${email} is confirmed` }];
    // The deployment subscribes the address, so this finding does not stop it.
    if (!own) return [{ ...base, level: 'limits', found: `${email} is not subscribed`, fix: 'deploy again' }];
    const fix = 'use the link in the e-mail of AWS; deploy again after three days';
    return confirmed.length === 0
      ? nobody(`${email} is not confirmed`, fix)
      : [{ ...base, level: 'limits', found: `${email} is not confirmed`, fix }];
  },
};

async function subscriptionsOf(TopicArn: string, client: SNSClient): Promise<readonly Subscription[]> {
  return askAws('sns:ListSubscriptionsByTopic', async () => {
    const all: Subscription[] = [];
    for await (const page of paginateListSubscriptionsByTopic({ client }, { TopicArn }))
      all.push(...(page.Subscriptions ?? []));
    return all;
  });
}

/** SNS writes a word instead of the ARN of an unconfirmed subscription. */
function isConfirmed({ SubscriptionArn = '' }: Subscription): boolean {
  return SubscriptionArn.startsWith('arn:');
}
