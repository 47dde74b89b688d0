/**
 * The whole of each resource that has few properties: an added, a missing or a changed property shows here.
 */
import { describe, expect, it } from 'vitest';
import { nameOf, resourcesOf, wordOf, template } from './template.ts';

/** The properties of the only resource of a type, beside those of the portal (portal.test.ts). */
function only(type: string): Readonly<Record<string, unknown>> {
  const [first, ...others] = resourcesOf(type).filter(([id]) => !id.startsWith('Portal'));
  if (!first || others.length > 0) throw new Error(`the stack has not one ${type}`);
  return first[1].Properties;
}

describe('the log groups beside those of the functions', () => {
  it.each([
    ['CreationLog', { RetentionInDays: 30, LogGroupName: '/aws/vendedlogs/states/Darkroom-creations' }],
    [
      'CreationCallbackLog',
      { RetentionInDays: 30, LogGroupName: '/aws/vendedlogs/states/Darkroom-callbacks' },
    ],
    ['NoticesLog', { RetentionInDays: 30, LogGroupName: '/aws/vendedlogs/states/Darkroom-notices' }],
    ['ApiAccessLog', { RetentionInDays: 30, LogGroupName: '/aws/vendedlogs/Darkroom/api' }],
  ])('The log group %s goes with the stack and keeps its lines for 30 days', (name, properties) => {
    const group = resourcesOf('AWS::Logs::LogGroup').find(([id]) => nameOf(id) === name)?.[1];
    expect(group).toMatchObject({ DeletionPolicy: 'Delete', UpdateReplacePolicy: 'Delete' });
    expect(group?.Properties).toEqual(properties);
  });
});

describe('the API', () => {
  it('The API writes these fields of a request to its access log', () => {
    const { AccessLogSettings: log } = only('AWS::ApiGatewayV2::Stage') as {
      readonly AccessLogSettings: { readonly DestinationArn: unknown; readonly Format: string };
    };
    expect(wordOf(log.DestinationArn)).toMatch(/^arn:.*:logs:.*:log-group:@ApiAccessLog$/);
    expect(JSON.parse(log.Format)).toEqual({
      at: '$context.requestTime',
      requestId: '$context.requestId',
      route: '$context.routeKey',
      status: '$context.status',
      latencyMillis: '$context.responseLatency',
      integrationMillis: '$context.integrationLatency',
      responseBytes: '$context.responseLength',
      sourceIp: '$context.identity.sourceIp',
      error: '$context.error.message',
      integrationError: '$context.integrationErrorMessage',
    });
  });
});

describe('the state machines', () => {
  it('Only the machine of notices has a name, by which the function that it invokes starts it', () => {
    const names = resourcesOf('AWS::StepFunctions::StateMachine').map(([id, { Properties }]) => [
      nameOf(id),
      Properties['StateMachineName'],
    ]);
    expect(Object.fromEntries(names)).toEqual({
      CreationStateMachine: undefined,
      CreationCallbackMachine: undefined,
      NoticesStateMachine: 'Darkroom-notices',
    });
  });
});

describe('the bucket', () => {
  it('The bucket expires results, sources, uploads of clients and unfinished uploads by these rules', () => {
    expect(only('AWS::S3::Bucket')['LifecycleConfiguration']).toEqual({
      Rules: [
        { Id: 'results', Prefix: 'results/', ExpirationInDays: 31, Status: 'Enabled' },
        { Id: 'sources', Prefix: 'sources/', ExpirationInDays: 1, Status: 'Enabled' },
        { Id: 'client-uploads', Prefix: 'uploads/', ExpirationInDays: 1, Status: 'Enabled' },
        {
          Id: 'uploads',
          AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
          Status: 'Enabled',
        },
      ],
    });
  });

  it('The bucket encrypts with keys of S3, and refuses TLS below 1.2', () => {
    expect(only('AWS::S3::Bucket')['BucketEncryption']).toEqual({
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
    });
    const { Statement } = only('AWS::S3::BucketPolicy')['PolicyDocument'] as {
      readonly Statement: readonly object[];
    };
    expect(Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Deny',
        Action: 's3:*',
        Condition: { NumericLessThan: { 's3:TlsVersion': 1.2 } },
      }),
    );
  });
});

describe('the distribution', () => {
  it('The distribution speaks HTTP/2 and HTTP/3 over TLS, and reads the bucket alone', () => {
    const { DistributionConfig: config } = only('AWS::CloudFront::Distribution') as {
      readonly DistributionConfig: Readonly<Record<string, unknown>>;
    };
    expect(config).toMatchObject({
      Comment: 'Darkroom: rendered images',
      Enabled: true,
      HttpVersion: 'http2and3',
      DefaultCacheBehavior: { ViewerProtocolPolicy: 'https-only', Compress: true },
    });
    expect(config).not.toHaveProperty('Aliases');
    expect(config).not.toHaveProperty('ViewerCertificate');
    const [origin, ...others] = config['Origins'] as readonly { readonly DomainName: unknown }[];
    expect(wordOf(origin?.DomainName)).toBe('@ImagesBucket');
    expect(others).toEqual([]);
  });

  it('The distribution adds these headers to every image', () => {
    const { ResponseHeadersPolicyConfig: config } = only('AWS::CloudFront::ResponseHeadersPolicy') as {
      readonly ResponseHeadersPolicyConfig: object;
    };
    expect(config).toMatchObject({
      Comment: 'Darkroom: rendered images',
      CorsConfig: {
        AccessControlAllowOrigins: { Items: ['*'] },
        AccessControlAllowMethods: { Items: ['GET', 'HEAD'] },
        AccessControlAllowCredentials: false,
        OriginOverride: true,
      },
    });
    expect((config as { readonly SecurityHeadersConfig?: unknown }).SecurityHeadersConfig).toEqual({
      ContentSecurityPolicy: { ContentSecurityPolicy: "default-src 'none'; sandbox", Override: true },
      ContentTypeOptions: { Override: true },
      FrameOptions: { FrameOption: 'DENY', Override: true },
      ReferrerPolicy: { ReferrerPolicy: 'no-referrer', Override: true },
      StrictTransportSecurity: { AccessControlMaxAgeSec: 31_536_000, Override: true },
    });
  });
});

