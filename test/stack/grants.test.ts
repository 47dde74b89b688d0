import { describe, expect, it } from 'vitest';
import type { PolicyStatement } from '../../local/aws/iam.ts';
import { nameOf, resolved, resourcesOf } from './template.ts';

/** Of a function that makes addresses of results. */
const signing = 'key of results: GetSecretValue';

// Without ListBucket S3 answers 403 instead of 404 for an image that is not there.
const renderer = [
  'table: BatchGetItem GetItem Query',
  'table of ACCOUNT# CREATION# NOTICE# OPEN_COUNT#: PutItem UpdateItem',
  'table of HEALTH#: UpdateItem',
  'bucket/results/*: GetObject PutObject',
  'bucket: ListBucket',
  // Of a result that was deleted while they were made.
  'bucket/results/*-480.webp, bucket/results/*-96.webp: DeleteObject',
  // A renderer makes the first attempt to deliver a webhook, with the secret of its account.
  'encryption secret, key of results, provider secret: GetSecretValue',
  'notice machine: StartExecution',
  'models of Bedrock in the catalog: InvokeModel',
  'callback machine: SendTaskHeartbeat SendTaskSuccess',
];

/** Everything that each function may do besides writing to its own log. A new line here is a decision. */
const grants: Readonly<Record<string, readonly string[]>> = {
  ListModels: ['table: BatchGetItem', 'table of ACCOUNT# IP#: UpdateItem'],
  GenerateImage: [
    'table: BatchGetItem GetItem',
    'table of ACCOUNT# CREATION# IP# NOTICE# OPEN_COUNT#: PutItem UpdateItem',
    'bucket/sources/*: PutObject',
    'bucket/uploads/*: GetObject',
    'notice machine, callback machine, state machine: StartExecution',
    signing,
  ],
  // It signs a client's PUT. It can neither read uploads nor list them.
  CreateUpload: [
    'table: BatchGetItem',
    'table of ACCOUNT# IP#: PutItem UpdateItem',
    'bucket/uploads/*: PutObject',
  ],
  QuoteImage: ['table: BatchGetItem', 'table of ACCOUNT# IP#: UpdateItem'],
  // It also lists the log of refused requests.
  ListCreations: [
    'table: BatchGetItem Query',
    'table of ACCOUNT# IP#: UpdateItem',
    'table/index/listing: Query',
    signing,
  ],
  // It reads an account's own items, and gives events their positions in the log.
  ListEvents: ['table: BatchGetItem GetItem Query', 'table of ACCOUNT# IP#: DeleteItem UpdateItem', signing],
  // It reads where the automatic top-up stands.
  GetBalance: ['table: BatchGetItem GetItem', 'table of ACCOUNT# IP#: UpdateItem'],
  GetCreation: ['table: BatchGetItem', 'table of ACCOUNT# CREATION# IP#: UpdateItem', signing],
  CancelCreation: [
    'table: BatchGetItem GetItem',
    'table of ACCOUNT# CREATION# IP# NOTICE# OPEN_COUNT#: PutItem UpdateItem',
    'provider secret: GetSecretValue',
    'callback machine: SendTaskFailure',
  ],
  // It deletes objects whose keys it reads in a record of the client's own account.
  DeleteCreation: [
    'table: BatchGetItem',
    'table of ACCOUNT# CREATION# IP#: UpdateItem',
    'bucket/results/*, bucket/sources/*: DeleteObject',
  ],
  WebhookEndpoints: [
    'encryption secret, key of results: GetSecretValue',
    'notice machine: StartExecution',
    'table of ACCOUNT# CREATION# NOTICE#: PutItem UpdateItem',
    'table of ACCOUNT# IP#: UpdateItem',
    'table of ACCOUNT#: DeleteItem',
    'table: BatchGetItem GetItem',
  ],
  UserTokens: ['table: BatchGetItem', 'table of ACCOUNT# IP#: PutItem UpdateItem'],
  UnknownRoute: ['table: BatchGetItem', 'table of ACCOUNT# IP#: UpdateItem'],
  // Only RenderImage renders from source images.
  RenderImageSmall: renderer,
  RenderImageLarge: renderer,
  RenderImage: [...renderer, 'bucket/sources/*: GetObject'],
  ReceiveCallback: [
    'table: BatchGetItem GetItem Query',
    'table of ACCOUNT# CREATION# NOTICE# OPEN_COUNT#: PutItem UpdateItem',
    'table of HEALTH#: UpdateItem',
    'bucket/results/*: PutObject',
    'bucket/results/*-480.webp, bucket/results/*-96.webp: DeleteObject',
    'encryption secret, key of results, provider secret: GetSecretValue',
    'notice machine: StartExecution',
    'callback machine: SendTaskFailure SendTaskSuccess',
  ],
  RefundCharge: ['table: GetItem', 'table of ACCOUNT# CREATION# NOTICE# OPEN_COUNT#: PutItem UpdateItem'],
  DeliverWebhook: [
    'table: BatchGetItem GetItem Query',
    'table of ACCOUNT# CREATION# NOTICE# OPEN_COUNT#: PutItem UpdateItem',
    'bucket/results/*: GetObject',
    'encryption secret, key of results: GetSecretValue',
    'arn:aws:sns:us-east-1:000000000000:Darkroom-mail-*: ListSubscriptionsByTopic Publish',
    'notice machine: StartExecution',
  ],
  Reconcile: [
    'table: BatchGetItem',
    'table of ACCOUNT# CREATION# NOTICE# OPEN_COUNT# SERVICE: PutItem UpdateItem',
    'table/index/open_work: Query',
    'notice machine, callback machine, state machine: StartExecution',
    'callback executions, executions: DescribeExecution',
  ],
  PortalSignIn: [
    'table: BatchGetItem GetItem Query',
    'table of ACCOUNT# INVITED# IP# PERSON# SERVICE SESSION#: DeleteItem PutItem UpdateItem',
    'encryption secret, client secret, origin secret: GetSecretValue',
    'arn:aws:sns:us-east-1:000000000000:Darkroom-mail-*: CreateTopic DeleteTopic ListSubscriptionsByTopic Subscribe',
  ],
  // Of all that it shows it writes only the sums of days that are over.
  PortalRead: [
    'table: BatchGetItem GetItem Query',
    'table of ACCOUNT# IP# SESSION#: BatchWriteItem UpdateItem',
    'table/index/listing, table/index/open_work: Query',
    'key of results, origin secret: GetSecretValue',
  ],
  PortalManage: [
    'table: BatchGetItem GetItem Query',
    'table of ACCOUNT# CREATION# INVITED# IP# NOTICE# OPEN_COUNT# PERSON# SESSION#: DeleteItem PutItem UpdateItem',
    'encryption secret, origin secret: GetSecretValue',
    'user pool: AdminCreateUser',
    'arn:aws:sns:us-east-1:000000000000:Darkroom-mail-*: DeleteTopic',
    'notice machine, callback machine, state machine: StartExecution',
  ],
  // What GenerateImage, QuoteImage and CreateUpload may do.
  PortalGenerate: [
    'table: BatchGetItem GetItem',
    'table of ACCOUNT# CREATION# IP# NOTICE# OPEN_COUNT# SESSION#: PutItem UpdateItem',
    'bucket/sources/*, bucket/uploads/*: PutObject',
    'bucket/uploads/*: GetObject',
    'origin secret: GetSecretValue',
    'notice machine, callback machine, state machine: StartExecution',
  ],
  PortalCancel: [
    'table: BatchGetItem GetItem',
    'table of ACCOUNT# CREATION# IP# NOTICE# OPEN_COUNT# SESSION#: PutItem UpdateItem',
    'origin secret, provider secret: GetSecretValue',
    'callback machine: SendTaskFailure',
  ],
  PortalPay: [
    'table: BatchGetItem GetItem Query',
    'table of ACCOUNT# IP# NOTICE# SESSION#: PutItem UpdateItem',
    'table/index/open_work: Query',
    'payment secret, origin secret: GetSecretValue',
    'notice machine: StartExecution',
  ],
  ReceivePayment: [
    'table: BatchGetItem GetItem',
    'table of ACCOUNT# NOTICE#: PutItem UpdateItem',
    'payment secret: GetSecretValue',
    'notice machine: StartExecution',
  ],
  FollowPayments: [
    'table: BatchGetItem GetItem',
    'table of ACCOUNT# NOTICE# PAYMENTS: ConditionCheckItem PutItem UpdateItem',
    'table/index/open_work: Query',
    'payment secret: GetSecretValue',
    'notice machine: StartExecution',
  ],
  PortalOperate: [
    'table: BatchGetItem GetItem Query',
    'table of ACCOUNT# INVITED# IP# NOTICE# SERVICE SESSION#: PutItem UpdateItem',
    'table/index/listing: Query',
    'origin secret: GetSecretValue',
    'user pool: AdminCreateUser',
    'notice machine: StartExecution',
  ],
  // Beside the functions that sign deliveries and the portal, only this one opens webhook secrets.
  OperatorApi: [
    'table: BatchGetItem GetItem Query',
    'table of ACCOUNT# EXTERNAL# IP# NOTICE# OPERATOR_KEY# SERVICE: DeleteItem PutItem UpdateItem',
    'table/index/listing: Query',
    'encryption secret: GetSecretValue',
  ],
  // It empties the bucket when the stack is deleted.
  PublishPages: ['bucket of the pages/*: DeleteObject PutObject', 'bucket of the pages: ListBucket'],
  // Only its own table, whatever the setting restoredTable says.
  // It also makes the first key that signs addresses of results.
  ProtectTable: ['table: DescribeTable UpdateTable', 'key of results: GetSecretValue PutSecretValue'],
  // What GenerateImage may do, and it finds the tries of a call and reads the images that it answers.
  OpenaiImages: [
    'table: BatchGetItem GetItem Query',
    'table of ACCOUNT# CREATION# IP# NOTICE# OPEN_COUNT#: PutItem UpdateItem',
    'bucket/sources/*: PutObject',
    'bucket/results/*, bucket/uploads/*: GetObject',
    'notice machine, callback machine, state machine: StartExecution',
    signing,
  ],
  OpenaiModels: ['table: BatchGetItem', 'table of ACCOUNT# IP#: UpdateItem'],
  // What the operations behind its tools may do, and it reads the images that it answers.
  Mcp: [
    'table: BatchGetItem GetItem',
    'table of ACCOUNT# CREATION# IP# NOTICE# OPEN_COUNT#: PutItem UpdateItem',
    'table/index/listing: Query',
    'bucket/sources/*: PutObject',
    'bucket/results/*, bucket/uploads/*: GetObject',
    'notice machine, callback machine, state machine: StartExecution',
    'key of results, provider secret: GetSecretValue',
    'callback machine: SendTaskFailure',
  ],
  EraseContent: [
    'table: BatchGetItem GetItem Query',
    'table of ACCOUNT# CREATION# ERASE: DeleteItem PutItem UpdateItem',
    'table/index/listing, table/index/open_work: Query',
    'bucket/results/*, bucket/sources/*: DeleteObject',
  ],
  // The audit repairs nothing: it writes only how far it is.
  AuditBooks: [
    'table: BatchGetItem GetItem Query',
    'table of AUDIT CLOSING#: PutItem',
    'table/index/listing: Query',
  ],
};

