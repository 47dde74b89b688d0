import { readFileSync } from 'node:fs';
import { RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { acknowledge, logicalIdOf } from './acknowledge.ts';

export interface CreationExecutionProps {
  /** Renders every picture, those with source images included. */
  readonly renderImage: LambdaFunction;
  /** Renders a 1K picture without source images. */
  readonly renderImageSmall: LambdaFunction;
  /** Renders a larger picture without source images. */
  readonly renderImageLarge: LambdaFunction;
  readonly refundCharge: LambdaFunction;
  readonly deliverWebhook: LambdaFunction;
  readonly logRetention: RetentionDays;
}

const definition = new URL('../statemachines/creation.asl.json', import.meta.url);

/** The state machine. Each creation is one execution of it. */
export class CreationExecution extends Construct {
  readonly stateMachine: StateMachine;

  constructor(scope: Construct, id: string, props: CreationExecutionProps) {
    super(scope, id);
    const tasks = {
      RenderImage: props.renderImage,
      RenderImageSmall: props.renderImageSmall,
      RenderImageLarge: props.renderImageLarge,
      RefundCharge: props.refundCharge,
      DeliverWebhook: props.deliverWebhook,
    };
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      definitionBody: DefinitionBody.fromString(readFileSync(definition, 'utf8')),
      definitionSubstitutions: Object.fromEntries(
        Object.entries(tasks).map(([name, fn]) => [`${name}Arn`, fn.currentVersion.functionArn]),
      ),
      comment: 'Darkroom: one execution a creation',
      logs: {
        destination: new LogGroup(this, 'Log', {
          retention: props.logRetention,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
        level: LogLevel.ERROR,
        includeExecutionData: false,
      },
    });
    // A running execution keeps the definition with which it began, and the role of the state machine is the
    // role of today. So the role may invoke every version that an older definition names. A release before the
    // versions named the functions themselves.
    const resources = Object.values(tasks).flatMap((fn) => fn.resourceArnsForGrantInvoke);
    this.stateMachine.addToRolePolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources }));
    for (const fn of Object.values(tasks))
      acknowledge(this.stateMachine, {
        [`AwsSolutions-IAM5[Resource::<${logicalIdOf(fn)}.Arn>:*]`]:
          'Running executions invoke the versions of the releases with which they began. A template cannot name these versions (decision 33).',
      });
    acknowledge(this.stateMachine, {
      'AwsSolutions-IAM5[Resource::*]':
        'The actions that deliver a log to CloudWatch know no resource (Step Functions developer guide, Logging).',
      'AwsSolutions-SF1':
        'Step Functions keeps every history for 90 days by itself; logging each event once more would cost more than the executions.',
      'AwsSolutions-SF2':
        'Every line of the log and every execution carries the id of its creation, which leads from one to the other without traces (decision 16).',
    });
  }

  /** Lets a function start executions. */
  grantStart(fn: LambdaFunction): void {
    fn.addEnvironment('STATE_MACHINE_ARN', this.stateMachine.stateMachineArn);
    this.stateMachine.grantStartExecution(fn);
  }

  /** Lets a function ask for the state of an execution. */
  grantDescribe(fn: LambdaFunction): void {
    this.stateMachine.grantExecution(fn, 'states:DescribeExecution');
    const executions = `arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:{"Fn::Select":[6,{"Fn::Split":[":",{"Ref":"${logicalIdOf(this.stateMachine)}"}]}]}:*`;
    acknowledge(fn, {
      [`AwsSolutions-IAM5[Resource::${executions}]`]:
        'Executions are named after their creations, which are not known before.',
    });
  }
}
