import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthorizer } from '../../local/aws/iam.ts';
import { readTemplate } from '../../local/template.ts';
import type { LocalTemplate } from '../../local/template.ts';
import type { LocalFunction } from '../../local/template/compute.ts';
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

  test('The authorizer allows exactly the calls that CDK has granted', () => {
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
