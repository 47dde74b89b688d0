import { paginateListSubscriptionsByTopic, type Subscription } from '@aws-sdk/client-sns';
import { askAws } from '../ask-aws.ts';
import type { Finding, Question } from '../finding.ts';

/** Whether somebody gets the alarms. */
export const alarmEmail: Question = {
  title: 'E-mail of alarms',
  async ask({ settings, stack, clients: { sns } }) {
    const email = settings.alarmEmail;
    const base = { question: this.title, wanted: 'a confirmed address' };
    const limits = (found: string, fix: string): Finding => ({ ...base, level: 'limits', found, fix });
    if (email === undefined)
      return [limits('no address: nobody gets the alarms', "alarmEmail: 'you@example.com' in the settings")];
    const TopicArn = (await stack()).outputs.get('AlarmTopicArn');
    if (TopicArn === undefined)
      return [
        {
          ...base,
          level: 'note',
          found: `${email}, not subscribed before the first deployment`,
          fix: 'confirm by the link of the e-mail that AWS sends during the deployment, and run this again',
        },
      ];
    const subscriptions = await askAws('sns:ListSubscriptionsByTopic', async () => {
      const all: Subscription[] = [];
      for await (const page of paginateListSubscriptionsByTopic({ client: sns }, { TopicArn }))
        all.push(...(page.Subscriptions ?? []));
      return all;
    });
    const own = subscriptions.find(({ Endpoint }) => Endpoint === email);
    if (!own) return [limits(`${email} is not subscribed`, 'deploy again')];
    // SNS writes this word in the place of the ARN.
    if (own.SubscriptionArn === 'PendingConfirmation')
      return [
        limits(
          `${email} is not confirmed`,
          'use the link in the e-mail of AWS; deploy again after three days',
        ),
      ];
    return [{ ...base, level: 'ok', found: `${email} is confirmed` }];
  },
};
