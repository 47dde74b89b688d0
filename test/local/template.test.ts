import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalFunction, type LocalTemplate, readTemplate } from '../../local/template.ts';
import { temporaryFolder } from './aws/endpoint-fixture.ts';
import { synthesize } from './synthesized-stack.ts';

describe('the template of a stack that CDK has synthesized', () => {
  let template: LocalTemplate;
  const folder = mkdtempSync(path.join(tmpdir(), 'darkroom-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeAll(() => {
    template = readTemplate(synthesize(folder), { apiEndpoint: 'http://127.0.0.1:4000' });
  });

  const only = <Item>(items: readonly Item[]): Item => {
    const [item] = items;
    if (item === undefined || items.length > 1) throw new Error(`expected one item, found ${items.length}`);
    return item;
  };

  const theFunction = (name: string): LocalFunction =>
    only(template.functions.filter(({ id }) => id.startsWith(name)));

  test('A function has its bundle, its role, and an environment with local names', () => {
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

  test('Routes, schedule and rule lead to the function', () => {
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

  test('The table is a valid input of CreateTable', () => {
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

  test('The definition of the state machine has its substitutions', () => {
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

  test('The bucket, the secret, the distribution and the outputs have local names', () => {
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
});

describe('a template on one machine', () => {
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
  ])('A template is refused with the name of the resource: %s', async (message, resources) => {
    await expect(read(resources)).rejects.toThrow(message);
  });

  test('Conditions, mappings and text functions are resolved', async () => {
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

  test("A conditional statement keeps its condition, and AWS's own policies are left out", async () => {
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
