import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';

/** A function of a hand-made template: the text of its bundle and its properties in the template. */
export interface FixtureFunction {
  /** The body of the handler. `event`, `context` and the functions of `awsClient` are in scope. */
  readonly code: string;
  /** Code before the handler, at the top of the module. */
  readonly top?: string;
  readonly timeoutSeconds?: number;
  readonly environment?: Readonly<Record<string, unknown>>;
  /** The handler streams its answer: `stream` is in scope as well, and `answer(status, headers)` gives the head. */
  readonly streams?: boolean;
}

/** A hand-made stack: one table, one bucket behind a distribution, and the resources that a test adds. */
export interface FixtureStack {
  readonly functions: Readonly<Record<string, FixtureFunction>>;
  readonly routes?: Readonly<Record<string, string>>;
  /** A definition in Amazon States Language. `${Name}` becomes the ARN of that function. */
  readonly machine?: Record<string, unknown>;
  readonly everyMinute?: string;
  /** The function that gets the event of each failed execution. */
  readonly onFailure?: string;
}

/** Makes a folder, which is removed after the test; after all tests around the call with `afterAll`. */
export function newFolder(atEnd: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'darkroom-local-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The first line that a process prints. The stream flows on, so that the process can print more. */
export async function firstLineOf(output: Readable): Promise<string> {
  const lines: unknown = await once(createInterface({ input: output }), 'line');
  return Array.isArray(lines) ? String(lines[0]) : '';
}

/** Functions for the handlers. They call the local AWS as an SDK does, but without one. */
const awsClient = `
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
async function aws(target, input) {
  const authorization = 'AWS4-HMAC-SHA256 Credential=' + process.env.AWS_ACCESS_KEY_ID + '/x';
  const headers = { 'x-amz-target': target, authorization };
  const body = JSON.stringify(input);
  const response = await fetch(process.env.AWS_ENDPOINT_URL, { method: 'POST', body, headers });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.message), { name: answer.__type.split('#').pop() });
  return answer;
}
const TableName = process.env.TABLE;
const putNote = (pk, sk) =>
  aws('DynamoDB_20120810.PutItem', { TableName, Item: { pk: { S: pk }, sk: { S: String(sk) } } });
const notesOf = async (pk) => {
  const KeyConditionExpression = 'pk = :pk';
  const ExpressionAttributeValues = { ':pk': { S: pk } };
  const query = { TableName, KeyConditionExpression, ExpressionAttributeValues };
  return (await aws('DynamoDB_20120810.Query', query)).Items;
};
const startExecution = (name) => {
  const stateMachineArn = process.env.MACHINE;
  const input = JSON.stringify({ id: name });
  return aws('AWSStepFunctions.StartExecution', { stateMachineArn, name, input });
};
`;

/** Functions for the handlers that stream. */
const streamClient = `
const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis));
/** Waits for an instant of the virtual clock, which a test sets. */
const until = async (instant) => { while (Date.now() < instant) await pause(5) };
`;
const streamScope = `
  const answer = (statusCode, headers = {}) => awslambda.HttpResponseStream.from(stream, { statusCode, headers });
  const write = (part) =>
    new Promise((resolve, reject) => stream.write(part, (error) => (error ? reject(error) : resolve())));
  const end = () => new Promise((resolve) => stream.end(resolve));
`;

/** Writes a bundle's folder. Returns the path of the folder. */
export function writeBundle(
  folder: string,
  id: string,
  { code, top = '', streams = false }: FixtureFunction,
): string {
  const bundle = path.join(folder, `asset.${id}`);
  mkdirSync(bundle, { recursive: true });
  writeFileSync(
    path.join(bundle, 'index.mjs'),
    streams
      ? `${streamClient}\n${top}\nexport const handler = awslambda.streamifyResponse(async (event, stream, context) => {\n${streamScope}\n${code}\n});\n`
      : `${awsClient}\n${top}\nexport async function handler(event, context) {\n${code}\n}\n`,
  );
  return bundle;
}

/** Writes the template and the bundles, as a synthesis does. Returns the template's path. */
export function writeStack(folder: string, stack: FixtureStack): string {
  const resources = storage();
  for (const [id, one] of Object.entries(stack.functions))
    Object.assign(resources, functionResources(folder, id, one));
  resources['Api'] = { Type: 'AWS::ApiGatewayV2::Api', Properties: { Name: 'api', ProtocolType: 'HTTP' } };
  for (const [index, [routeKey, id]] of Object.entries(stack.routes ?? {}).entries())
    Object.assign(resources, routeResources(`Route${index}`, routeKey, id));
  if (stack.machine !== undefined)
    resources['Machine'] = machineResource(stack.machine, Object.keys(stack.functions));
  if (stack.everyMinute !== undefined)
    resources['EveryMinute'] = rule({ ScheduleExpression: 'rate(1 minute)' }, stack.everyMinute);
  if (stack.onFailure !== undefined) {
    const pattern = {
      source: ['aws.states'],
      'detail-type': ['Step Functions Execution Status Change'],
      detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: [{ Ref: 'Machine' }] },
    };
    resources['OnFailure'] = rule({ EventPattern: pattern }, stack.onFailure);
  }
  const file = path.join(folder, 'Fixture.template.json');
  writeFileSync(
    file,
    JSON.stringify({
      Resources: resources,
      Outputs: { ApiUrl: { Value: { 'Fn::GetAtt': ['Api', 'ApiEndpoint'] } } },
    }),
  );
  return file;
}

