import { DynamoDBClient, GetItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from 'vitest';
import type { AwsCall } from '../../../local/aws/aws-call.ts';
import { createAuthorizer } from '../../../local/aws/iam.ts';
import type { PolicyStatement } from '../../../local/aws/iam.ts';
import { startEndpoint } from './endpoint-fixture.ts';

const tableArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Main';

function verdict(statements: readonly PolicyStatement[], call: Omit<AwsCall, 'caller'>): string {
  const authorize = createAuthorizer(new Map([['Role', statements]]));
  try {
    authorize({ ...call, caller: 'Role' });
    return 'allowed';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const callTo = (
  service: AwsCall['service'],
  operation: string,
  input: Record<string, unknown>,
): Omit<AwsCall, 'caller'> => ({ service, operation, input });
const dynamodb = (operation: string, input: Record<string, unknown>): Omit<AwsCall, 'caller'> =>
  callTo('dynamodb', operation, input);
const allow = (Action: string | string[], Resource: string | string[] = '*'): PolicyStatement => ({
  Effect: 'Allow',
  Action,
  Resource,
});

describe('the grants that a call needs', () => {
  const everyKind = dynamodb('TransactWriteItems', {
    TransactItems: [
      { Update: { TableName: 'Main' } },
      { Put: { TableName: 'Main' } },
      { Delete: { TableName: 'Main' } },
      { ConditionCheck: { TableName: 'Main' } },
    ],
  });

  test('A transaction needs the action of each of its items', () => {
    const all = [
      'dynamodb:UpdateItem',
      'dynamodb:PutItem',
      'dynamodb:DeleteItem',
      'dynamodb:ConditionCheckItem',
    ];
    expect(verdict([allow(all, tableArn)], everyKind)).toBe('allowed');
    for (const missing of all) {
      expect(
        verdict(
          [
            allow(
              all.filter((action) => action !== missing),
              tableArn,
            ),
          ],
          everyKind,
        ),
      ).toContain(`perform: ${missing} on resource: ${tableArn}`);
    }
    expect(verdict([allow('dynamodb:TransactWriteItems')], everyKind)).toContain('dynamodb:UpdateItem');
  });

  test.each<[string, Omit<AwsCall, 'caller'>, string, string]>([
    [
      'a query on an index',
      dynamodb('Query', { TableName: 'Main', IndexName: 'open-work' }),
      'dynamodb:Query',
      `${tableArn}/index/open-work`,
    ],
    ['a batch', dynamodb('BatchGetItem', { RequestItems: { Main: {} } }), 'dynamodb:BatchGetItem', tableArn],
    [
      'a transactional read',
      dynamodb('TransactGetItems', { TransactItems: [{ Get: { TableName: 'Main' } }] }),
      'dynamodb:GetItem',
      tableArn,
    ],
    ['a table named by its ARN', dynamodb('GetItem', { TableName: tableArn }), 'dynamodb:GetItem', tableArn],
    [
      'the start of an execution',
      callTo('states', 'StartExecution', { stateMachineArn: 'arn:sm' }),
      'states:StartExecution',
      'arn:sm',
    ],
    [
      'a description of an execution',
      callTo('states', 'DescribeExecution', { executionArn: 'arn:ex' }),
      'states:DescribeExecution',
      'arn:ex',
    ],
    [
      'the stop of an execution',
      callTo('states', 'StopExecution', { executionArn: 'arn:ex' }),
      'states:StopExecution',
      'arn:ex',
    ],
    [
      'the value of a secret, by its name,',
      callTo('secretsmanager', 'GetSecretValue', { SecretId: 'Key' }),
      'secretsmanager:GetSecretValue',
      'arn:aws:secretsmanager:us-east-1:000000000000:secret:Key-??????',
    ],
    [
      'the value of a secret, by its ARN,',
      callTo('secretsmanager', 'GetSecretValue', { SecretId: 'arn:secret' }),
      'secretsmanager:GetSecretValue',
      'arn:secret',
    ],
    [
      'the head of an object',
      callTo('s3', 'HeadObject', { Bucket: 'b', Key: 'k/x' }),
      's3:GetObject',
      'arn:aws:s3:::b/k/*',
    ],
    [
      'a listing of a bucket',
      callTo('s3', 'ListObjectsV2', { Bucket: 'b' }),
      's3:ListBucket',
      'arn:aws:s3:::b',
    ],
  ])('%s needs the right action on the right resource', (_name, call, action, resource) => {
    expect(verdict([allow(action, resource)], call)).toBe('allowed');
    expect(verdict([allow(action, 'arn:aws:other')], call)).toContain(`perform: ${action} on`);
    expect(verdict([allow('other:Action', resource)], call)).toContain(`perform: ${action} on`);
  });
});

describe('the decision of the statements', () => {
  const read = dynamodb('GetItem', { TableName: 'Main' });

  test.each<[string, PolicyStatement[], boolean]>([
    ['An action matches a wildcard in any case', [allow('DynamoDB:get*', tableArn)], true],
    [
      'A resource matches a wildcard only in the same case',
      [allow('dynamodb:GetItem', 'arn:aws:dynamodb:*:table/main')],
      false,
    ],
    ['A question mark stands for one character', [allow('dynamodb:GetIte?', tableArn)], true],
    ['A dot is not a wildcard', [allow('dynamodb.GetItem', tableArn)], false],
    [
      'A Deny wins over an Allow',
      [{ Effect: 'Deny', Action: 'dynamodb:*', Resource: '*' }, allow('*')],
      false,
    ],
    [
      'A statement with a condition that this check does not understand never allows',
      [{ ...allow('*'), Condition: { StringEquals: { 'aws:x': 'y' } } }],
      false,
    ],
    [
      'An Allow with NotAction does not allow the actions that it names',
      [{ Effect: 'Allow', NotAction: 'dynamodb:GetItem', Resource: '*' }],
      false,
    ],
    [
      'An Allow with NotAction allows all other actions',
      [{ Effect: 'Allow', NotAction: ['dynamodb:PutItem'], Resource: '*' }],
      true,
    ],
    [
      'An Allow with NotResource does not allow the resources that it names',
      [{ Effect: 'Allow', Action: '*', NotResource: tableArn }],
      false,
    ],
    ['A statement without a resource covers nothing', [{ Effect: 'Allow', Action: '*' }], false],
    ['A caller without statements may do nothing', [], false],
  ])('%s', (_name, statements, allowed) => {
    expect(verdict(statements, read) === 'allowed').toBe(allowed);
  });

  describe('A grant for some partitions', () => {
    const leading = (patterns: string | string[]): PolicyStatement => ({
      ...allow(['dynamodb:*Item'], tableArn),
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': patterns } },
    });
    const at = (pk: string): object => ({ TableName: 'Main', Key: { pk: { S: pk }, sk: { S: 'x' } } });
    const granted = (patterns: string | string[], operation: string, input: object): boolean =>
      verdict([leading(patterns)], dynamodb(operation, { ...input })) === 'allowed';

    test('allows an item of a partition that is like one of the patterns, and no other item', () => {
      expect(granted(['IP#*', 'ACCOUNT#*'], 'UpdateItem', at('IP#203.0.113.9'))).toBe(true);
      expect(granted('OPEN_COUNT', 'DeleteItem', at('OPEN_COUNT'))).toBe(true);
      expect(granted(['IP#*', 'ACCOUNT#*'], 'UpdateItem', at('SESSION#1'))).toBe(false);
      expect(granted('OPEN_COUNT', 'UpdateItem', at('OPEN_COUNT#1'))).toBe(false);
      const put = { TableName: 'Main', Item: { pk: { S: 'PERSON#1' }, sk: { S: 'x' } } };
      expect(granted('PERSON#*', 'PutItem', put)).toBe(true);
      expect(granted('SESSION#*', 'PutItem', put)).toBe(false);
    });

    test('checks each item of a transaction and of a batch', () => {
      const transaction = { TransactItems: [{ Update: at('IP#1') }, { Delete: at('PERSON#1') }] };
      expect(granted('IP#*', 'TransactWriteItems', transaction)).toBe(false);
      expect(granted(['IP#*', 'PERSON#*'], 'TransactWriteItems', transaction)).toBe(true);
      const one = (pk: string): object => ({ PutRequest: { Item: { pk: { S: pk }, sk: { S: 'x' } } } });
      const batch = { RequestItems: { Main: [one('IP#1'), one('SESSION#1')] } };
      expect(granted('IP#*', 'BatchWriteItem', batch)).toBe(false);
      expect(granted(['IP#*', 'SESSION#*'], 'BatchWriteItem', batch)).toBe(true);
    });

    test('allows no call that names no partition', () => {
      expect(granted('IP#*', 'GetItem', { TableName: 'Main' })).toBe(false);
    });
  });

  test('The refusal has the words of AWS', () => {
    expect(verdict([], read)).toBe(
      `User: arn:aws:sts::000000000000:assumed-role/Role is not authorized to perform: dynamodb:GetItem on resource: ${tableArn} because no identity-based policy allows the dynamodb:GetItem action`,
    );
    expect(verdict([{ Effect: 'Deny', Action: '*', Resource: '*' }], read)).toContain(
      'with an explicit deny in an identity-based policy',
    );
  });

  test('The operator may do everything, an unknown caller nothing, and a used grant is remembered', () => {
    const authorize = createAuthorizer(new Map([['Role', [allow('*')]]]));
    authorize({ ...read, caller: 'operator' });
    expect(() => authorize({ ...read, caller: 'Stranger' })).toThrow(
      'assumed-role/Stranger is not authorized',
    );
    authorize({ ...read, caller: 'Role' });
    expect([...authorize.usedGrants()]).toEqual([`Role dynamodb:GetItem ${tableArn}`]);
  });
});

test("The SDK gets a refused call with each service's own name for AccessDenied", async () => {
  const fixture = await startEndpoint({ authorize: createAuthorizer(new Map()) });
  const settings = fixture.as('Role');
  const denied = 'AccessDeniedException';
  await expect(
    new DynamoDBClient(settings).send(new GetItemCommand({ TableName: 'Main', Key: {} })),
  ).rejects.toMatchObject({ name: denied });
  await expect(
    new DynamoDBClient(settings).send(
      new TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName: 'Main', Item: {} } }] }),
    ),
  ).rejects.toMatchObject({ name: denied });
  await expect(
    new SecretsManagerClient(settings).send(new GetSecretValueCommand({ SecretId: 'Key' })),
  ).rejects.toMatchObject({ name: denied });
  await expect(
    new S3Client(settings).send(new PutObjectCommand({ Bucket: 'images', Key: 'k', Body: 'x' })),
  ).rejects.toMatchObject({ name: 'AccessDenied', $metadata: { httpStatusCode: 403 } });
});
