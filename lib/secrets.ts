import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import models from '../service/catalog/models.json' with { type: 'json' };
import { acknowledge, allow } from './acknowledge.ts';

/** Access to the vendors: their keys, and the models of Amazon Bedrock that the catalog names. */
export class ProviderAccess extends Construct {
  /** A JSON object of provider names to keys, which `npm run admin -- providers set` writes. */
  readonly secret: Secret;
  /** The region in which models of Amazon Bedrock are invoked. */
  private readonly bedrockRegion: string;

  constructor(scope: Construct, id: string, { bedrockRegion }: { readonly bedrockRegion: string }) {
    super(scope, id);
    this.bedrockRegion = bedrockRegion;
    this.secret = new Secret(this, 'Credentials', {
      description: 'Darkroom: the keys of image providers, by their names',
      // Secrets Manager generates a JSON object with one member. No provider is called "unused".
      generateSecretString: { secretStringTemplate: '{}', generateStringKey: 'unused' },
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    acknowledge(this.secret, {
      'AwsSolutions-SMG4': 'Vendors issue their keys by themselves: nothing here could draw a new one.',
    });
  }

  /** Lets a function call every vendor. */
  grantUse(fn: LambdaFunction): void {
    this.grantKeys(fn);
    fn.addEnvironment('BEDROCK_REGION', this.bedrockRegion);
    const invoked = this.bedrockModels();
    if (invoked.length > 0) allow(fn, ['bedrock:InvokeModel'], invoked);
  }

  /** Lets a function call the vendors that issue keys. */
  grantKeys(fn: LambdaFunction): void {
    fn.addEnvironment('PROVIDER_SECRET_ARN', this.secret.secretArn);
    // A JSON object of provider names to other addresses than the vendors' own, such as a proxy.
    fn.addEnvironment('PROVIDER_BASE_URLS', '{}');
    allow(fn, ['secretsmanager:GetSecretValue'], [this.secret.secretArn]);
  }

  /** The ARNs of the models. ARNs of foundation models name no account. */
  private bedrockModels(): string[] {
    const { partition } = Stack.of(this);
    const ids = models.models.flatMap(({ routes }) =>
      routes.filter(({ provider }) => provider === 'bedrock').map((route) => route.provider_model),
    );
    return [...new Set(ids)]
      .sort()
      .map((model) => `arn:${partition}:bedrock:${this.bedrockRegion}::foundation-model/${model}`);
  }
}

/**
 * The secret from which the key of stored webhook secrets is made. An operator rotates it by putting a new value;
 * Secrets Manager keeps the previous value. The secret survives its stack.
 */
export class EncryptionSecret extends Secret {
  /** @param copyToRegion where a second service could open what this secret sealed */
  constructor(scope: Construct, id: string, copyToRegion: string | undefined) {
    super(scope, id, {
      ...(copyToRegion !== undefined && { replicaRegions: [{ region: copyToRegion }] }),
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
    allow(fn, ['secretsmanager:GetSecretValue'], [this.secretArn]);
  }
}
