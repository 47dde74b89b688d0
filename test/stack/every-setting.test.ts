/**
 * What every setting changes in the template: the stack is synthesized once with a value for each of them.
 */
import { readFileSync } from 'node:fs';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { apiRoot, functionOf, operations } from '../../service/contract/operations.ts';
import { parseSettings } from '../../lib/settings.ts';
import { readTemplate } from '../../local/template.ts';
import { templateFile, templateLines } from '../recorded/template-lines.ts';
import { fullSettings, fullWebAcls } from './full-settings.ts';
import { nameOf, wordOf } from './template.ts';
import { pathOf, readStack } from './two-stacks.ts';

const template = Template.fromJSON(readStack('full'));
const plain = readStack('plain');

interface Found {
  readonly Properties: Readonly<Record<string, unknown>>;
}
const found = (type: string): [name: string, properties: Found['Properties']][] =>
  Object.entries(template.findResources(type) as Readonly<Record<string, Found>>).map(
    ([id, { Properties }]) => [nameOf(id), Properties],
  );
const environmentOf = (name: string): Readonly<Record<string, unknown>> => {
  const [, properties] = found('AWS::Lambda::Function').find(([known]) => known === name) ?? [];
  const environment = properties?.['Environment'] as
    | { readonly Variables: Record<string, unknown> }
    | undefined;
  if (environment === undefined) throw new Error(`${name} has no environment`);
  return environment.Variables;
};

/** The functions that know no table. */
const withoutTable = ['PublishPages', 'ProtectTable', 'Canary'];

