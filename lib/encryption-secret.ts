import { RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';

/**
 * The secret from which the key of stored webhook secrets is made. An operator rotates it by putting a new
 * value;
 * Secrets Manager keeps the previous value. The secret survives its stack.
 */
export class EncryptionSecret extends Secret {
  constructor(scope: Construct, id: string) {
    super(scope, id, {
      description: 'Darkroom: encrypts the webhook secrets of accounts',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    acknowledge(this, {
      'AwsSolutions-SMG4':
        'After each rotation webhook secrets have to be sealed anew (docs/operations.md, Rotating the encryption secret): one that nobody watches could lose them.',
    });
  }

  /** Lets a function open sealed webhook secrets. */
  grantOpen(fn: LambdaFunction): void {
    fn.addEnvironment('ENCRYPTION_SECRET_ARN', this.secretArn);
    fn.addToRolePolicy(
      new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [this.secretArn] }),
    );
  }
}
