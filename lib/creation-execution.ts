import { readFileSync } from 'node:fs';
import { RemovalPolicy } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';

export interface CreationExecutionProps {
  readonly renderImage: LambdaFunction;
  readonly refundCharge: LambdaFunction;
  readonly deliverWebhook: LambdaFunction;
  readonly logRetention: RetentionDays;
}

const definition = new URL('../statemachines/creation.asl.json', import.meta.url);

/** The state machine of which each creation is one execution. */
export class CreationExecution extends Construct {
  readonly stateMachine: StateMachine;

  constructor(scope: Construct, id: string, props: CreationExecutionProps) {
    super(scope, id);
    const tasks = { RenderImage: props.renderImage, RefundCharge: props.refundCharge, DeliverWebhook: props.deliverWebhook };
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      definitionBody: DefinitionBody.fromString(readFileSync(definition, 'utf8')),
      definitionSubstitutions: Object.fromEntries(Object.entries(tasks).map(([name, fn]) => [`${name}Arn`, fn.functionArn])),
      comment: 'Darkroom: one execution a creation',
      logs: {
        destination: new LogGroup(this, 'Log', { retention: props.logRetention, removalPolicy: RemovalPolicy.DESTROY }),
        level: LogLevel.ERROR,
        includeExecutionData: false,
      },
    });
    for (const fn of Object.values(tasks)) fn.grantInvoke(this.stateMachine);
  }

  /** Lets a function start executions. */
  grantStart(fn: LambdaFunction): void {
    fn.addEnvironment('STATE_MACHINE_ARN', this.stateMachine.stateMachineArn);
    this.stateMachine.grantStartExecution(fn);
  }

  /** Lets a function ask whether an execution still runs. */
  grantDescribe(fn: LambdaFunction): void {
    this.stateMachine.grantExecution(fn, 'states:DescribeExecution');
  }
}
