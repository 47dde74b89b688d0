/** The service in a stack of its own, whose logical ids must last, and as a construct in a stack of others. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { CURRENTLY_RECOMMENDED_FLAGS } from 'aws-cdk-lib/cx-api';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, describe, expect, it } from 'vitest';
import { connect } from '../../admin/connect.ts';
import { createClients, type Question } from '../../admin/preflight/asked.ts';
import { runPreflight } from '../../admin/preflight/run.ts';
import { parseSettings } from '../../lib/settings.ts';
import { Darkroom } from '../../lib/darkroom.ts';
import { defaultLimits } from '../../service/contract/limits.ts';
import { template, wordOf } from './template.ts';

interface Resource {
  readonly Type: string;
  readonly DependsOn?: readonly string[];
  readonly Properties?: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs: Readonly<Record<string, { readonly Value: unknown }>>;
}

const folder = mkdtempSync(join(tmpdir(), 'darkroom-construct-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const own = template.toJSON() as Document;

/** The template of one machine takes payments and signs addresses. */
const likeOneMachine = { payments: { stripe: {} }, resultKeys: true };

/** A foreign app with the construct in two stacks. One of them has resources of its own on both sides of Darkroom. */
function foreignApp(
  outdir: string,
  flags: Readonly<Record<string, unknown>>,
): { shop: Document; other: Document } {
  const context = { ...flags, 'aws:cdk:bundling-stacks': [] };
  const app = new App({ outdir: join(folder, outdir), context });
  const stack = new Stack(app, 'Shop');
  const role = new Role(stack, 'Operator', { assumedBy: new AccountRootPrincipal() });
  const images = new Darkroom(stack, 'Images', { resultDays: 7, ...likeOneMachine });
  images.grantAdmin(role);
  images.functions['GenerateImage']?.addEnvironment('OPERATOR', role.roleArn);
  new CfnOutput(stack, 'ApiUrl', { value: images.apiUrl });
  new Darkroom(new Stack(app, 'Other'), 'Images', likeOneMachine);
  app.synth();
  const read = (name: string): Document =>
    JSON.parse(readFileSync(join(folder, outdir, `${name}.template.json`), 'utf8')) as Document;
  return { shop: read('Shop'), other: read('Other') };
}

const plain = foreignApp('plain', {});

const preflightOf = (stackName: string): Parameters<typeof runPreflight>[0] => ({
  ...{ region: 'eu-west-1', settings: parseSettings('test', {}), stackName, withoutAlarms: true },
  traffic: { perSecond: 1, seconds: 1, kind: 'synchronous', isPolled: false },
  clients: createClients('eu-west-1', 'eu-west-1'),
  bedrockModels: [],
  aliasesOf: () => Promise.resolve([]),
  now: () => new Date(0),
});

/** The properties that name a resource. Another name is another resource. */
const names = new Set(
  'AlarmName ApiName DashboardName Domain LogGroupName Name RestApiName StateMachineName'.split(' '),
);

