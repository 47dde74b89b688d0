import { Stack } from 'aws-cdk-lib';
import {
  Alarm,
  AnomalyDetectionAlarm,
  ComparisonOperator,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { AlarmDefinition, AlarmInputs } from './alarm-definition.ts';
import { alarmTable } from './alarm-table.ts';
import { addOutput, serviceName } from './service-scope.ts';

/** Adds the alarm of a definition. The description of the alarm leads an operator to the runbook. */
export function makeAlarm(
  scope: Construct,
  name: string,
  { metric, threshold, comparison, periods = 1, missing, deviationsBelow, meaning, fix }: AlarmDefinition,
): Alarm {
  const common = {
    alarmName: `${serviceName(scope)}-${name}`,
    alarmDescription: `${meaning} What to do: ${fix} See docs/alarms.md#${name.toLowerCase()}`,
    metric,
    evaluationPeriods: periods,
    treatMissingData: missing ?? TreatMissingData.NOT_BREACHING,
  };
  if (deviationsBelow !== undefined)
    return new AnomalyDetectionAlarm(scope, name, {
      ...common,
      stdDevs: deviationsBelow,
      comparisonOperator: ComparisonOperator.LESS_THAN_LOWER_THRESHOLD,
    });
  return new Alarm(scope, name, {
    ...common,
    threshold,
    comparisonOperator: comparison ?? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  });
}

export interface AlarmsProps extends AlarmInputs {
  /** The e-mail address that subscribes to the topic. Absent: the topic has no subscriber at first. */
  readonly email?: string | undefined;
}

/** The alarms of alarm-table.ts, and the topic to which they send their messages. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];
  readonly topic: Topic;

  constructor(scope: Construct, id: string, { email, ...inputs }: AlarmsProps) {
    super(scope, id);
    this.topic = this.addTopic();
    if (email !== undefined) this.topic.addSubscription(new EmailSubscription(email));
    this.all = Object.entries(alarmTable(inputs)).map(([name, definition]) =>
      this.addAlarm(name, definition),
    );
    addOutput(this, 'AlarmTopicArn', { value: this.topic.topicArn });
  }

  /** The alarm with this name of alarm-table.ts. */
  named(name: string): Alarm {
    const alarm = this.all.find(({ node }) => node.id === name);
    if (!alarm) throw new Error(`there is no alarm ${name}`);
    return alarm;
  }

  private addTopic(): Topic {
    const topic = new Topic(this, 'Topic', { displayName: 'Darkroom alarms', enforceSSL: true });
    const { account } = Stack.of(this);
    // This policy replaces the default policy, by which everything in the account may publish.
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': account } },
      }),
    );
    return topic;
  }

  private addAlarm(name: string, definition: AlarmDefinition): Alarm {
    const alarm = makeAlarm(this, name, definition);
    alarm.addAlarmAction(new SnsAction(this.topic));
    alarm.addOkAction(new SnsAction(this.topic));
    return alarm;
  }
}
