import { ArnFormat, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { acknowledge, logicalIdOf, allow } from './acknowledge.ts';
import { executionLog } from './creation-execution.ts';
import { creationDefinition, noticeDefinition } from './machine-definitions.ts';
import { addOutput, serviceName } from './service-scope.ts';

export interface NoticeExecutionProps {
  readonly deliverWebhook: LambdaFunction;
  readonly logRetention: RetentionDays;
  /** Whether Step Functions sends a trace of each sampled execution to X-Ray. */
  readonly tracing: boolean;
}

/**
 * The state machine that sends notices, one execution each. It has a name, unlike all other resources: DeliverWebhook
 * starts the machine that invokes DeliverWebhook, and CloudFormation refuses two resources that refer to each other.
 */
export class NoticeExecution extends Construct {
  readonly stateMachine: StateMachine;
  private readonly stateMachineArn: string;
  /** How the names and the ARNs of the topics of people begin. */
  private readonly topics: { readonly resource: string; readonly arn: string };

  constructor(scope: Construct, id: string, { deliverWebhook, logRetention, tracing }: NoticeExecutionProps) {
    super(scope, id);
    const stack = Stack.of(this);
    const stateMachineName = `${serviceName(this)}-notices`;
    const machine = new StateMachine(this, 'StateMachine', {
      stateMachineName,
      definitionBody: DefinitionBody.fromString(noticeDefinition(creationDefinition())),
      definitionSubstitutions: { DeliverWebhookArn: deliverWebhook.currentVersion.functionArn },
      comment: 'Darkroom: one execution a notice',
      ...(tracing && { tracingEnabled: true }),
      logs: {
        destination: executionLog(this, 'Log', 'notices', logRetention),
        level: LogLevel.ERROR,
        includeExecutionData: false,
      },
    });
    this.stateMachine = machine;
    const resource = `${serviceName(this)}-mail-`;
    this.topics = { resource, arn: stack.formatArn({ service: 'sns', resource }) };
    addOutput(this, 'MailTopics', { value: this.topics.arn });
    this.stateMachineArn = stack.formatArn({
      service: 'states',
      resource: 'stateMachine',
      resourceName: stateMachineName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    machine.addToRolePolicy(
      new PolicyStatement({
        actions: ['lambda:InvokeFunction'],
        // Running executions invoke the version with which they began (lib/creation-execution.ts).
        resources: deliverWebhook.resourceArnsForGrantInvoke,
      }),
    );
    acknowledge(machine, {
      [`AwsSolutions-IAM5[Resource::<${logicalIdOf(deliverWebhook)}.Arn>:*]`]:
        'Running executions invoke the versions of the releases with which they began. A template cannot name these versions (decision 22).',
      'AwsSolutions-IAM5[Resource::*]':
        'The actions that deliver a log to CloudWatch know no resource (Step Functions developer guide, Logging).',
      'AwsSolutions-SF1':
        'Step Functions keeps every history for 90 days by itself; logging each event once more would cost more than the executions.',
      'AwsSolutions-SF2':
        'Every line of the log and every execution carries the id of its notice, which leads from one to the other without traces (decision 23). The setting tracing switches traces on.',
    });
  }

  /** Lets a function call the topics of the people who get e-mails: they are made when a person asks. */
  grantTopics(
    fn: LambdaFunction,
    ...actions: readonly (
      | 'CreateTopic'
      | 'ListSubscriptionsByTopic'
      | 'DeleteTopic'
      | 'Publish'
      | 'Subscribe'
    )[]
  ): void {
    const { arn, resource } = this.topics;
    fn.addEnvironment('MAIL_TOPICS', arn);
    const all = actions.map((action) => `sns:${action}`);
    allow(fn, all, [`${arn}*`]);
    acknowledge(fn, {
      [`AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:sns:<AWS::Region>:<AWS::AccountId>:${resource}*]`]:
        'A topic is made when a person asks for e-mails, so no template can name it. All such topics begin so.',
    });
  }

  /** Lets a function start executions. */
  grantStart(fn: LambdaFunction): void {
    fn.addEnvironment('NOTICE_MACHINE_ARN', this.stateMachineArn);
    allow(fn, ['states:StartExecution'], [this.stateMachineArn]);
  }
}