describe('the secret with the keys of providers', () => {
  it('The secret with the keys of providers begins as an object that names no provider', () => {
    const generated = resourcesOf('AWS::SecretsManager::Secret').map(([id, { Properties }]) => [
      nameOf(id),
      Properties['GenerateSecretString'],
    ]);
    expect(Object.fromEntries(generated)).toEqual({
      EncryptionSecret: { ExcludePunctuation: true, PasswordLength: 64 },
      ProvidersCredentials: { GenerateStringKey: 'unused', SecretStringTemplate: '{}' },
      PaymentsSecret: { GenerateStringKey: 'unused', SecretStringTemplate: '{}' },
      // A function puts the key into it.
      ImagesResultKey: { GenerateStringKey: 'unused', SecretStringTemplate: '{}' },
      PortalOriginSecret: { ExcludePunctuation: true, PasswordLength: 64 },
      // The user pool draws the secret of its client.
      PortalIdentityClientSecret: undefined,
    });
  });
});

describe('the topic of the alarms', () => {
  it('The topic has a name for its e-mails, and no subscriber without the setting alarmEmail', () => {
    expect(only('AWS::SNS::Topic')).toEqual({ DisplayName: 'Darkroom alarms' });
    expect(resourcesOf('AWS::SNS::Subscription')).toEqual([]);
  });

  it('The topic takes messages from CloudWatch alone, of this account, over TLS', () => {
    const { Statement } = only('AWS::SNS::TopicPolicy')['PolicyDocument'] as {
      readonly Statement: readonly object[];
    };
    expect(Statement).toMatchObject([
      {
        Effect: 'Deny',
        Action: 'sns:Publish',
        Principal: '*',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      },
      {
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ]);
    expect(Statement).toHaveLength(2);
  });
});

const stateful: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::GlobalTable': ['StoreTable0CCFA19B'],
  'AWS::S3::Bucket': ['ImagesBucket4B6DB8E1'],
  'AWS::SecretsManager::Secret': [
    'EncryptionSecretA7F02943',
    'ImagesResultKey19C2A5DC',
    'ProvidersCredentials109EE3DB',
    'PaymentsSecret026AFB96',
    'PortalIdentityClientSecretB45EE638',
  ],
  'AWS::Cognito::UserPool': ['PortalIdentityUserPool32DD3763'],
};

/**
 * The distribution gets the secret at each deployment, and nothing was made with it. A release publishes all pages
 * of the portal.
 */
const madeAnew = new Set(['PortalOriginSecret0463ACCB', 'PortalPagesBucketB5ED6184']);

/** Types of resources that can hold data, also those that the stack does not use yet. */
const couldHoldData =
  /^AWS::(DynamoDB|S3|SecretsManager|RDS|EFS|SQS|Kinesis|KMS|Cognito|OpenSearchService|ElastiCache|SSM)::/;

/** Types that belong to such a resource and hold no data themselves. */
const attachments = new Set([
  'AWS::S3::BucketPolicy',
  'AWS::Cognito::UserPoolClient',
  'AWS::Cognito::UserPoolDomain',
  'AWS::Cognito::ManagedLoginBranding',
]);

/**
 * The resources that hold data. An update that changes a logical id makes a new, empty
 * resource beside the old one. So change this list only together with a migration.
 */
describe('the resources that hold data', () => {
  it('This file lists the resources that hold data, under the logical ids that are deployed', () => {
    const { Resources } = template.toJSON() as { Resources: Record<string, { Type: string }> };
    const found = Object.entries(Resources)
      .filter(([id, { Type }]) => couldHoldData.test(Type) && !attachments.has(Type) && !madeAnew.has(id))
      .map(([id, { Type }]) => `${Type} ${id}`);
    expect(found.sort()).toEqual(
      Object.entries(stateful)
        .flatMap(([type, ids]) => ids.map((id) => `${type} ${id}`))
        .sort(),
    );
  });

  it.each(Object.keys(stateful).flatMap((type) => resourcesOf(type).filter(([id]) => !madeAnew.has(id))))(
    'The resource %s is retained when the stack is deleted and when an update replaces it, and goes with a first deployment that is rolled back',
    (_id, resource) => {
      expect(resource).toMatchObject({
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
    },
  );

  it('The resources that hold data have no fixed names, because an update that replaces them would then fail', () => {
    for (const type of Object.keys(stateful)) {
      for (const [id, { Properties }] of resourcesOf(type))
        for (const name of ['TableName', 'BucketName', 'Name', 'UserPoolName'])
          expect(Properties, id).not.toHaveProperty(name);
    }
  });
});
