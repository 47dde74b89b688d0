import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { AddFunction } from './service-function.ts';

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
    fn.addToRolePolicy(
      new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secret.secretArn] }),
    );
    // A second try would run beside the next run.
    fn.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    new Rule(this, 'Rule', {
      description: 'Darkroom: orders a picture of the sandbox',
      schedule: Schedule.rate(Duration.minutes(everyMinutes)),
      targets: [new LambdaTarget(fn)],
    });
    new CfnOutput(Stack.of(this), 'CanarySecretArn', { value: secret.secretArn });
  }
}