/** The CDK orders the lists of a policy by numbers that it counts in the process. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inOrder(one)]));
  const texts = value.map((one) => JSON.stringify(inOrder(one)));
  return texts.sort();
}

const namesOf = ({ Resources }: Document): string[] =>
  Object.values(Resources).flatMap(({ Type, Properties = {} }) =>
    Object.entries(Properties).flatMap(([property, value]) =>
      names.has(property) ? [`${Type} ${wordOf(value)}`] : [],
    ),
  );

describe('the stack of the service', () => {
  // CloudFormation replaces a resource whose logical id changes: an existing deployment would lose its table.
  it('The logical ids, the names and the outputs are those of every deployment so far', async () => {
    const resources = Object.entries(own.Resources).map(([id, { Type, Properties = {} }]) => {
      const named = Object.entries(Properties).flatMap(([property, value]) =>
        names.has(property) ? [wordOf(value)] : [],
      );
      // The ids of versions and deployments have the hash of what they are made of.
      return [id.replace(/(CurrentVersion|Deployment)[0-9A-F]{8}[0-9a-f]{32}$/, '$1'), Type, ...named].join(
        ' ',
      );
    });
    const outputs = Object.keys(own.Outputs).map((id) => `output ${id}`);
    const text = [...resources, ...outputs].sort().join('\n');
    // Only for a resource that is new, or goes for good: `npm test -- test/stack/construct.test.ts -u`.
    await expect(`${text}\n`).toMatchFileSnapshot('logical-ids.txt');
  });
});

describe('the construct', () => {
  it('A foreign stack gets the resources of the stack of the service, and nothing refers to itself in a circle', () => {
    const count = ({ Resources }: Document): number =>
      Object.values(Resources).filter(({ Type }) => Type !== 'AWS::CDK::Metadata').length;
    expect(count(plain.other)).toBe(count(own));
    // Role and policy of the operator.
    expect(count(plain.shop)).toBe(count(own) + 2);
    const [, protection] =
      Object.entries(plain.shop.Resources).find(([, { Type }]) => Type === 'Custom::TableProtection') ?? [];
    expect(protection?.DependsOn?.filter((id) => !id.startsWith('Images'))).toEqual([]);
    expect(protection?.DependsOn?.length).toBeGreaterThan(250);
  });

  it('The outputs are those of the stack of the service, and begin with Darkroom', () => {
    const outputs = Object.keys(own.Outputs).map((name) => `Darkroom${name}`);
    expect(Object.keys(plain.shop.Outputs).sort()).toEqual([...outputs, 'ApiUrl'].sort());
  });

  it('The operator’s command and the preflight find each service by the outputs of its stack', async () => {
    const cloudFormation = mockClient(CloudFormationClient);
    const sts = mockClient(STSClient);
    sts.on(GetCallerIdentityCommand).resolves({ Account: '111122223333', Arn: 'arn:aws:iam::1:user/x' });
    for (const [StackName, { Outputs }] of Object.entries({ Shop: plain.shop, Other: plain.other })) {
      // Some are the other app's own.
      const named = ['PortalUrl', 'TableName', 'ApiUrl', ...Object.keys(Outputs)].map((name) => ({
        OutputKey: name,
        OutputValue:
          name === 'DarkroomDefaultLimits' ? JSON.stringify(defaultLimits) : `${name} of ${StackName}`,
      }));
      cloudFormation.on(DescribeStacksCommand, { StackName }).resolves({
        Stacks: [{ StackName, CreationTime: new Date(0), StackStatus: 'CREATE_COMPLETE', Outputs: named }],
      });
    }
    for (const stack of ['Shop', 'Other']) {
      const { portalUrl, releases } = await connect({ data: '', stack });
      expect([portalUrl, releases.stateMachineArns]).toEqual([
        `DarkroomPortalUrl of ${stack}`,
        ['State', 'Callback', 'Notice'].map((kind) => `Darkroom${kind}MachineArn of ${stack}`),
      ]);
      let outputs: ReadonlyMap<string, string> = new Map();
      const question: Question = {
        title: 'outputs',
        ask: async (asked) => {
          ({ outputs } = await asked.stack());
          return [];
        },
      };
      await runPreflight(preflightOf(stack), () => undefined, [question]);
      expect([...outputs.keys()].sort()).toEqual(Object.keys(own.Outputs).sort());
      expect(outputs.get('TableName')).toBe(`DarkroomTableName of ${stack}`);
    }
    cloudFormation.restore();
    sts.restore();
  });

  it('The names of resources are those of the construct, and not of its stack', () => {
    const named = namesOf(plain.shop);
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter((name) => !/shop-?images/i.test(name))).toEqual([]);
    expect(namesOf(plain.other).filter((name) => named.includes(name))).toEqual([]);
  });

  it('The flags of a foreign app change no resource of the service', () => {
    const every = Object.fromEntries(
      Object.entries(CURRENTLY_RECOMMENDED_FLAGS).map(([flag, value]) => [
        flag,
        typeof value === 'boolean' ? true : value,
      ]),
    );
    expect(inOrder(foreignApp('flags', every).other.Resources)).toEqual(inOrder(plain.other.Resources));
  });

  it('A second construct in a stack is refused with a sentence that says what to do', () => {
    const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Shop');
    new Darkroom(stack, 'Images');
    expect(() => new Darkroom(stack, 'Drafts')).toThrow(
      'The stack Shop holds Shop/Images already, and a second Darkroom would pass the 500 resources that CloudFormation takes: put Shop/Drafts into a stack of its own.',
    );
  });

  it('A wrong setting is refused with a line for each field', () => {
    const stack = new Stack(new App(), 'Shop');
    expect(() => new Darkroom(stack, 'Images', { resultDays: 0, canary: { everyMinutes: 61 } })).toThrow(
      /^Shop\/Images: resultDays: must be a whole number from 1 to 3650 \(is 0\)\nShop\/Images: canary/,
    );
  });

  it('grantAdmin allows what the operator’s command asks for, in the resources of this service alone', () => {
    const [, policy] =
      Object.entries(plain.shop.Resources).find(([id]) => id.startsWith('OperatorDefaultPolicy')) ?? [];
    const { Statement } = (policy?.Properties?.['PolicyDocument'] ?? {}) as {
      Statement: { Action: string | string[]; Resource: unknown }[];
    };
    const allowed = Statement.map(({ Action, Resource }) => [
      [Action].flat().join(' ').replaceAll(/\w+:/g, ''),
      [Resource].flat().map((resource) => wordOf(resource).replace(/^arn.*?:AWS::AccountId:/, '')),
    ]);
    expect(Object.fromEntries(allowed)).toMatchInlineSnapshot(`
      {
        "BatchGetItem BatchWriteItem ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem": [
          "@ImagesStoreTable",
          "@ImagesStoreTable/index/*",
        ],
        "DeleteFunction ListAliases ListVersionsByFunction": [
          "arn:@AWS::Partition:lambda:@AWS::Region:@AWS::AccountId:function:@ImagesRenderImage",
          "arn:@AWS::Partition:lambda:@AWS::Region:@AWS::AccountId:function:@ImagesRenderImage:*",
          "arn:@AWS::Partition:lambda:@AWS::Region:@AWS::AccountId:function:@ImagesRenderImageSmall",
          "arn:@AWS::Partition:lambda:@AWS::Region:@AWS::AccountId:function:@ImagesRenderImageSmall:*",
          "arn:@AWS::Partition:lambda:@AWS::Region:@AWS::AccountId:function:@ImagesRenderImageLarge",
          "arn:@AWS::Partition:lambda:@AWS::Region:@AWS::AccountId:function:@ImagesRenderImageLarge:*",
          "arn:@AWS::Partition:lambda:@AWS::Region:@AWS::AccountId:function:@ImagesRefundCharge",
          "arn:@AWS::Partition:lambda:@AWS::Region:@AWS::AccountId:function:@ImagesRefundCharge:*",
          "arn:@AWS::Partition:lambda:@AWS::Region:@AWS::AccountId:function:@ImagesDeliverWebhook",
          "arn:@AWS::Partition:lambda:@AWS::Region:@AWS::AccountId:function:@ImagesDeliverWebhook:*",
        ],
        "DescribeExecution DescribeStateMachineForExecution": [
          "arn:@AWS::Partition:states:@AWS::Region:@AWS::AccountId:execution:{"Fn::Select":[6,{"Fn::Split":[":",{"Ref":"ImagesCreationStateMachine8E322230"}]}]}:*",
          "arn:@AWS::Partition:states:@AWS::Region:@AWS::AccountId:execution:{"Fn::Select":[6,{"Fn::Split":[":",{"Ref":"ImagesCreationCallbackMachine8600023E"}]}]}:*",
          "arn:@AWS::Partition:states:@AWS::Region:@AWS::AccountId:execution:{"Fn::Select":[6,{"Fn::Split":[":",{"Ref":"ImagesNoticesStateMachine4830084F"}]}]}:*",
        ],
        "DescribeSecret GetSecretValue PutSecretValue": [
          "@ImagesResultKey",
          "@ImagesPortalOriginSecret",
          "@ImagesPortalIdentityClientSecret",
          "@ImagesPaymentsSecret",
          "@ImagesEncryptionSecret",
          "@ImagesProvidersCredentials",
        ],
        "DescribeStacks": [
          "@AWS::StackId",
        ],
        "DescribeStateMachine ListExecutions StartExecution": [
          "@ImagesCreationStateMachine",
          "@ImagesCreationCallbackMachine",
          "@ImagesNoticesStateMachine",
        ],
        "cognito-AdminCreateUser": [
          "arn:@AWS::Partition:cognito-idp:@AWS::Region:@AWS::AccountId:userpool/@ImagesPortalIdentityUserPool",
        ],
      }
    `);
  });
});
