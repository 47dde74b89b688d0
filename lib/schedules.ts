import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { acknowledge, allow } from './acknowledge.ts';
import type { AddFunction } from './service-function.ts';
import { addOutput } from './service-scope.ts';

export interface CanaryProps {
  readonly add: AddFunction;
  /** The address of the API's root for clients. */
  readonly apiUrl: string;
  readonly everyMinutes: number;
}

/**
 * Orders a picture of the sandbox every few minutes, as a client does. It may only read its own secret: all
 * its requests to the service use the key of an account.
 */
export class Canary extends Construct {
  constructor(scope: Construct, id: string, { add, apiUrl, everyMinutes }: CanaryProps) {
    super(scope, id);
    const secret = new Secret(this, 'Key', {
      description: 'Darkroom: the account and the key of the canary, which `canary setup` writes',
      generateSecretString: { secretStringTemplate: '{}', generateStringKey: 'unused' },
      // `canary setup` makes another key at any time.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    acknowledge(secret, {
      'AwsSolutions-SMG4':
        'The key is an API key of the service. `canary setup` replaces it, and it can buy nothing but pictures of the sandbox.',
    });
    const fn = add('Canary', 'canary', {
      description: 'Orders a picture of the sandbox as a client does, and checks it',
      // A run ends before the next one begins, so that two runs never share the balance.
      timeout: Duration.seconds(58),
      memoryMegabytes: 256,
    });
    fn.addEnvironment('API_URL', apiUrl);
    fn.addEnvironment('CANARY_SECRET_ARN', secret.secretArn);
    allow(fn, ['secretsmanager:GetSecretValue'], [secret.secretArn]);
    // A second try would run beside the next run.
    fn.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    new Rule(this, 'Rule', {
      description: 'Darkroom: orders a picture of the sandbox',
      schedule: Schedule.rate(Duration.minutes(everyMinutes)),
      targets: [new LambdaTarget(fn)],
    });
    addOutput(this, 'CanarySecretArn', { value: secret.secretArn });
  }
}

/**
 * Starts the audit of the books. The function begins one run a day, and each further start continues with a
 * run that is not finished.
 */
export class BooksAudit extends Construct {
  constructor(scope: Construct, id: string, { auditBooks }: { readonly auditBooks: LambdaFunction }) {
    super(scope, id);
    new Rule(this, 'EveryQuarter', {
      description: 'Darkroom: holds every balance against the ledger, in one run a day',
      schedule: Schedule.rate(Duration.minutes(15)),
      targets: [new LambdaTarget(auditBooks)],
    });
  }
}

/** Starts the second pass of erasures, every quarter of an hour. */
export class Erasures extends Construct {
  constructor(scope: Construct, id: string, { eraseContent }: { readonly eraseContent: LambdaFunction }) {
    super(scope, id);
    new Rule(this, 'EveryQuarter', {
      description: 'Darkroom: ends the erasures that are due',
      schedule: Schedule.rate(Duration.minutes(15)),
      targets: [new LambdaTarget(eraseContent)],
    });
  }
}

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
