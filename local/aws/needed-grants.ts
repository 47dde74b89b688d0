import { localAccount, localRegion } from './aws-call.ts';
import type { AwsCall, ServiceName } from './aws-call.ts';
import { isObject } from '../json-object.ts';
import { executionOfToken } from '../step-functions/task-tokens.ts';
import { localSecretArn } from './secrets.ts';

/** An action on a resource that a policy must allow for a call. */
export interface NeededGrant {
  readonly action: string;
  readonly resource: string;
  /** The partition keys of the items that the call writes: `dynamodb:LeadingKeys`. Absent: it writes none. */
  readonly leadingKeys?: readonly string[];
}

type Input = Readonly<Record<string, unknown>>;

/** A transaction needs a grant for each of its items (developer guide, "IAM policies for transactions"). */
const actionOfItem: Readonly<Record<string, string>> = {
  Put: 'dynamodb:PutItem',
  Update: 'dynamodb:UpdateItem',
  Delete: 'dynamodb:DeleteItem',
  ConditionCheck: 'dynamodb:ConditionCheckItem',
  Get: 'dynamodb:GetItem',
};

/** The operations of S3 whose action has another name. */
const actionOfS3Operation: Readonly<Record<string, string>> = {
  HeadObject: 's3:GetObject',
  ListObjectsV2: 's3:ListBucket',
};

const grantsOfService: Readonly<Record<ServiceName, (call: AwsCall) => readonly NeededGrant[]>> = {
  dynamodb: dynamodbGrants,
  // A request holds an ARN or a token. Only a list of all state machines holds neither.
  states: ({ operation, input }) => [
    {
      action: `states:${operation}`,
      resource:
        text(input, 'stateMachineArn') ||
        text(input, 'executionArn') ||
        machineOfToken(text(input, 'taskToken')) ||
        '*',
    },
  ],
  secretsmanager: ({ operation, input }) => [
    {
      action: `secretsmanager:${operation}`,
      resource: secretArn(text(input, 'SecretId') || text(input, 'Name')),
    },
  ],
  lambda: ({ operation, input }) => [
    {
      action: `lambda:${operation}`,
      resource: `arn:aws:lambda:${localRegion}:${localAccount}:function:${text(input, 'FunctionName')}`,
    },
  ],
  s3: ({ operation, input }) => {
    const key = text(input, 'Key');
    return [
      {
        action: actionOfS3Operation[operation] ?? `s3:${operation}`,
        resource: `arn:aws:s3:::${text(input, 'Bucket')}${key && `/${key}`}`,
      },
    ];
  },
};

/** All grants that the call needs. */
export function neededGrants(call: AwsCall): readonly NeededGrant[] {
  return grantsOfService[call.service](call);
}

function dynamodbGrants({ operation, input }: AwsCall): readonly NeededGrant[] {
  const action = `dynamodb:${operation}`;
  if (operation.startsWith('Transact')) {
    const items = Array.isArray(input.TransactItems) ? input.TransactItems.filter(isObject) : [];
    return items.flatMap((item) =>
      Object.entries(item)
        .filter(([, request]) => request !== undefined)
        .map(([kind, request]) => ({
          action: actionOfItem[kind] ?? `dynamodb:${kind}`,
          resource: tableArn(text(isObject(request) ? request : {}, 'TableName')),
          ...leadingKeysOf(request),
        })),
    );
  }
  if (operation.startsWith('Batch')) {
    const requests = isObject(input.RequestItems) ? input.RequestItems : {};
    return Object.entries(requests).map(([table, list]) => ({
      action,
      resource: tableArn(table),
      ...leadingKeysOf(...(Array.isArray(list) ? list : []).filter(isObject).flatMap(Object.values<unknown>)),
    }));
  }
  const table = text(input, 'TableName');
  if (table === '') return [{ action, resource: '*' }];
  const index = text(input, 'IndexName');
  return [{ action, resource: tableArn(table) + (index && `/index/${index}`), ...leadingKeysOf(input) }];
}

/** The partition keys that requests with a Key or an Item name. A Query names its partition in an expression. */
function leadingKeysOf(...requests: readonly unknown[]): Pick<NeededGrant, 'leadingKeys'> {
  const leadingKeys = requests.flatMap((request) => {
    const item = isObject(request) ? (request['Key'] ?? request['Item']) : undefined;
    const key = isObject(item) && isObject(item['pk']) ? item['pk']['S'] : undefined;
    return typeof key === 'string' ? [key] : [];
  });
  return leadingKeys.length === 0 ? {} : { leadingKeys };
}

/** AWS documents no resource for the calls with a token, but accepts the ARN of the state machine. */
function machineOfToken(token: string): string {
  const execution = executionOfToken(token) ?? '';
  return execution.slice(0, execution.lastIndexOf(':')).replace(':execution:', ':stateMachine:');
}

function tableArn(nameOrArn: string): string {
  return nameOrArn.startsWith('arn:')
    ? nameOrArn
    : `arn:aws:dynamodb:${localRegion}:${localAccount}:table/${nameOrArn}`;
}

function secretArn(nameOrArn: string): string {
  return nameOrArn.startsWith('arn:') ? nameOrArn : localSecretArn(nameOrArn);
}

function text(input: Input, member: string): string {
  const value = input[member];
  return typeof value === 'string' ? value : '';
}