function storage(): Record<string, unknown> {
  const key = (name: string, type: string): unknown => ({ AttributeName: name, KeyType: type });
  return {
    Table: {
      Type: 'AWS::DynamoDB::GlobalTable',
      Properties: {
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
        ],
        KeySchema: [key('pk', 'HASH'), key('sk', 'RANGE')],
        Replicas: [{ Region: 'us-east-1' }],
      },
    },
    Images: { Type: 'AWS::S3::Bucket', Properties: {} },
    Cdn: {
      Type: 'AWS::CloudFront::Distribution',
      Properties: {
        DistributionConfig: {
          DefaultCacheBehavior: { TargetOriginId: 'images' },
          Origins: [{ Id: 'images', DomainName: { 'Fn::GetAtt': ['Images', 'RegionalDomainName'] } }],
        },
      },
    },
  };
}

function functionResources(folder: string, id: string, one: FixtureFunction): Record<string, unknown> {
  const bundle = writeBundle(folder, id, one);
  const statement = {
    Effect: 'Allow',
    Action: [
      'dynamodb:PutItem',
      'dynamodb:GetItem',
      'dynamodb:Query',
      'states:StartExecution',
      'states:SendTaskSuccess',
    ],
    Resource: '*',
  };
  return {
    [`${id}Role`]: {
      Type: 'AWS::IAM::Role',
      Properties: {
        AssumeRolePolicyDocument: {},
        Policies: [{ PolicyName: 'own', PolicyDocument: { Statement: [statement] } }],
      },
    },
    [id]: {
      Type: 'AWS::Lambda::Function',
      Metadata: { 'aws:asset:path': path.basename(bundle) },
      Properties: {
        Handler: 'index.handler',
        Runtime: 'nodejs24.x',
        Role: { 'Fn::GetAtt': [`${id}Role`, 'Arn'] },
        Timeout: one.timeoutSeconds ?? 20,
        Environment: { Variables: { TABLE: { Ref: 'Table' }, ...one.environment } },
      },
    },
  };
}

function routeResources(name: string, routeKey: string, functionId: string): Record<string, unknown> {
  return {
    [`${name}Integration`]: {
      Type: 'AWS::ApiGatewayV2::Integration',
      Properties: {
        ApiId: { Ref: 'Api' },
        IntegrationType: 'AWS_PROXY',
        IntegrationUri: { 'Fn::GetAtt': [functionId, 'Arn'] },
        PayloadFormatVersion: '2.0',
      },
    },
    [name]: {
      Type: 'AWS::ApiGatewayV2::Route',
      Properties: {
        ApiId: { Ref: 'Api' },
        RouteKey: routeKey,
        Target: { 'Fn::Join': ['/', ['integrations', { Ref: `${name}Integration` }]] },
      },
    },
  };
}

function machineResource(definition: Record<string, unknown>, functionIds: readonly string[]): unknown {
  return {
    Type: 'AWS::StepFunctions::StateMachine',
    Properties: {
      DefinitionString: JSON.stringify(definition),
      DefinitionSubstitutions: Object.fromEntries(
        functionIds.map((id) => [id, { 'Fn::GetAtt': [id, 'Arn'] }]),
      ),
    },
  };
}

function rule(properties: Record<string, unknown>, functionId: string): unknown {
  return {
    Type: 'AWS::Events::Rule',
    Properties: {
      ...properties,
      State: 'ENABLED',
      Targets: [{ Id: 'one', Arn: { 'Fn::GetAtt': [functionId, 'Arn'] } }],
    },
  };
}
