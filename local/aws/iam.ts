/** The policies of IAM: which grants a call needs, and whether the statements of its caller give them. */
import * as z from 'zod';
import { isObject } from '../json.ts';
import { executionOfToken } from '../step-functions/task-tokens.ts';
import { type AwsCall, localAccount, localRegion, type ServiceName } from './aws-call.ts';
import { AwsError } from './aws-error.ts';
import { localSecretArn } from './secrets.ts';
import { topicArn } from './topics.ts';

const oneOrMore = z.union([z.string(), z.array(z.string())]).optional();

/** A statement of an identity policy. Its intrinsic functions are already resolved. */
export const statementSchema = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.enum(['Allow', 'Deny']),
  Action: oneOrMore,
  NotAction: oneOrMore,
  Resource: oneOrMore,
  NotResource: oneOrMore,
  Condition: z.record(z.string(), z.unknown()).optional(),
});
export type PolicyStatement = Readonly<z.output<typeof statementSchema>>;

/** The caller that may do everything. It is the person at this machine. */
export const operator = 'operator';

/** Throws AccessDeniedException, in AWS's words, for a call that the caller's policies do not allow. */
export interface Authorizer {
  (call: AwsCall): void;
  /** The grants that calls have used so far, as `caller action resource`, without those of the operator. */
  readonly usedGrants: () => ReadonlySet<string>;
}

/** An action on a resource that a policy must allow for a call. */
interface NeededGrant {
  readonly action: string;
  readonly resource: string;
  /** The partition keys of the items that the call writes: `dynamodb:LeadingKeys`. Absent: it writes none. */
  readonly leadingKeys?: readonly string[];
}

/** Checks every call against the policies of the caller's role. A caller without policies may do nothing. */
export function createAuthorizer(policies: ReadonlyMap<string, readonly PolicyStatement[]>): Authorizer {
  const statements = new Map([...policies].map(([caller, list]) => [caller, list.map(compile)]));
  const coveringOf = new Map<string, readonly CompiledStatement[]>();
  const used = new Set<string>();

  function authorize(call: AwsCall): void {
    if (call.caller === operator) return;
    for (const { action, resource, ...facts } of neededGrants(call)) {
      const grant = `${call.caller} ${action} ${resource}`;
      const covering =
        coveringOf.get(grant) ??
        (statements.get(call.caller) ?? []).filter((statement) => statement.covers(action, resource));
      coveringOf.set(grant, covering);
      const because = refusalOf(covering, facts, action);
      if (because !== undefined)
        throw new AwsError(
          'AccessDeniedException',
          `User: arn:aws:sts::${localAccount}:assumed-role/${call.caller} is not authorized to perform: ${action} on resource: ${resource} ${because}`,
        );
      used.add(grant);
    }
  }
  return Object.assign(authorize, { usedGrants: (): ReadonlySet<string> => used });
}

/** The values of a call that conditions compare. */
type Facts = Pick<NeededGrant, 'leadingKeys'>;

interface CompiledStatement {
  readonly effect: PolicyStatement['Effect'];
  /** Whether the condition of the statement holds. Undefined: this check does not understand it. */
  readonly holds: (facts: Facts) => boolean | undefined;
  readonly covers: (action: string, resource: string) => boolean;
}

function compile(statement: PolicyStatement): CompiledStatement {
  const coversAction = matcher(statement.Action, statement.NotAction, 'i');
  const coversResource = matcher(statement.Resource, statement.NotResource, '');
  return {
    effect: statement.Effect,
    holds: conditionOf(statement.Condition),
    covers: (action, resource) => coversAction(action) && coversResource(resource),
  };
}

const leadingKeysSchema = z.strictObject({
  'ForAllValues:StringLike': z.strictObject({
    'dynamodb:LeadingKeys': z.union([z.string(), z.array(z.string())]),
  }),
});

/** Understands one condition: the partition keys of the items are like one of these patterns. */
function conditionOf(condition: PolicyStatement['Condition']): CompiledStatement['holds'] {
  if (condition === undefined) return () => true;
  const parsed = leadingKeysSchema.safeParse(condition);
  if (!parsed.success) return () => undefined;
  const patterns = [parsed.data['ForAllValues:StringLike']['dynamodb:LeadingKeys']].flat();
  const likeOne = patterns.map((pattern) => wildcard(pattern));
  // IAM lets a call without the key pass. Each write has one, and no read is granted by this condition.
  return ({ leadingKeys }) => leadingKeys?.every((key) => likeOne.some((pattern) => pattern.test(key)));
}

function matcher(
  listed: PolicyStatement['Action'],
  excluded: PolicyStatement['Action'],
  flags: string,
): (text: string) => boolean {
  // A statement with neither list is not valid. It must not cover everything.
  if (listed === undefined && excluded === undefined) return () => false;
  const patterns = [listed ?? excluded ?? []].flat().map((pattern) => wildcard(pattern, flags));
  return (text) => patterns.some((pattern) => pattern.test(text)) === (listed !== undefined);
}

/** The wildcards of IAM and of CloudFront: `*` stands for any text, `?` for one character. */
export function wildcard(pattern: string, flags = ''): RegExp {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, flags);
}

/** Why IAM refuses, or undefined. A condition that this check does not know never allows and always denies. */
function refusalOf(covering: readonly CompiledStatement[], facts: Facts, action: string): string | undefined {
  if (covering.some(({ effect, holds }) => effect === 'Deny' && holds(facts) !== false))
    return 'with an explicit deny in an identity-based policy';
  if (covering.some(({ holds }) => holds(facts) === true)) return undefined;
  return `because no identity-based policy allows the ${action} action`;
}

export function neededGrants(call: AwsCall): readonly NeededGrant[] {
  return grantsOfService[call.service](call);
}

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
  secretsmanager: ({ operation, input }) => {
    const id = text(input, 'SecretId') || text(input, 'Name');
    const resource = id.startsWith('arn:') ? id : localSecretArn(id);
    return [{ action: `secretsmanager:${operation}`, resource }];
  },
  lambda: ({ operation, input }) => [
    {
      action: `lambda:${operation}`,
      resource: `arn:aws:lambda:${localRegion}:${localAccount}:function:${text(input, 'FunctionName')}`,
    },
  ],
  sns: ({ operation, input }) => [
    { action: `sns:${operation}`, resource: text(input, 'TopicArn') || topicArn(text(input, 'Name')) },
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
function leadingKeysOf(...requests: readonly unknown[]): Facts {
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

function text(input: Readonly<Record<string, unknown>>, member: string): string {
  const value = input[member];
  return typeof value === 'string' ? value : '';
}