describe('the setting', () => {
  it('The setting apiDomain gives the API its name, its certificate and an output for DNS', () => {
    template.hasResourceProperties('AWS::ApiGatewayV2::DomainName', {
      DomainName: 'api.example.com',
      DomainNameConfigurations: [
        { CertificateArn: fullSettings.apiDomain?.certificateArn, SecurityPolicy: 'TLS_1_2' },
      ],
    });
    // A logical id that changes would make CloudFormation replace the domain.
    expect(found('AWS::ApiGatewayV2::DomainName').map(([name]) => name)).toEqual(['ApiDomain']);
    const mappings = found('AWS::ApiGatewayV2::ApiMapping').map(([name, { ApiId, ApiMappingKey, Stage }]) => [
      name,
      wordOf(ApiId),
      ApiMappingKey,
      wordOf(Stage),
    ]);
    expect(mappings).toEqual([
      ['ApiMapping', '@ApiHttpApi', undefined, '$default'],
      ['ApiopenaiMapping', '@StreamsOpenaiRestApi', 'openai', '@StreamsOpenaiRestApiDeploymentStageopenai'],
      ['ApimcpMapping', '@StreamsMcpRestApi', 'mcp', '@StreamsMcpRestApiDeploymentStagemcp'],
    ]);
    template.hasOutput('OpenaiBaseUrl', { Value: 'https://api.example.com/openai/v1' });
    template.hasOutput('McpUrl', { Value: 'https://api.example.com/mcp' });
    template.hasOutput('ApiUrl', { Value: 'https://api.example.com/api/public/v1' });
    template.hasOutput('ApiDomainTarget', { Description: 'Where DNS has to send api.example.com' });
  });

  it('The setting defaultAddresses switches the addresses of API Gateway off, and the portal reaches the API by apiDomain', () => {
    for (const type of ['AWS::ApiGatewayV2::Api', 'AWS::ApiGateway::RestApi'])
      template.allResourcesProperties(type, { DisableExecuteApiEndpoint: true });
    template.hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: {
        Aliases: ['portal.example.com'],
        Origins: Match.arrayWith([Match.objectLike({ DomainName: 'api.example.com' })]),
      },
    });
    expect(() => parseSettings('file', { defaultAddresses: 'off' })).toThrow(
      'file: defaultAddresses: must be on, because apiDomain is not set and nothing else leads to the API (is "off")',
    );
  });

  it('The setting webAclArn puts firewalls before the portal and both REST APIs', () => {
    template.hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: { Aliases: ['portal.example.com'], WebACLId: fullWebAcls.portal },
    });
    expect(
      found('AWS::WAFv2::WebACLAssociation').map(([name, { WebACLArn, ResourceArn }]) => [
        name,
        WebACLArn,
        JSON.stringify(ResourceArn).includes(`RestApiDeploymentStage`),
      ]),
    ).toEqual([
      ['StreamsOpenaiFirewall', fullWebAcls.api, true],
      ['StreamsMcpFirewall', fullWebAcls.api, true],
    ]);
    expect(() => parseSettings('file', { webAclArn: { portal: fullWebAcls.api } })).toThrow(
      'file: webAclArn.portal: must be the ARN of a web ACL of AWS WAF, global, of us-east-1 (is "arn:',
    );
  });

  it('The setting resultsDomain gives the images their name, their certificate, TLS 1.2 and an output for DNS', () => {
    template.hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: {
        Aliases: ['images.example.com'],
        ViewerCertificate: {
          AcmCertificateArn: fullSettings.resultsDomain?.certificateArn,
          MinimumProtocolVersion: 'TLSv1.2_2021',
          SslSupportMethod: 'sni-only',
        },
      },
    });
    template.hasOutput('ResultsBaseUrl', { Value: 'https://images.example.com' });
    template.hasOutput('ResultsDomainTarget', { Description: 'Where DNS has to send images.example.com' });
    expect(environmentOf('GetCreation')['RESULTS_BASE_URL']).toBe('https://images.example.com');
    expect(environmentOf('DeliverWebhook')['RESULTS_BASE_URL']).toBe('https://images.example.com');
  });

  it('The setting resultDays sets the days of a result, and the bucket keeps the result one day longer', () => {
    expect(environmentOf('RenderImage')['RESULT_DAYS']).toBe('7');
    const [[, bucket] = []] = found('AWS::S3::Bucket');
    expect(JSON.stringify(bucket?.['LifecycleConfiguration'])).toContain(
      '{"ExpirationInDays":8,"Id":"results","Prefix":"results/","Status":"Enabled"}',
    );
  });

  it('The setting results signs the addresses of all accounts, and CloudFront asks for the signature', () => {
    for (const name of [
      ...['GenerateImage', 'OpenaiImages', 'Mcp', 'PortalGenerate'],
      ...['OperatorApi', 'PortalOperate'],
    ])
      expect(environmentOf(name)['RESULTS'], name).toBe('signed');
    const [[, distribution] = []] = found('AWS::CloudFront::Distribution').filter(([name]) =>
      name.startsWith('Images'),
    );
    const { CacheBehaviors, DefaultCacheBehavior } = (distribution ?? {})['DistributionConfig'] as {
      readonly DefaultCacheBehavior: object;
      readonly CacheBehaviors: readonly { readonly TrustedKeyGroups: readonly unknown[] }[];
    };
    const [behavior, ...others] = CacheBehaviors;
    expect(others).toEqual([]);
    expect({ ...behavior, TrustedKeyGroups: behavior?.TrustedKeyGroups.map(wordOf) }).toEqual({
      ...DefaultCacheBehavior,
      PathPattern: 'results/signed/*',
      TrustedKeyGroups: ['@ImagesResultKeys'],
    });
    expect(wordOf(environmentOf('GetCreation')['RESULT_KEY_ID'])).toBe('@ImagesResultPublicKey');
    expect(environmentOf('GetBalance')).not.toHaveProperty('RESULT_KEY_ARN');
  });

  it('Without keys nobody gets signed addresses, and CloudFront reads no result that had them', () => {
    const types = Object.values(plain.Resources).map(({ Type }) => Type);
    expect(types.filter((type) => /KeyGroup|PublicKey|ResultKeyPair/.test(type))).toEqual([]);
    const texts = (type: string): string[] =>
      Object.values(plain.Resources).flatMap((one) => (one.Type === type ? [JSON.stringify(one)] : []));
    expect(texts('AWS::CloudFront::Distribution').join('')).not.toContain('results/signed');
    expect(
      texts('AWS::Lambda::Function')
        .join('')
        .match(/"RESULTS":"\w+"/g),
    ).toEqual(Array.from({ length: 6 }, () => '"RESULTS":"off"'));
    const denied =
      /\{"Action":"s3:GetObject","Effect":"Deny","Principal":[^}]*\},"Resource":.{0,80}\/results\/signed\/\*/;
    expect(texts('AWS::S3::BucketPolicy').join('')).toMatch(denied);
    expect(JSON.stringify(found('AWS::S3::BucketPolicy'))).not.toMatch(denied);
  });

  it('The setting thumbnails reaches what stores results', () => {
    for (const name of ['RenderImage', 'RenderImageSmall', 'RenderImageLarge', 'ReceiveCallback'])
      expect(environmentOf(name)['THUMBNAILS'], name).toBe('off');
  });

  it('The setting keepPromptsDays says after how many days texts are erased, also those of refused requests', () => {
    const logging = ['GetCreation', 'UnknownRoute', 'OpenaiImages', 'OpenaiModels', 'Mcp', 'PortalGenerate'];
    for (const name of ['EraseContent', ...logging])
      expect(environmentOf(name)['KEEP_PROMPTS_DAYS'], name).toBe('14');
  });

  it('The setting uploadOrigins says which pages may put uploads from a browser', () => {
    const [[, bucket] = []] = found('AWS::S3::Bucket');
    expect(bucket?.['CorsConfiguration']).toEqual({
      CorsRules: [
        {
          AllowedMethods: ['PUT'],
          AllowedOrigins: [...(fullSettings.uploadOrigins ?? []), 'https://portal.example.com'],
          AllowedHeaders: ['content-type'],
          MaxAge: 3_600,
        },
      ],
    });
  });

  it('The setting logRetentionDays is the retention of every log group', () => {
    const groups = found('AWS::Logs::LogGroup');
    expect(groups.length).toBeGreaterThan(13);
    for (const [name, properties] of groups) expect(properties['RetentionInDays'], name).toBe(90);
  });

  it('The setting limits is an output, which the operator’s command reads', () => {
    template.hasOutput('DefaultLimits', { Value: JSON.stringify(fullSettings.limits) });
  });

  it('The settings authFailureForm and topUpUrl reach the functions of the API', () => {
    expect(environmentOf('GenerateImage')).toMatchObject({
      AUTH_FAILURE_FORM: 'plain',
      TOP_UP_URL: 'https://shop.example.com/credits',
    });
    expect(environmentOf('UnknownRoute')['AUTH_FAILURE_FORM']).toBe('plain');
  });

  it('The setting sandbox reaches every function that sells images, and those of the portal', () => {
    const selling = ['GenerateImage', 'QuoteImage', 'ListModels', 'OpenaiImages', 'OpenaiModels', 'Mcp'];
    for (const name of [...selling, 'PortalGenerate', 'PortalRead', 'PortalManage'])
      expect(environmentOf(name)['SANDBOX'], name).toBe('on');
  });

  it('The setting alarmEmail subscribes the address to the topic of the alarms', () => {
    expect(
      found('AWS::SNS::Subscription').map(([, { Endpoint, Protocol, TopicArn }]) => [
        Endpoint,
        Protocol,
        wordOf(TopicArn),
      ]),
    ).toEqual([['operator@example.com', 'email', '@AlarmsTopic']]);
  });

  it('The setting budget notifies the topic of alarms when 80 % is forecast and when all of the money is spent', () => {
    const [[, properties] = []] = found('AWS::Budgets::Budget');
    expect(properties).toMatchObject({
      Budget: { BudgetType: 'COST', TimeUnit: 'MONTHLY', BudgetLimit: { Amount: 50, Unit: 'USD' } },
      NotificationsWithSubscribers: [
        ['FORECASTED', 80],
        ['ACTUAL', 100],
      ].map(([NotificationType, Threshold]) => ({
        Notification: {
          NotificationType,
          Threshold,
          ComparisonOperator: 'GREATER_THAN',
          ThresholdType: 'PERCENTAGE',
        },
        Subscribers: [{ SubscriptionType: 'SNS' }],
      })),
    });
    expect(JSON.stringify(properties).match(/"Address":\{"Ref":"AlarmsTopic/g)).toHaveLength(2);
    const publishers = JSON.stringify(found('AWS::SNS::TopicPolicy'));
    expect(publishers).toContain('"Principal":{"Service":"budgets.amazonaws.com"}');
  });

  it('The setting alarms sets the thresholds of the alarms that depend on the deployment', () => {
    const alarm = (name: string): Readonly<Record<string, unknown>> | undefined =>
      found('AWS::CloudWatch::Alarm').find(([id]) => id === `Alarms${name}`)?.[1];
    const ofFive = { Metrics: [{ MetricStat: { Stat: 'p95' } }] };
    expect(alarm('AcceptSlow')).toMatchObject({ ...ofFive, Threshold: 1_000 });
    expect(alarm('ImagesSlow')).toMatchObject({ ...ofFive, Threshold: 60_000 });
    const reserved = found('AWS::Lambda::Function').reduce(
      (sum, [, { ReservedConcurrentExecutions: most }]) => sum + Number(most ?? 0),
      0,
    );
    expect(reserved).toBeGreaterThan(0);
    // Four fifths of what the functions of this stack leave of the quota.
    expect(alarm('ConcurrencyNearlyUsed')).toMatchObject({
      Threshold: Math.ceil(((3_000 - reserved) * 4) / 5),
    });
    expect(alarm('TrafficGone')).toMatchObject({
      ComparisonOperator: 'LessThanLowerThreshold',
      TreatMissingData: 'breaching',
    });
    expect(JSON.stringify(alarm('TrafficGone')?.['Metrics'])).toContain('ANOMALY_DETECTION_BAND(m0, 3)');
  });

  it('The setting tracing lets every function, state machine and REST API send traces, and no role more than that', () => {
    const functions = found('AWS::Lambda::Function');
    for (const [name, { TracingConfig }] of functions)
      expect([name, TracingConfig]).toEqual([name, { Mode: 'Active' }]);
    const machines = found('AWS::StepFunctions::StateMachine');
    expect(machines).toHaveLength(3);
    for (const [, { TracingConfiguration }] of machines)
      expect(TracingConfiguration).toEqual({ Enabled: true });
    for (const [, { TracingEnabled }] of found('AWS::ApiGateway::Stage')) expect(TracingEnabled).toBe(true);
    const actions = new Set(JSON.stringify(found('AWS::IAM::Policy')).match(/xray:\w+/g));
    expect([...actions].sort()).toEqual([
      'xray:GetSamplingRules',
      'xray:GetSamplingTargets',
      'xray:PutTelemetryRecords',
      'xray:PutTraceSegments',
    ]);
  });

  it('The setting canary adds a function that runs every five minutes, is never repeated, and may only read its own secret', () => {
    for (const name of ['Canary', 'OpenaiImages'])
      expect(environmentOf(name)).toMatchObject({ API_URL: 'https://api.example.com/api/public/v1' });
    expect(
      found('AWS::Events::Rule').find(([name]) => name.startsWith('CanaryRun'))?.[1]['ScheduleExpression'],
    ).toBe('rate(5 minutes)');
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
    });
    const [, policy] = found('AWS::IAM::Policy').find(([name]) => name.startsWith('CanaryServiceRole')) ?? [];
    const { Statement: statements } = (policy?.['PolicyDocument'] ?? { Statement: [] }) as {
      readonly Statement: readonly { readonly Action: unknown; readonly Resource: unknown }[];
    };
    const named = statements.map(({ Action, Resource }) => [[Action].flat().join(' '), wordOf(Resource)]);
    expect(named.filter(([action]) => !/^(logs|xray):/.test(String(action)))).toEqual([
      ['secretsmanager:GetSecretValue', '@CanaryRunKey'],
    ]);
    expect(found('AWS::CloudWatch::Alarm').map(([name]) => name)).toContain('AlarmsCanaryFailing');
    template.hasOutput('CanarySecretArn', {});
  });

  it('The setting architecture is the architecture of every function', () => {
    for (const [name, properties] of found('AWS::Lambda::Function'))
      expect(properties['Architectures'], name).toEqual(['x86_64']);
  });

  it('The setting bedrockRegion is the region where models are invoked, and the grant names the region', () => {
    expect(environmentOf('RenderImage')['BEDROCK_REGION']).toBe('eu-west-1');
    const policies = JSON.stringify(found('AWS::IAM::Policy'));
    expect(policies).toContain(':bedrock:eu-west-1::foundation-model/');
    expect(policies).not.toContain(':bedrock:us-west-2:');
  });

  it('The setting providerNetwork puts the functions that render, and no others, into the private network', () => {
    const inNetwork = found('AWS::Lambda::Function').filter(([, { VpcConfig }]) => VpcConfig !== undefined);
    expect(inNetwork.map(([name]) => name).sort()).toEqual([
      'RenderImage',
      'RenderImageLarge',
      'RenderImageSmall',
    ]);
    for (const [, { VpcConfig }] of inNetwork)
      expect(VpcConfig).toEqual({
        SubnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
        SecurityGroupIds: ['sg-0123456789abcdef0'],
      });
    const policies = found('AWS::IAM::Policy').filter(([, policy]) =>
      JSON.stringify(policy).includes('ec2:CreateNetworkInterface'),
    );
    expect(policies).toHaveLength(3);
  });

  it('The setting restoredTable is the table of every function, and the stack keeps its own table', () => {
    for (const [name] of found('AWS::Lambda::Function').filter(([fn]) => !withoutTable.includes(fn)))
      expect(environmentOf(name)['TABLE_NAME'], name).toBe('Darkroom-restored-2026-11-21');
    template.hasOutput('TableName', { Value: 'Darkroom-restored-2026-11-21' });
    // The stack's own table stays the protected one.
    const [[, protectedTable] = []] = found('Custom::TableProtection');
    expect(wordOf(protectedTable?.['TableName'])).toBe('@StoreTable');
    template.resourceCountIs('AWS::DynamoDB::GlobalTable', 1);
    // Every grant of the table is one of the restored table, but for the protection of the stack's own.
    const granted = [...readTemplate(pathOf('full')).policies.values()]
      .flat()
      .map((statement) => JSON.stringify(statement))
      .filter((text) => text.includes('dynamodb:') && !text.includes('dynamodb:UpdateTable'));
    expect(granted.length).toBeGreaterThan(0);
    for (const text of granted) expect(text).toMatch(/:table\/Darkroom-restored-2026-11-21(\/index\/\w+)?"/);
  });

  it('The setting backup copies a backup of the table in use, and the encryption secret, to another region', () => {
    template.resourceCountIs('AWS::Backup::BackupVault', 1);
    template.hasResourceProperties('AWS::Backup::BackupPlan', {
      BackupPlan: {
        BackupPlanRule: [
          Match.objectLike({
            ScheduleExpression: 'cron(0 3 * * ? *)',
            Lifecycle: { DeleteAfterDays: 7 },
            CopyActions: [{ DestinationBackupVaultArn: Match.anyValue(), Lifecycle: { DeleteAfterDays: 7 } }],
          }),
        ],
      },
    });
    const plans = JSON.stringify(found('AWS::Backup::BackupPlan'));
    expect(plans).toContain(':backup:eu-north-1:');
    expect(plans).toContain(':backup-vault:Darkroom-full');
    expect(JSON.stringify(found('AWS::Backup::BackupSelection'))).toContain(
      ':table/Darkroom-restored-2026-11-21"',
    );
    template.resourcePropertiesCountIs(
      'AWS::SecretsManager::Secret',
      { ReplicaRegions: [{ Region: 'eu-north-1' }] },
      1,
    );
    template.hasOutput('BackupRegion', { Value: 'eu-north-1' });
  });

  it('The setting startsPerSecond is the quota that the reconciler knows', () => {
    expect(environmentOf('Reconcile')['STARTS_PER_SECOND']).toBe('300');
  });

  it('The setting serviceCapacity is known to the functions that compare it, and to the alarm', () => {
    for (const name of ['GenerateImage', 'OpenaiImages', 'Mcp', 'PortalGenerate', 'PortalRead'])
      expect(environmentOf(name)['SERVICE_CAPACITY'], name).toBe('15000');
    template.hasOutput('ServiceCapacity', { Value: '15000' });
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'Darkroom-full-CapacityNearlyUsed',
      Threshold: 12_000,
    });
  });

  it('The setting portal.domain gives the portal its name, its certificate, TLS 1.2 and an output for DNS', () => {
    template.hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: {
        Aliases: ['portal.example.com'],
        ViewerCertificate: {
          AcmCertificateArn: fullSettings.portal?.domain?.certificateArn,
          MinimumProtocolVersion: 'TLSv1.2_2021',
        },
      },
    });
    template.hasOutput('PortalUrl', { Value: 'https://portal.example.com/' });
    template.hasOutput('PortalDomainTarget', { Description: 'Where DNS has to send portal.example.com' });
    for (const name of ['PortalRead', 'OpenaiImages'])
      expect(environmentOf(name)['PORTAL_URL']).toBe('https://portal.example.com/');
  });

  it('The setting portal.signIn replaces the user pool, and the secret waits for the operator', () => {
    for (const kind of ['UserPool', 'UserPoolClient', 'UserPoolDomain', 'ManagedLoginBranding'])
      template.resourceCountIs(`AWS::Cognito::${kind}`, 0);
    expect(environmentOf('PortalSignIn')).toMatchObject({
      PORTAL_ISSUER: 'https://login.example.com/tenant/v2.0',
      PORTAL_CLIENT_ID: 'darkroom-portal',
    });
    expect(environmentOf('PortalManage')['USER_POOL_ID']).toBe('');
    expect(JSON.stringify(found('AWS::IAM::Policy'))).not.toContain('cognito-idp');
    expect(template.findOutputs('UserPoolId')).toEqual({});
    const [, secret] =
      found('AWS::SecretsManager::Secret').find(([name]) => name.endsWith('ClientSecret')) ?? [];
    expect(secret).toHaveProperty('GenerateSecretString');
    expect(JSON.stringify(found('AWS::CloudFront::ResponseHeadersPolicy'))).toContain(
      "form-action 'self' https://login.example.com;",
    );
  });

  it('The setting portal.originSecretVersion is the version that the distribution sends, and the operator’s command knows it', () => {
    const version = fullSettings.portal?.originSecretVersion;
    expect(JSON.stringify(found('AWS::CloudFront::Distribution'))).toContain(`:SecretString:::${version}}}`);
    template.hasOutput('OriginSecretVersion', { Value: version });
  });

  it('The settings of the portal reach its functions', () => {
    expect(JSON.parse(String(environmentOf('PortalRead')['PORTAL_SETTINGS']))).toEqual({
      emails_are_verified: true,
      has_auth_time: false,
      payment_url: null,
      takes_payments: true,
      contact: 'Write to help@example.com',
      credentials_url: null,
      inbox_url: null,
    });
  });

  it('The setting payments gives three functions the choices and the key, and leaves no other way to pay', () => {
    const stated = {
      ...{ base_url: null, automatic_tax: true, tax_ids: true, invoices: true },
      suspend_on_dispute: true,
    };
    for (const name of ['ReceivePayment', 'FollowPayments', 'PortalPay']) {
      const { PAYMENT_SETTINGS: text, PAYMENT_SECRET_ARN: arn, PORTAL_URL: url } = environmentOf(name);
      expect([JSON.parse(String(text)), wordOf(arn), url]).toEqual([
        ...[stated, '@PaymentsSecret'],
        'https://portal.example.com/',
      ]);
    }
    template.hasOutput('PaymentSettings', { Value: JSON.stringify(stated) });
    template.hasOutput('PaymentSecretArn', {});
    const both = { payments: { stripe: {} }, portal: { paymentUrl: 'https://pay.example.com/' } };
    expect(() => parseSettings('file', both)).toThrow(
      'file: portal.paymentUrl: must be left out, because payments are taken through Stripe (is "https://pay.example.com/")',
    );
  });

  it('A stack with every setting has at most 500 resources, which is all that CloudFormation takes', () => {
    expect(Object.keys(template.toJSON()['Resources'] as object).length).toBeLessThanOrEqual(500);
  });

  it('The setting throttling is the throttling of each route', () => {
    const throttle = { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 };
    template.hasResourceProperties('AWS::ApiGatewayV2::Stage', {
      DefaultRouteSettings: { ThrottlingRateLimit: 200, ThrottlingBurstLimit: 400 },
      RouteSettings: Match.objectLike({ $default: throttle, [`POST ${apiRoot}/images/generate`]: throttle }),
    });
    const methods = found('AWS::ApiGateway::Stage').map(([, { MethodSettings }]) => MethodSettings);
    expect(methods).toContainEqual([expect.objectContaining(throttle)]);
    expect(methods).toContainEqual(
      expect.arrayContaining([
        expect.objectContaining({ ResourcePath: '/~1v1~1images~1generations', ...throttle }),
      ]),
    );
  });

  it('The setting openai says which models the names of OpenAI lead to, and adds names', () => {
    for (const name of ['OpenaiImages', 'OpenaiModels'])
      expect(JSON.parse(String(environmentOf(name)['OPENAI_ALIASES']))).toMatchObject({
        'dall-e-3': 'gemini-3-pro-image',
        'gpt-image-1': 'gemini-3-pro-image',
        'my-model': 'flux-2-pro',
      });
  });

  it('The settings heldRequests and concurrency reserve concurrency, or share that of the account', () => {
    const reserved = found('AWS::Lambda::Function').flatMap(
      ([name, { ReservedConcurrentExecutions: most }]) => (most === undefined ? [] : [[name, most]]),
    );
    expect(Object.fromEntries(reserved)).toEqual({
      OpenaiImages: 20,
      GenerateImage: 19,
      GetCreation: 17,
      CreateUpload: 2,
      CancelCreation: 2,
      RefundCharge: 10,
      Reconcile: 5,
      RenderImageSmall: 50,
      RenderImageLarge: 30,
      RenderImage: 20,
    });
  });

  it('The setting heldSharePercent is the share of the slots of a door that one account may hold', () => {
    const limits = ['OpenaiImages', 'GenerateImage', 'Mcp'].map((name) => environmentOf(name)['HELD_LIMIT']);
    // Of 20, of 19, and of the 100 that a door counts when it shares.
    expect(limits).toEqual(['6', '5', '30']);
  });

  it('The setting gatewayLogRole leaves the role of the account alone when it exists', () => {
    template.resourceCountIs('AWS::ApiGateway::Account', 0);
    expect(JSON.stringify(found('AWS::IAM::Role'))).not.toContain('AmazonAPIGatewayPushToCloudWatchLogs');
    expect(found('AWS::ApiGateway::Stage').every(([, { AccessLogSetting }]) => AccessLogSetting)).toBe(true);
  });
});

