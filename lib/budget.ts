import { Aws, Stack } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { serviceName } from './service-scope.ts';
import type { Settings } from './settings.ts';

/** In percent of the budget. AWS takes a forecast of the month before the money is spent. */
const notices = [
  { NotificationType: 'FORECASTED', percent: 80 },
  { NotificationType: 'ACTUAL', percent: 100 },
] as const;

/**
 * Adds a budget of the whole AWS account, which notifies the topic of the alarms. A budget of one stack would
 * need a tag that somebody activates by hand.
 */
export function addBudget(
  scope: Construct,
  topic: Topic,
  { monthlyUsd }: NonNullable<Settings['budget']>,
): void {
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('budgets.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  const budget = new CfnBudget(scope, 'Budget', {
    budget: {
      // An account has the names of its budgets once for all regions.
      budgetName: `${serviceName(scope)}-${Aws.REGION}`,
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: monthlyUsd, unit: 'USD' },
    },
    notificationsWithSubscribers: notices.map(({ NotificationType: notificationType, percent }) => ({
      notification: {
        notificationType,
        comparisonOperator: 'GREATER_THAN',
        threshold: percent,
        thresholdType: 'PERCENTAGE',
      },
      subscribers: [{ subscriptionType: 'SNS', address: topic.topicArn }],
    })),
  });
  // AWS Budgets publishes to the topic when the budget is made.
  budget.node.addDependency(topic);
}
