import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { servedUnder, withoutPayments } from '../../local/served-template.ts';
import { type LocalTemplate, readTemplate } from '../../local/template.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { newFolder } from './machine-fixture.ts';

const synthesized = await synthesizedTemplate();

describe('the template of the stack that CDK has synthesized', () => {
  const template = readTemplate(synthesized, { apiEndpoint: 'http://127.0.0.1:4000' });
  const { functions, tables, stateMachines, buckets, secrets, distributions, outputs } = template;

  /** The resource with this id, without the hash of CDK. */
  function named<Item extends { readonly id: string }>(items: readonly Item[], name: string): Item {
    const item = items.find(({ id }) => id.slice(0, -8) === name);
    if (item === undefined) throw new Error(`no ${name}`);
    return item;
  }
  const machineArns = ['CreationStateMachine', 'CreationCallbackMachine'].map(
    (name) => named(stateMachines, name).arn,
  );

  test('The operator’s command reads who opens results where a variable of the functions says it', () => {
    const stated = (variables: Readonly<Record<string, string>>): string | undefined =>
      servedUnder('http://127.0.0.1:1', template, variables).outputs['Results'];
    expect([stated({}), stated({ RESULTS: 'signed' })]).toEqual(['unguessable', 'signed']);
  });

  test('A machine that serves others has nothing of payments, and all else', () => {
    const served = withoutPayments(template);
    const lost = functions.filter((fn) => !served.functions.includes(fn));
    expect(lost.map(({ id }) => id.slice(0, -8)).sort()).toEqual([
      'FollowPayments',
      'PortalPay',
      'ReceivePayment',
    ]);
    const ids = new Set(served.functions.map(({ id }) => id));
    for (const { functionId } of [...served.routes, ...served.schedules]) expect(ids).toContain(functionId);
    expect(served.routes.length).toBeLessThan(template.routes.length);
    expect(served.schedules).toHaveLength(template.schedules.length - 1);
    expect(Object.keys(outputs).filter((name) => !(name in served.outputs))).toEqual([
      'PaymentSecretArn',
      'PaymentSettings',
    ]);
  });

  test('A function has its bundle, its role, and an environment with local names', () => {
    const fn = named(functions, 'GenerateImage');
    expect(fn).toMatchObject({ handler: 'index.handler', timeoutSeconds: 29 });
    expect(fn.codeFolder).toMatch(new RegExp(`^${path.dirname(synthesized)}/asset\\.[0-9a-f]{64}$`));
    expect(template.policies.has(fn.roleId)).toBe(true);
    const [images] = named(distributions, 'ImagesDistribution').domains;
    expect(fn.environment).toMatchObject({
      TABLE_NAME: tables[0]?.name,
      STATE_MACHINE_ARN: machineArns[0],
      IMAGES_BUCKET: buckets[0]?.name,
      RESULTS_BASE_URL: `https://${images}`,
    });
    expect(machineArns[0]).toMatch(
      /^arn:aws:states:us-east-1:000000000000:stateMachine:CreationStateMachine/,
    );
  });

  test('Routes, schedule and rule lead to their functions', () => {
    const idOf = (name: string): string => named(functions, name).id;
    const routeKey = 'POST /api/public/v1/images/generate';
    expect(template.routes).toContainEqual({ routeKey, functionId: idOf('GenerateImage') });
    expect(template.schedules).toContainEqual({ functionId: idOf('Reconcile'), everySeconds: 60 });
    expect(template.rules).toEqual([
      {
        functionId: idOf('Reconcile'),
        pattern: {
          source: ['aws.states'],
          'detail-type': ['Step Functions Execution Status Change'],
          detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: machineArns },
        },
      },
    ]);
  });

  test('The table is a valid input of CreateTable', () => {
    expect(tables).toMatchObject([{ ttlAttribute: 'expiresAtSeconds' }]);
    const index = (IndexName: string, hash: string, range: string): object => ({
      IndexName,
      KeySchema: [
        { AttributeName: hash, KeyType: 'HASH' },
        { AttributeName: range, KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    });
    expect(tables[0]?.create).toEqual({
      TableName: tables[0]?.name,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: ['pk', 'sk', 'openShard', 'dueAt', 'listing', 'listed'].map((AttributeName) => ({
        AttributeName,
        AttributeType: AttributeName === 'dueAt' ? 'N' : 'S',
      })),
      GlobalSecondaryIndexes: [
        index('open_work', 'openShard', 'dueAt'),
        index('listing', 'listing', 'listed'),
      ],
    });
  });

  test('The definition of a state machine has its substitutions', () => {
    const { id } = named(functions, 'RenderImage');
    const { definition } = named(stateMachines, 'CreationStateMachine');
    expect(definition).toContain(`arn:aws:lambda:us-east-1:000000000000:function:${id}`);
    expect(definition).not.toContain('${');
  });

  test('The bucket, the secret, the distribution and the outputs have local names', () => {
    expect(buckets[0]?.expirations).toContainEqual({ prefix: 'sources/', days: 1 });
    expect(named(distributions, 'ImagesDistribution').bucket).toBe(buckets[0]?.name);
    const secret = named(secrets, 'EncryptionSecret');
    expect(secret).toMatchObject({
      generate: { PasswordLength: 64 },
      arn: `arn:aws:secretsmanager:us-east-1:000000000000:secret:${secret.name}-AbCdEf`,
    });
    expect(outputs).toMatchObject({ ApiUrl: 'http://127.0.0.1:4000/api/public/v1' });
  });
});

describe('a template on one machine', () => {
  function read(resources: Record<string, unknown>, rest: Record<string, unknown> = {}): LocalTemplate {
    const file = path.join(newFolder(), 'x.template.json');
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

  const one = (id: string, Type: string, Properties?: object): Record<string, unknown> => ({
    [id]: { Type, ...(Properties && { Properties }) },
  });

  test.each<[string, Record<string, unknown>]>([
    [
      'AWS::DynamoDB::Table T: the intrinsic function Fn::Base64 is not supported',
      { T: table({ 'Fn::Base64': 'x' }) },
    ],
    ['AWS::DynamoDB::Table T: None is neither a resource nor a parameter', { T: table({ Ref: 'None' }) }],
    [
      'AWS::IAM::Role Role has no local attribute Nonsense',
      { Role: role, T: table({ 'Fn::GetAtt': ['Role', 'Nonsense'] }) },
    ],
    ['AWS::Lambda::Function F: no aws:asset:path', { Role: role, F: { ...lambda(), Metadata: {} } }],
    [
      'AWS::Events::Rule R: ScheduleExpression cron',
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
    ],
    [
      'AWS::Events::Rule R: target arn:aws:sqs:q is not a function',
      one('R', 'AWS::Events::Rule', { EventPattern: {}, Targets: [{ Arn: 'arn:aws:sqs:q' }] }),
    ],
    [
      'AWS::ApiGatewayV2::Api A: ProtocolType',
      one('A', 'AWS::ApiGatewayV2::Api', { ProtocolType: 'WEBSOCKET' }),
    ],
    [
      'AWS::ApiGatewayV2::Integration I: IntegrationType',
      one('I', 'AWS::ApiGatewayV2::Integration', {
        IntegrationType: 'HTTP_PROXY',
        IntegrationUri: 'https://x',
        PayloadFormatVersion: '2.0',
      }),
    ],
    [
      'AWS::ApiGatewayV2::Route R: AuthorizationType',
      one('R', 'AWS::ApiGatewayV2::Route', { RouteKey: 'GET /', Target: 'x', AuthorizationType: 'JWT' }),
    ],
    [
      'AWS::Lambda::EventSourceMapping M: this type is not served',
      one('M', 'AWS::Lambda::EventSourceMapping'),
    ],
    [
      'AWS::SecretsManager::Secret S: SecretString',
      one('S', 'AWS::SecretsManager::Secret', { SecretString: 'x' }),
    ],
    [
      'AWS::StepFunctions::StateMachine S: DefinitionSubstitutions has no None',
      one('S', 'AWS::StepFunctions::StateMachine', { DefinitionString: '${None}' }),
    ],
  ])('A template is refused with the name of the resource: %s', (message, resources) => {
    expect(() => read(resources)).toThrow(message);
  });

  test('A secret may have a name, and a schedule an input', () => {
    const Target = { Arn: { 'Fn::GetAtt': ['F', 'Arn'] }, Input: '{"a":1}' };
    const { secrets, schedules } = read({
      ...one('S', 'AWS::SecretsManager::Secret', { Name: 'webhook-key', GenerateSecretString: {} }),
      Role: role,
      F: lambda(),
      ...one('E', 'AWS::Scheduler::Schedule', { ScheduleExpression: 'rate(1 minute)', Target }),
    });
    expect(secrets).toMatchObject([{ name: 'webhook-key' }]);
    expect(schedules).toEqual([{ functionId: 'F', everySeconds: 60, input: '{"a":1}' }]);
  });

  test('Conditions, mappings and text functions are resolved', () => {
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
    const { tables } = read(
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

  test("A conditional statement keeps its condition, and AWS's own policies are left out", () => {
    const Statement = {
      Effect: 'Allow',
      Action: 's3:*',
      Resource: '*',
      Condition: { StringEquals: { 'aws:x': { Ref: 'AWS::Region' } } },
    };
    const { policies } = read({
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
