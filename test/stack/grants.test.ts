import { describe, expect, it } from 'vitest';
import type { PolicyStatement } from '../../local/aws/iam.ts';
import { nameOf, resolved, resourcesOf } from './template.ts';

/** What each function may do, and nothing else. To add a line here is a decision. */
const grants: Readonly<Record<string, readonly string[]>> = {
  ListModels: ['table: BatchGetItem UpdateItem'],
  GenerateImage: ['table: BatchGetItem GetItem PutItem UpdateItem', 'bucket/sources/*: PutObject', 'state machine: StartExecution'],
  QuoteImage: ['table: BatchGetItem UpdateItem'],
  ListCreations: ['table: BatchGetItem UpdateItem', 'table/index/listing: Query'],
  GetBalance: ['table: BatchGetItem UpdateItem'],
  GetCreation: ['table: BatchGetItem UpdateItem'],
  UnknownRoute: ['table: BatchGetItem UpdateItem'],
  // Without ListBucket S3 answers 403 instead of 404 for an image that is not there.
  RenderImage: ['table: UpdateItem', 'bucket/results/*: GetObject PutObject', 'bucket: ListBucket'],
  RefundCharge: ['table: GetItem PutItem UpdateItem'],
  DeliverWebhook: ['table: GetItem PutItem UpdateItem', 'secret: DescribeSecret GetSecretValue'],
  Reconcile: ['table: GetItem PutItem UpdateItem', 'table/index/open_work: Query', 'state machine: StartExecution', 'executions: DescribeExecution'],
};

const listed = (value: string | readonly string[] | undefined): readonly string[] => (value === undefined ? [] : typeof value === 'string' ? [value] : value);

/** A resource's ARN as the table above calls it. */
function shortName(arn: string): string {
  return arn
    .replace(/^arn:aws:dynamodb:.*:table\/[^/]+/, 'table')
    .replace(/^arn:aws:s3:::[^/]+/, 'bucket')
    .replace(/^arn:aws:secretsmanager:.*$/, 'secret')
    .replace(/^arn:aws:states:.*:stateMachine:.*$/, 'state machine')
    .replace(/^arn:aws:states:.*:execution:[^:*]+:\*$/, 'executions');
}

function describeStatement({ Effect, Action, Resource }: PolicyStatement): string {
  const resources = listed(Resource).map(shortName);
  const actions = listed(Action).map((action) => action.slice(action.indexOf(':') + 1));
  return `${Effect === 'Allow' ? '' : `${Effect} `}${resources.join(', ')}: ${actions.sort().join(' ')}`;
}

const roleOf = (id: string): string => {
  const fn = resolved.functions.find((known) => known.id === id);
  if (!fn) throw new Error(`no function ${id}`);
  return fn.roleId;
};

describe('what a function may do', () => {
  it('is said here for every function', () => {
    expect(resolved.functions.map(({ id }) => nameOf(id)).sort()).toEqual(Object.keys(grants).sort());
  });

  it.each(resolved.functions.map(({ id }) => ({ id, name: nameOf(id) })))('$name', ({ id, name }) => {
    const statements = resolved.policies.get(roleOf(id)) ?? [];
    expect(statements.map(describeStatement).sort()).toEqual([...(grants[name] ?? [])].sort());
  });

  it('contains no wildcard in an action and no resource of everything', () => {
    for (const { id } of resolved.functions) {
      for (const { Action, Resource } of resolved.policies.get(roleOf(id)) ?? []) {
        for (const action of listed(Action)) expect(action).not.toContain('*');
        for (const resource of listed(Resource)) expect(resource).not.toBe('*');
      }
    }
  });

  it('comes from its own role, with the basic log policy of AWS beside it', () => {
    const roles = resolved.functions.map(({ roleId }) => roleId);
    expect(new Set(roles).size).toBe(roles.length);
    for (const [id, { Properties }] of resourcesOf('AWS::IAM::Role').filter(([roleId]) => roles.includes(roleId))) {
      expect(JSON.stringify(Properties['ManagedPolicyArns']), id).toMatch(/^\[\{"Fn::Join":\["",\["arn:",\{"Ref":"AWS::Partition"\},":iam::aws:policy\/service-role\/AWSLambdaBasicExecutionRole"\]\]\}\]$/);
    }
  });
});

describe('the state machine', () => {
  it('may invoke its three functions and write its log', () => {
    const [[, { Properties }] = ['', { Properties: {} }]] = resourcesOf('AWS::StepFunctions::StateMachine');
    const role = (Properties as { RoleArn?: { 'Fn::GetAtt': [string, string] } }).RoleArn?.['Fn::GetAtt'][0] ?? '';
    const statements = resolved.policies.get(role) ?? [];
    const invoke = statements.filter(({ Action }) => listed(Action).includes('lambda:InvokeFunction'));
    const invoked = invoke.flatMap(({ Resource }) => listed(Resource)).map((arn) => nameOf(arn.replace(/^.*:function:/, '').replace(/:\*$/, '')));
    expect([...new Set(invoked)].sort()).toEqual(['DeliverWebhook', 'RefundCharge', 'RenderImage']);
    const others = statements.filter((statement) => !invoke.includes(statement)).flatMap(({ Action }) => listed(Action));
    for (const action of others) expect(action).toMatch(/^logs:/);
  });
});
