import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { App, CfnOutput, Duration, RemovalPolicy, Stack, Tags } from 'aws-cdk-lib';
import { CfnApi, CfnIntegration, CfnRoute } from 'aws-cdk-lib/aws-apigatewayv2';
import { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { AttributeType, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Code, Function as Lambda, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthorizer } from '../../local/aws/iam.ts';
import { readTemplate } from '../../local/template.ts';
import type { LocalFunction, LocalTemplate } from '../../local/template.ts';
import { temporaryFolder } from './aws/endpoint-fixture.ts';

describe('the template of a stack that CDK has synthesized', () => {
  let template: LocalTemplate;
  const folder = mkdtempSync(path.join(tmpdir(), 'darkroom-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeAll(() => {
    template = readTemplate(synthesize(folder), { apiEndpoint: 'http://127.0.0.1:4000' });
  });

  const only = <Item>(items: readonly Item[]): Item => {
    expect(items).toHaveLength(1);
    return items[0] as Item;
  };

  const theFunction = (name: string): LocalFunction =>
    only(template.functions.filter(({ id }) => id.startsWith(name)));

  test('a function has its bundle, its role, and an environment with local names', () => {
    const fn = theFunction('Submit');
    const table = only(template.tables).name;
    const machine = only(template.stateMachines).arn;
    expect(fn).toMatchObject({ handler: 'index.handler', timeoutSeconds: 29 });
    expect(fn.codeFolder).toMatch(new RegExp(`^${path.join(folder, 'cdk.out')}/asset\\.[0-9a-f]{64}$`));
    expect(template.policies.has(fn.roleId)).toBe(true);
    expect(fn.environment).toEqual({
      TABLE: table,
      MACHINE: machine,
      BUCKET: only(template.buckets).name,
      SECRET: only(template.secrets).arn,
      IMAGES: `https://${only(only(template.distributions).domains)}`,
    });
    expect(machine).toMatch(/^arn:aws:states:us-east-1:000000000000:stateMachine:Creation/);
  });

  test('routes, schedule and rule lead to the function', () => {
    const functionId = theFunction('Submit').id;
    expect(template.routes).toEqual([{ routeKey: 'POST /images/generate', functionId }]);
    expect(template.schedules).toEqual([{ functionId, everySeconds: 60, input: '{}' }]);
    expect(template.rules).toEqual([
      {
        functionId,
        pattern: {
          source: ['aws.states'],
          detail: { status: ['FAILED'], stateMachineArn: [only(template.stateMachines).arn] },
        },
      },
    ]);
  });

  test('the table is a valid input of CreateTable', () => {
    const { name, create, ttlAttribute } = only(template.tables);
    expect(ttlAttribute).toBe('expires_at');
    expect(create).toEqual({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: ['pk', 'sk', 'work'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      GlobalSecondaryIndexes: [
        {
          IndexName: 'open-work',
          KeySchema: [{ AttributeName: 'work', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    });
  });

  test('the definition of the state machine has its substitutions', () => {
    expect(JSON.parse(only(template.stateMachines).definition)).toEqual({
      StartAt: 'RenderImage',
      States: {
        RenderImage: {
          Type: 'Task',
          Resource: `arn:aws:lambda:us-east-1:000000000000:function:${theFunction('Render').id}`,
          End: true,
        },
      },
    });
  });

  test('the bucket, the secret, the distribution and the outputs have local names', () => {
    const bucket = only(template.buckets);
    expect(bucket.expirations).toEqual([{ prefix: 'sources/', days: 1 }]);
    expect(only(template.distributions).bucket).toBe(bucket.name);
    expect(only(template.secrets)).toMatchObject({
      name: 'webhook-key',
      generate: { PasswordLength: 44 },
      arn: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:webhook-key-AbCdEf',
    });
    expect(template.outputs).toEqual({ Endpoint: 'http://127.0.0.1:4000/api' });
  });

  test('the authorizer allows exactly the calls that CDK has granted', () => {
    const authorize = createAuthorizer(template.policies);
    const caller = theFunction('Submit').roleId;
    const TableName = only(template.tables).name;
    const Bucket = only(template.buckets).name;
    authorize({
      service: 'dynamodb',
      operation: 'TransactWriteItems',
      caller,
      input: { TransactItems: [{ Update: { TableName } }, { ConditionCheck: { TableName } }] },
    });
    authorize({
      service: 'dynamodb',
      operation: 'Query',
      caller,
      input: { TableName, IndexName: 'open-work' },
    });
    authorize({
      service: 'states',
      operation: 'StartExecution',
      caller,
      input: { stateMachineArn: only(template.stateMachines).arn },
    });
    authorize({ service: 's3', operation: 'PutObject', caller, input: { Bucket, Key: 'results/1.png' } });
    authorize({
      service: 'secretsmanager',
      operation: 'GetSecretValue',
      caller,
      input: { SecretId: only(template.secrets).arn },
    });
    expect(() =>
      authorize({ service: 's3', operation: 'GetObject', caller, input: { Bucket, Key: 'results/1.png' } }),
    ).toThrow('s3:GetObject');
  });
});

function synthesize(folder: string): string {
  const bundle = path.join(folder, 'bundle');
  mkdirSync(bundle);
  writeFileSync(path.join(bundle, 'index.mjs'), 'export const handler = () => ({});');
  const app = new App({
    outdir: path.join(folder, 'cdk.out'),
    context: { 'aws:cdk:enable-asset-metadata': true, 'aws:cdk:enable-path-metadata': true },
  });
  const stack = new Stack(app, 'Darkroom');
  const table = new TableV2(stack, 'Main', {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    sortKey: { name: 'sk', type: AttributeType.STRING },
    globalSecondaryIndexes: [
      {
        indexName: 'open-work',
        partitionKey: { name: 'work', type: AttributeType.STRING },
        projectionType: ProjectionType.KEYS_ONLY,
      },
    ],
    timeToLiveAttribute: 'expires_at',
    deletionProtection: true,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  });
  const bucket = new Bucket(stack, 'Images', {
    removalPolicy: RemovalPolicy.RETAIN,
    lifecycleRules: [
      { prefix: 'sources/', expiration: Duration.days(1) },
      { abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
  });
  const secret = new Secret(stack, 'WebhookKey', {
    secretName: 'webhook-key',
    generateSecretString: { passwordLength: 44 },
  });
  const distribution = new Distribution(stack, 'Cdn', {
    defaultBehavior: { origin: S3BucketOrigin.withOriginAccessControl(bucket as IBucket) },
  });
  const render = new Lambda(stack, 'Render', {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromAsset(bundle),
  });
  const fn = new Lambda(stack, 'Submit', {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromAsset(bundle),
    timeout: Duration.seconds(29),
  });
  const machine = new StateMachine(stack, 'Creation', {
    definitionBody: DefinitionBody.fromString(
      JSON.stringify({
        StartAt: 'RenderImage',
        States: { RenderImage: { Type: 'Task', Resource: '${RenderImage}', End: true } },
      }),
    ),
    definitionSubstitutions: { RenderImage: render.functionArn },
  });
  for (const [name, value] of Object.entries({
    TABLE: table.tableName,
    MACHINE: machine.stateMachineArn,
    BUCKET: bucket.bucketName,
    SECRET: secret.secretArn,
    IMAGES: `https://${distribution.distributionDomainName}`,
  })) {
    fn.addEnvironment(name, value);
  }
  table.grantReadWriteData(fn);
  bucket.grantPut(fn);
  secret.grantRead(fn);
  machine.grantStartExecution(fn);
  const api = new CfnApi(stack, 'Api', { name: 'api', protocolType: 'HTTP' });
  const integration = new CfnIntegration(stack, 'Integration', {
    apiId: api.ref,
    integrationType: 'AWS_PROXY',
    integrationUri: fn.functionArn,
    payloadFormatVersion: '2.0',
  });
  new CfnRoute(stack, 'Route', {
    apiId: api.ref,
    routeKey: 'POST /images/generate',
    target: `integrations/${integration.ref}`,
  });
  new Schedule(stack, 'EveryMinute', {
    schedule: ScheduleExpression.rate(Duration.minutes(1)),
    target: new LambdaInvoke(fn, { input: ScheduleTargetInput.fromText('{}') }),
  });
  new Rule(stack, 'Failed', {
    eventPattern: {
      source: ['aws.states'],
      detail: { status: ['FAILED'], stateMachineArn: [machine.stateMachineArn] },
    },
    targets: [new LambdaFunction(fn)],
  });
  new CfnOutput(stack, 'Endpoint', { value: `${api.attrApiEndpoint}/api` });
  Tags.of(stack).add('service', 'darkroom');
  app.synth();
  return path.join(folder, 'cdk.out', 'Darkroom.template.json');
}

describe('a template with a part that does not run locally', () => {
  async function read(
    resources: Record<string, unknown>,
    rest: Record<string, unknown> = {},
  ): Promise<LocalTemplate> {
    const file = path.join(await temporaryFolder(), 'x.template.json');
    writeFileSync(file, JSON.stringify({ Resources: resources, ...rest }));
    return readTemplate(file);
  }
  const role = { Type: 'AWS::IAM::Role' };
  const lambda = (over: object = {}): object => ({
    Type: 'AWS::Lambda::Function',
    Metadata: { 'aws:asset:path': 'asset.1' },
    Properties: { Handler: 'index.handler', Role: { 'Fn::GetAtt': ['Role', 'Arn'] }, ...over },
  });
  const table = (TableName: unknown): object => ({
    Type: 'AWS::DynamoDB::Table',
    Properties: { TableName, AttributeDefinitions: [], KeySchema: [] },
  });

  test.each<[string, Record<string, unknown>, string]>([
    [
      'an unknown intrinsic function',
      { T: table({ 'Fn::Base64': 'x' }) },
      'AWS::DynamoDB::Table T: the intrinsic function Fn::Base64 is not supported',
    ],
    [
      'a reference to nothing',
      { T: table({ Ref: 'None' }) },
      'AWS::DynamoDB::Table T: None is neither a resource nor a parameter',
    ],
    [
      'an attribute without a local value',
      { Role: role, T: table({ 'Fn::GetAtt': ['Role', 'Nonsense'] }) },
      'AWS::IAM::Role Role has no local attribute Nonsense',
    ],
    [
      'a function without its asset path',
      { Role: role, F: { ...lambda(), Metadata: {} } },
      'AWS::Lambda::Function F: no aws:asset:path',
    ],
    [
      'a cron schedule',
      {
        Role: role,
        F: lambda(),
        R: {
          Type: 'AWS::Events::Rule',
          Properties: {
            ScheduleExpression: 'cron(0 0 * * ? *)',
            Targets: [{ Arn: { 'Fn::GetAtt': ['F', 'Arn'] } }],
          },
        },
      },
      'AWS::Events::Rule R: ScheduleExpression cron',
    ],
    [
      'a target that is not a function',
      {
        R: {
          Type: 'AWS::Events::Rule',
          Properties: { EventPattern: {}, Targets: [{ Arn: 'arn:aws:sqs:q' }] },
        },
      },
      'AWS::Events::Rule R: target arn:aws:sqs:q is not a function',
    ],
    [
      'a websocket API',
      { A: { Type: 'AWS::ApiGatewayV2::Api', Properties: { ProtocolType: 'WEBSOCKET' } } },
      'AWS::ApiGatewayV2::Api A: ProtocolType',
    ],
    [
      'an HTTP integration',
      {
        I: {
          Type: 'AWS::ApiGatewayV2::Integration',
          Properties: {
            IntegrationType: 'HTTP_PROXY',
            IntegrationUri: 'https://x',
            PayloadFormatVersion: '2.0',
          },
        },
      },
      'AWS::ApiGatewayV2::Integration I: IntegrationType',
    ],
    [
      'a route with an authorizer',
      {
        R: {
          Type: 'AWS::ApiGatewayV2::Route',
          Properties: { RouteKey: 'GET /', Target: 'x', AuthorizationType: 'JWT' },
        },
      },
      'AWS::ApiGatewayV2::Route R: AuthorizationType',
    ],
    [
      'a queue that feeds a function',
      { M: { Type: 'AWS::Lambda::EventSourceMapping' } },
      'AWS::Lambda::EventSourceMapping M: this type is not served',
    ],
    [
      'a secret in the template',
      { S: { Type: 'AWS::SecretsManager::Secret', Properties: { SecretString: 'x' } } },
      'AWS::SecretsManager::Secret S: SecretString',
    ],
    [
      'a substitution that is not given',
      { S: { Type: 'AWS::StepFunctions::StateMachine', Properties: { DefinitionString: '${None}' } } },
      'AWS::StepFunctions::StateMachine S: DefinitionSubstitutions has no None',
    ],
  ])('%s is refused with the name of the resource', async (_name, resources, message) => {
    await expect(read(resources)).rejects.toThrow(message);
  });

  test('conditions, mappings and text functions are resolved', async () => {
    const T = table({
      'Fn::Join': [
        '-',
        [
          { 'Fn::If': ['InVirginia', 'a', 'b'] },
          { 'Fn::If': ['Never', 'c', { Ref: 'AWS::NoValue' }] },
          { 'Fn::Select': [1, { 'Fn::Split': ['/', 'd/e/f'] }] },
          { 'Fn::Sub': '${AWS::Region}.${Role.Arn}.${!literal}' },
          { 'Fn::Sub': ['${x}', { x: { 'Fn::FindInMap': ['M', { Ref: 'AWS::Region' }, 'k'] } }] },
          { Ref: 'P' },
        ],
      ],
    });
    const { tables } = await read(
      { Role: role, T, Absent: { ...table('x'), Condition: 'Never' } },
      {
        Parameters: { P: { Type: 'String', Default: 'p' } },
        Mappings: { M: { 'us-east-1': { k: 'mapped' } } },
        Conditions: {
          InVirginia: { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] },
          Never: { 'Fn::And': [{ Condition: 'InVirginia' }, { 'Fn::Not': [{ Condition: 'InVirginia' }] }] },
        },
      },
    );
    expect(tables.map(({ name }) => name)).toEqual([
      'a-e-us-east-1.arn:aws:iam::000000000000:role/Role.${literal}-mapped-p',
    ]);
  });

  test("a conditional statement keeps its condition, and AWS's own policies are left out", async () => {
    const Statement = {
      Effect: 'Allow',
      Action: 's3:*',
      Resource: '*',
      Condition: { StringEquals: { 'aws:x': { Ref: 'AWS::Region' } } },
    };
    const { policies } = await read({
      Role: {
        Type: 'AWS::IAM::Role',
        Properties: {
          ManagedPolicyArns: [
            { 'Fn::Sub': 'arn:${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole' },
          ],
          Policies: [{ PolicyName: 'p', PolicyDocument: { Statement } }],
        },
      },
      Empty: role,
    });
    expect(policies).toEqual(
      new Map([
        ['Role', [{ ...Statement, Condition: { StringEquals: { 'aws:x': 'us-east-1' } } }]],
        ['Empty', []],
      ]),
    );
  });
});