describe('the name of the stack', () => {
  it('The name of the stack is the namespace of its metrics, and is in the names of its dashboard, alarms and access log', () => {
    for (const [name] of found('AWS::Lambda::Function'))
      expect(environmentOf(name)['METRICS_NAMESPACE'], name).toBe('Darkroom-full');
    const [[, dashboard] = []] = found('AWS::CloudWatch::Dashboard');
    expect(wordOf(dashboard?.['DashboardName'])).toBe('Darkroom-full-@AWS::Region');
    expect(JSON.stringify(dashboard?.['DashboardBody'])).toMatch(/SEARCH\('\{[\\"]+Darkroom-full/);
    for (const [, { AlarmName }] of found('AWS::CloudWatch::Alarm'))
      expect(AlarmName).toMatch(/^Darkroom-full-\w+$/);
    const apis = [...found('AWS::ApiGatewayV2::Api'), ...found('AWS::ApiGateway::RestApi')];
    expect(apis.map(([, { Name }]) => Name).sort()).toEqual([
      'Darkroom-full-api',
      'Darkroom-full-mcp',
      'Darkroom-full-openai',
    ]);
    template.hasResourceProperties('AWS::Logs::LogGroup', {
      LogGroupName: '/aws/vendedlogs/Darkroom-full/api',
    });
  });

  const api = [
    ...new Set(Object.values(operations).map(functionOf)),
    'OperatorApi',
    'ReceivePayment',
    'ReceiveCallback',
    'UnknownRoute',
    'OpenaiImages',
    'OpenaiModels',
    'Mcp',
  ];

  it('The setting apiTraffic lets CodeDeploy move the requests of each API function in steps, until one of three alarms is raised', () => {
    const aliases = Object.entries(
      template.findResources('AWS::Lambda::Alias') as Readonly<
        Record<string, Found & { readonly UpdatePolicy: Readonly<Record<string, unknown>> }>
      >,
    );
    expect(aliases.map(([, { Properties }]) => wordOf(Properties['FunctionName'])).sort()).toEqual(
      api.map((name) => `@${name}`).sort(),
    );
    for (const [id, { Properties, UpdatePolicy }] of aliases) {
      expect(Properties).toMatchObject({ Name: 'live' });
      const shift = UpdatePolicy['CodeDeployLambdaAliasUpdate'] as Readonly<Record<string, unknown>>;
      expect(wordOf(shift['DeploymentGroupName'])).toBe(`@${nameOf(id).replace(/Live$/, 'Group')}`);
    }
    const groups = found('AWS::CodeDeploy::DeploymentGroup');
    expect(groups).toHaveLength(api.length);
    for (const [, { AlarmConfiguration: alarms, AutoRollbackConfiguration: back, ...group }] of groups) {
      expect(group).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
      });
      expect(back).toEqual({
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'],
      });
      const { Enabled: on, Alarms: named } = alarms as { Enabled: boolean; Alarms: { Name: unknown }[] };
      expect(on).toBe(true);
      expect(named.map(({ Name }) => wordOf(Name)).sort()).toEqual([
        '@AlarmsRequestsFailing',
        '@AlarmsServerErrors',
        '@AlarmsStartsRefused',
      ]);
    }
  });

  it('The setting apiTraffic makes API Gateway call the aliases, and allows it nothing else', () => {
    const streaming = found('AWS::ApiGateway::Method').map(
      ([, { Integration }]) => /@Traffic\w+Live/.exec(wordOf((Integration as { Uri: unknown }).Uri))?.[0],
    );
    const called = [
      ...new Set([
        ...found('AWS::ApiGatewayV2::Integration').map(([, { IntegrationUri }]) => wordOf(IntegrationUri)),
        ...streaming,
      ]),
    ]
      // The pages and the functions of the portal come with the same deployment, all at once.
      .filter((uri) => uri?.startsWith('@Portal') !== true);
    expect(called).toHaveLength(api.length);
    for (const uri of called) expect(uri).toMatch(/^@Traffic\w+Live$/);
    const allowed = found('AWS::Lambda::Permission').filter(
      ([, { Principal }]) => Principal === 'apigateway.amazonaws.com',
    );
    const permitted = allowed.map(([, { FunctionName }]) => wordOf(FunctionName));
    expect(new Set(permitted.filter((name) => !name.startsWith('@Portal')))).toEqual(new Set(called));
  });

  it('The setting apiTraffic adds the API functions to those whose versions the operator prunes', () => {
    const { VersionedFunctions: output } = template.findOutputs('VersionedFunctions') as Readonly<
      Record<string, { readonly Value: unknown }>
    >;
    expect(wordOf(output?.Value).split(',')).toHaveLength(5 + api.length);
  });
});

it('The templates have what was recorded, and nothing else (node test/recorded/write.ts records anew)', () => {
  const recorded = JSON.parse(readFileSync(templateFile, 'utf8')) as string[];
  const lines = templateLines();
  expect(lines.filter((line) => !recorded.includes(line))).toEqual([]);
  expect(recorded.filter((line) => !lines.includes(line))).toEqual([]);
});