const listed = (value: string | readonly string[] | undefined): readonly string[] => [value ?? []].flat();

/** A resource's ARN as the table above calls it. */
function shortName(arn: string): string {
  return arn
    .replace(/^arn:aws:dynamodb:.*:table\/[^/]+/, 'table')
    .replace(/^arn:aws:s3:::portalpages[^/]+/, 'bucket of the pages')
    .replace(/^arn:aws:s3:::[^/]+/, 'bucket')
    .replace(/^arn:aws:secretsmanager:.*:secret:PortalOriginSecret.*$/, 'origin secret')
    .replace(/^arn:aws:secretsmanager:.*:secret:PortalIdentityClientSecret.*$/, 'client secret')
    .replace(/^arn:aws:secretsmanager:.*:secret:ImagesResultKey.*$/, 'key of results')
    .replace(/^arn:aws:secretsmanager:.*:secret:PaymentsSecret.*$/, 'payment secret')
    .replace(/^arn:aws:cognito-idp:.*:userpool\/PortalIdentityUserPool[^/*]*$/, 'user pool')
    .replace(/^arn:aws:secretsmanager:.*:secret:EncryptionSecret.*$/, 'encryption secret')
    .replace(/^arn:aws:secretsmanager:.*:secret:Providers.*$/, 'provider secret')
    .replace(/^arn:aws:bedrock:[^:]+::foundation-model\/[^*]+$/, 'models of Bedrock in the catalog')
    .replace(/^arn:aws:states:.*:stateMachine:Darkroom-notices$/, 'notice machine')
    .replace(/^arn:aws:states:.*:stateMachine:CreationCallbackMachine[^:*]*$/, 'callback machine')
    .replace(/^arn:aws:states:.*:stateMachine:CreationStateMachine[^:*]*$/, 'state machine')
    .replace(/^arn:aws:states:.*:execution:CreationCallbackMachine[^:*]*:\*$/, 'callback executions')
    .replace(/^arn:aws:states:.*:execution:CreationStateMachine[^:*]*:\*$/, 'executions');
}

/** The partitions of a condition: " of ACCOUNT# IP#". */
function partitionsOf(condition: PolicyStatement['Condition']): string {
  if (condition === undefined) return '';
  const { 'ForAllValues:StringLike': like, ...others } = condition as Record<
    string,
    Record<string, string[]>
  >;
  expect(others).toEqual({});
  expect(Object.keys(like ?? {})).toEqual(['dynamodb:LeadingKeys']);
  return ` of ${(like?.['dynamodb:LeadingKeys'] ?? []).map((pattern) => pattern.replace('*', '')).join(' ')}`;
}

function describeStatement({ Effect, Action, Resource, Condition }: PolicyStatement): string {
  const resources = [...new Set(listed(Resource).map((arn) => shortName(arn) + partitionsOf(Condition)))];
  const actions = listed(Action).map((action) => action.slice(action.indexOf(':') + 1));
  return `${Effect === 'Allow' ? '' : `${Effect} `}${resources.join(', ')}: ${actions.sort().join(' ')}`;
}

function isOfLogs({ Action }: PolicyStatement): boolean {
  return listed(Action).every((action) => action.startsWith('logs:'));
}

describe('what a function may do', () => {
  it('Only the functions of people write sessions, and only the sign-in and the changes of people write a person', () => {
    const writersOf = (partition: string): string[] =>
      resolved.functions
        .filter(({ roleId }) =>
          (resolved.policies.get(roleId) ?? []).some(
            (statement) =>
              listed(statement.Action).some((action) =>
                /^dynamodb:\w*(Put|Update|Delete|Write)/.test(action),
              ) &&
              (statement.Condition === undefined || partitionsOf(statement.Condition).includes(partition)),
          ),
        )
        .map(({ id }) => nameOf(id))
        .filter((name) => name !== 'ProtectTable')
        .sort();
    const ofPortal = ['Cancel', 'Generate', 'Manage', 'Operate', 'Pay', 'Read', 'SignIn'];
    expect(writersOf('SESSION#')).toEqual(ofPortal.map((name) => `Portal${name}`));
    expect(writersOf('PERSON#')).toEqual(['PortalManage', 'PortalSignIn']);
  });

  it('Only the three functions of payments read the secret of Stripe', () => {
    const readers = resolved.functions.filter(({ roleId }) =>
      (resolved.policies.get(roleId) ?? []).some(
        ({ Action, Resource }) =>
          listed(Action).some((action) => /^(secretsmanager:|\*)/.test(action)) &&
          listed(Resource).some((arn) => /\*|:secret:Payments/.test(arn)),
      ),
    );
    const names = readers.map(({ id }) => nameOf(id)).sort();
    expect(names).toEqual(['FollowPayments', 'PortalPay', 'ReceivePayment']);
  });

  it('This file lists the grants of every function', () => {
    expect(resolved.functions.map(({ id }) => nameOf(id)).sort()).toEqual(Object.keys(grants).sort());
  });

  it.each(resolved.functions.map(({ id, roleId }) => ({ name: nameOf(id), roleId })))(
    'The function $name may do exactly what this file lists, and write to its own log',
    ({ name, roleId }) => {
      const statements = resolved.policies.get(roleId) ?? [];
      const [ofLogs, others] = [statements.filter(isOfLogs), statements.filter((one) => !isOfLogs(one))];
      expect(others.map(describeStatement).sort()).toEqual([...(grants[name] ?? [])].sort());
      const log = new RegExp(`^arn:aws:logs:[^:]+:[^:]+:log-group:${name}Log[0-9A-F]{8}:\\*$`);
      expect(ofLogs).toEqual([
        {
          Effect: 'Allow',
          Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          Resource: expect.stringMatching(log) as string,
        },
      ]);
    },
  );

  it('The grants of a function come from a role of its own without managed policies', () => {
    const roles = resolved.functions.map(({ roleId }) => roleId);
    expect(new Set(roles).size).toBe(roles.length);
    for (const [id, { Properties }] of resourcesOf('AWS::IAM::Role').filter(([roleId]) =>
      roles.includes(roleId),
    )) {
      expect(Properties['ManagedPolicyArns'] ?? [], id).toEqual([]);
    }
  });
});

describe('the state machines', () => {
  const machines = resourcesOf('AWS::StepFunctions::StateMachine').map(([id, { Properties }]) => ({
    name: nameOf(id),
    role: (Properties as { RoleArn: { 'Fn::GetAtt': [string, string] } }).RoleArn['Fn::GetAtt'][0],
  }));

  it('Each state machine has a role of its own', () => {
    expect(new Set(machines.map(({ role }) => role)).size).toBe(3);
  });

  it.each(machines)('$name may only invoke its functions and write its log', ({ name, role }) => {
    const functions =
      name === 'NoticesStateMachine'
        ? ['DeliverWebhook']
        : ['DeliverWebhook', 'RefundCharge', 'RenderImage', 'RenderImageLarge', 'RenderImageSmall'];
    const statements = resolved.policies.get(role) ?? [];
    const invoke = statements.filter(({ Action }) => listed(Action).includes('lambda:InvokeFunction'));
    const invoked = invoke
      .flatMap(({ Resource }) => listed(Resource))
      .map((arn) => nameOf(arn.replace(/^.*:function:/, '').replace(/:\*$/, '')));
    expect([...new Set(invoked)].sort()).toEqual(functions);
    const others = statements
      .filter((statement) => !invoke.includes(statement))
      .flatMap(({ Action }) => listed(Action));
    for (const action of others) expect(action).toMatch(/^logs:/);
  });
});
