import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { acknowledge, allow } from './acknowledge.ts';
import { addMachine, type ExecutionProps } from './creation-execution.ts';
import { creationDefinition, noticeDefinition } from './machine-definitions.ts';
import { addOutput, serviceName } from './service-scope.ts';

/**
 * The state machine that sends notices, one execution each. It has a name, unlike all other resources: DeliverWebhook
 * starts the machine that invokes DeliverWebhook, and CloudFormation refuses two resources that refer to each other.
 */
export class NoticeExecution extends Construct {
  readonly stateMachine: StateMachine;
  private readonly stateMachineArn: string;
  /** How the names and the ARNs of the topics of people begin. */
  private readonly topics: { readonly resource: string; readonly arn: string };

  constructor(scope: Construct, id: string, props: ExecutionProps) {
    super(scope, id);
    const stack = Stack.of(this);
    const stateMachineName = `${serviceName(this)}-notices`;
    this.stateMachine = addMachine(this, 'StateMachine', props, {
      stateMachineName,
      text: noticeDefinition(creationDefinition()),
      log: { id: 'Log', name: 'notices' },
      comment: 'Darkroom: one execution a notice',
    });
    const resource = `${serviceName(this)}-mail-`;
    this.topics = { resource, arn: stack.formatArn({ service: 'sns', resource }) };
    addOutput(this, 'MailTopics', { value: this.topics.arn });
    this.stateMachineArn = stack.formatArn({
      service: 'states',
      resource: 'stateMachine',
      resourceName: stateMachineName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
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
