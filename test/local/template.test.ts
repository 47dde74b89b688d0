import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTemplate } from '../../local/template.ts';
import type { LocalTemplate } from '../../local/template.ts';
import { temporaryFolder } from './aws/endpoint-fixture.ts';

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
      {
        R: {
          Type: 'AWS::Events::Rule',
          Properties: { EventPattern: {}, Targets: [{ Arn: 'arn:aws:sqs:q' }] },
        },
      },
    ],
    [
      'AWS::ApiGatewayV2::Api A: ProtocolType',
      { A: { Type: 'AWS::ApiGatewayV2::Api', Properties: { ProtocolType: 'WEBSOCKET' } } },
    ],
    [
      'AWS::ApiGatewayV2::Integration I: IntegrationType',
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
    ],
    [
      'AWS::ApiGatewayV2::Route R: AuthorizationType',
      {
        R: {
          Type: 'AWS::ApiGatewayV2::Route',
          Properties: { RouteKey: 'GET /', Target: 'x', AuthorizationType: 'JWT' },
        },
      },
    ],
    [
      'AWS::Lambda::EventSourceMapping M: this type is not served',
      { M: { Type: 'AWS::Lambda::EventSourceMapping' } },
    ],
    [
      'AWS::SecretsManager::Secret S: SecretString',
      { S: { Type: 'AWS::SecretsManager::Secret', Properties: { SecretString: 'x' } } },
    ],
    [
      'AWS::StepFunctions::StateMachine S: DefinitionSubstitutions has no None',
      { S: { Type: 'AWS::StepFunctions::StateMachine', Properties: { DefinitionString: '${None}' } } },
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
