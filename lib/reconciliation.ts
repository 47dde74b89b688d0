import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';

export interface ReconciliationProps {
  readonly reconcile: LambdaFunction;
  readonly stateMachines: readonly StateMachine[];
}

/** Starts the reconciler every minute, and at once when an execution ended without success. */
export class Reconciliation extends Construct {
  constructor(scope: Construct, id: string, { reconcile, stateMachines }: ReconciliationProps) {
    super(scope, id);
    new Rule(this, 'EveryMinute', {
      description: 'Darkroom: looks after creations that are due',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaTarget(reconcile)],
    });
    new Rule(this, 'ExecutionDied', {
      description: 'Darkroom: an execution ended without success',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: {
          status: ['FAILED', 'TIMED_OUT', 'ABORTED'],
          stateMachineArn: stateMachines.map(({ stateMachineArn }) => stateMachineArn),
        },
      },
      targets: [new LambdaTarget(reconcile)],
    });
  }
}
