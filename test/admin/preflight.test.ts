/** The preflight asks an account, read only, what would stop a deployment. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CertificateDetail, DescribeCertificateCommand } from '@aws-sdk/client-acm';
import { GetAccountCommand, GetDomainNameCommand } from '@aws-sdk/client-api-gateway';
import { GetFoundationModelAvailabilityCommand } from '@aws-sdk/client-bedrock';
import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { ListDistributionsCommand } from '@aws-sdk/client-cloudfront';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { GetAccountSummaryCommand, SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam';
import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda';
import { ListServiceQuotasCommand } from '@aws-sdk/client-service-quotas';
import { ListSubscriptionsByTopicCommand } from '@aws-sdk/client-sns';
import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Finding, Question } from '../../admin/preflight/asked.ts';
import { preflightCommand, printReport } from '../../admin/preflight/command.ts';
import { bedrockModels, marketplaceRights } from '../../admin/preflight/questions/bedrock.ts';
import {
  alarmEmail,
  bootstrap,
  deploymentRights,
  roles,
  stackState,
} from '../../admin/preflight/questions/deployment.ts';
import { apiDomain, certificates, cloudFront, dns } from '../../admin/preflight/questions/domains.ts';
import {
  gateway,
  lambdaConcurrency,
  settingsForTraffic,
  stepFunctions,
  table,
  tableQuotas,
} from '../../admin/preflight/questions/quotas.ts';
import { NoAccount } from '../../admin/preflight/run.ts';
import {
  accountId,
  ask,
  type Asking,
  awsError,
  distributions,
  findingsOf,
  makeHealthy,
  mockAccount,
  type MockedAccount,
  restoreAll,
  simulated,
  stacks,
  stepFunctionsQuotas,
} from './preflight-account.ts';

let account: MockedAccount;
beforeAll(() => {
  account = mockAccount();
});
beforeEach(() => makeHealthy(account));
afterAll(() => restoreAll(account));

/** A stack that is deployed, with these outputs. */
function deployed(outputs: Readonly<Record<string, string>> = {}, status = 'CREATE_COMPLETE'): void {
  account.cloudFormation
    .on(DescribeStacksCommand, { StackName: 'Darkroom' })
    .resolves(stacks(status, outputs));
}

/** The only finding of the question, or the one whose question begins with the text. */
async function findingOf(question: Question, begin = '', asking: Asking = {}): Promise<Finding> {
  const found = (await findingsOf(question, asking)).filter((one) => one.question.startsWith(begin));
  expect(found).toHaveLength(1);
  return found[0] as Finding;
}

type Finds = (expected: Partial<Finding>, asking?: Asking) => Promise<void>;

/** Expects the finding that `findingOf` finds. */
const about =
  (question: Question, begin = ''): Finds =>
  async (expected, asking) => {
    expect(await findingOf(question, begin, asking)).toMatchObject(expected);
  };

const finds = (question: Question, ...rest: Parameters<Finds>): Promise<void> => about(question)(...rest);

const certificate = (region: string, owner = accountId): string =>
  `arn:aws:acm:${region}:${owner}:certificate/one`;
const apiSettings = {
  apiDomain: { name: 'api.example.com', certificateArn: certificate('us-east-1') },
} as const;
const resultsSettings = {
  resultsDomain: { name: 'images.example.com', certificateArn: certificate('us-east-1') },
} as const;

describe('The whole preflight', () => {
  it('finds nothing that stops a healthy account', async () => {
    const settings = { alarmEmail: 'you@example.com' };
    const { account: asked, findings } = await ask(undefined, { settings });
    expect(asked).toBe(accountId);
    expect(findings.filter(({ level }) => level === 'stops' || level === 'unasked')).toEqual([]);
    expect(findings.length).toBeGreaterThan(20);
  });

  it('names the permission that a question lacks, and asks all other questions', async () => {
    const before = await ask(undefined);
    account.quotas.on(ListServiceQuotasCommand).rejects(awsError('AccessDeniedException'));
    account.lambda.on(GetAccountSettingsCommand).rejects(awsError('AccessDeniedException'));
    const { findings } = await ask(undefined);
    const unasked = findings.filter(({ level }) => level === 'unasked');
    expect(unasked.map(({ question, found }) => `${question}: ${found}`)).toEqual([
      'Lambda: concurrent executions: could not ask: needs lambda:GetAccountSettings',
      'Step Functions: quotas: could not ask: needs servicequotas:ListServiceQuotas',
      'DynamoDB: quotas: could not ask: needs servicequotas:ListServiceQuotas',
    ]);
    const others = ({ findings: all }: typeof before): readonly Finding[] =>
      all.filter(
        ({ question }) => !/^(Lambda|Step|DynamoDB: (quotas|write|read)|Setting starts)/.test(question),
      );
    expect(others({ ...before, findings })).toEqual(others(before));
  });

  it('reports a question that fails for another reason, with that reason', async () => {
    account.iam.on(GetAccountSummaryCommand).rejects(awsError('TimeoutError', 'no answer'));
    await finds(roles, { level: 'unasked', found: 'could not ask: TimeoutError: no answer' });
  });

  it('does not hide a mistake of its own', async () => {
    const broken: Question = { title: 'broken', ask: () => Promise.reject(new TypeError('a mistake')) };
    await expect(ask([broken])).rejects.toThrow('a mistake');
  });

  it('says in one sentence that it has no credentials', async () => {
    account.sts.on(GetCallerIdentityCommand).rejects(awsError('CredentialsProviderError', 'none found'));
    await expect(ask(undefined)).rejects.toThrow(NoAccount);
    await expect(ask(undefined)).rejects.toThrow(/^AWS does not know who asks \(none found\)\./);
  });

  it('only reads: no call of it changes anything', async () => {
    deployed({ TableName: 'table', AlarmTopicArn: 'arn:aws:sns:us-east-1:123456789012:topic' });
    await ask(undefined, {
      settings: { ...apiSettings, ...resultsSettings, alarmEmail: 'you@example.com' },
    });
    const calls = Object.values(account).flatMap((mock) =>
      mock.calls().map(({ args: [command] }) => command.constructor.name),
    );
    expect(calls.length).toBeGreaterThan(15);
    expect(calls.filter((name) => !/^(Get|List|Describe|Simulate)/.test(name))).toEqual([]);
  });
});

describe('CDK bootstrap', () => {
  it('is enough from version 6 on', async () => {
    await finds(bootstrap, { level: 'ok', found: 'version 30' });
  });

  it.each([
    ['no stack CDKToolkit', undefined],
    ['version 5', '5'],
  ])('stops the deployment with %s', async (found, version) => {
    const on = account.cloudFormation.on(DescribeStacksCommand, { StackName: 'CDKToolkit' });
    if (version === undefined) on.rejects(awsError('ValidationError', 'CDKToolkit does not exist'));
    else on.resolves(stacks('CREATE_COMPLETE', { BootstrapVersion: version }));
    await finds(bootstrap, { level: 'stops', found, fix: 'npx cdk bootstrap aws://123456789012/us-east-1' });
  });
});

describe('The stack', () => {
  it.each(['none', 'CREATE_COMPLETE', 'UPDATE_ROLLBACK_COMPLETE'])(
    'can be deployed from %s',
    async (status) => {
      if (status !== 'none') deployed({}, status);
      await finds(stackState, { level: 'ok' });
    },
  );

  it.each([
    ['ROLLBACK_COMPLETE', 'delete-stack'],
    ['DELETE_FAILED', 'delete-stack'],
    ['UPDATE_IN_PROGRESS', 'wait'],
    ['UPDATE_ROLLBACK_FAILED', 'continue-update-rollback'],
  ])('cannot be deployed from %s', async (status, fix) => {
    deployed({}, status);
    const finding = await findingOf(stackState);
    expect(finding).toMatchObject({ level: 'stops', found: `Darkroom is ${status}` });
    expect(finding.fix).toContain(fix);
  });
});

describe('The rights of the deployment', () => {
  const decide = (decisions: Parameters<typeof simulated>[1]): void => {
    account.iam
      .on(SimulatePrincipalPolicyCommand)
      .callsFake(({ ActionNames }: { ActionNames: string[] }) => simulated(ActionNames, decisions));
  };

  it('are those of the role by which CloudFormation deploys', async () => {
    await finds(deploymentRights, { level: 'ok' });
    const [call] = account.iam.commandCalls(SimulatePrincipalPolicyCommand);
    expect(call?.args[0].input.PolicySourceArn).toBe(
      'arn:aws:iam::123456789012:role/cdk-hnb659fds-cfn-exec-role-123456789012-us-east-1',
    );
  });

  it('stop the deployment when a policy denies one', async () => {
    decide({ 'dynamodb:CreateTable': 'explicitDeny', 'lambda:CreateFunction': 'implicitDeny' });
    await finds(deploymentRights, { level: 'stops', found: 'forbidden: dynamodb:CreateTable' });
  });

  it('ask for a budget only when the settings have one', async () => {
    decide({ 'budgets:ModifyBudget': 'explicitDeny' });
    await finds(deploymentRights, { level: 'ok' });
    const settings = { budget: { monthlyUsd: 50 } };
    await finds(deploymentRights, { level: 'stops', found: 'forbidden: budgets:ModifyBudget' }, { settings });
  });

  it('stop the deployment when the organization denies one', async () => {
    account.iam.on(SimulatePrincipalPolicyCommand).resolves({
      EvaluationResults: [
        {
          EvalActionName: 's3:CreateBucket',
          EvalDecision: 'implicitDeny',
          OrganizationsDecisionDetail: { AllowedByOrganizations: false },
        },
      ],
    });
    await finds(deploymentRights, { level: 'stops', found: 'forbidden: s3:CreateBucket' });
  });

  it('may be missing when the role has them for some names only', async () => {
    decide({ 'lambda:CreateFunction': 'implicitDeny' });
    await finds(deploymentRights, {
      level: 'limits',
      found: 'not allowed for every resource: lambda:CreateFunction',
    });
  });

  it('are unknown without the role of the bootstrap', async () => {
    account.iam.on(SimulatePrincipalPolicyCommand).rejects(awsError('NoSuchEntityException'));
    await finds(deploymentRights, { level: 'note' });
  });
});

describe('The room for roles', () => {
  it('is enough for a new stack, and a stack that exists needs none', async () => {
    await finds(roles, { level: 'ok', found: 'room for 900' });
    account.iam.on(GetAccountSummaryCommand).resolves({ SummaryMap: { Roles: 999, RolesQuota: 1_000 } });
    deployed();
    await finds(roles, { level: 'ok' });
  });

  it('stops the deployment of a new stack that does not fit', async () => {
    account.iam.on(GetAccountSummaryCommand).resolves({ SummaryMap: { Roles: 980, RolesQuota: 1_000 } });
    await finds(roles, { level: 'stops', found: 'room for 20' });
  });
});

describe('The executions of Lambda', () => {
  const allow = (all: number, unreserved = all): void => {
    account.lambda.on(GetAccountSettingsCommand).resolves({
      AccountLimit: { ConcurrentExecutions: all, UnreservedConcurrentExecutions: unreserved },
    });
  };
  const concurrent = about(lambdaConcurrency, 'Lambda: concurrent');
  const reserved = about(lambdaConcurrency, 'Lambda: reserved');
  const held = about(lambdaConcurrency, 'Lambda: held');
  const settings = { heldRequests: { images: 100, mcp: 50 } } as const;

  it('are compared with those that the traffic takes', async () => {
    await concurrent({ level: 'ok', found: '1000' });
    await concurrent({ level: 'limits', wanted: 'at least 24000' }, { traffic: { perSecond: 1_000 } });
  });

  it('let the first deployment of a new account with 10 through, and stop it when something is reserved', async () => {
    allow(10);
    await reserved({ level: 'ok' });
    await held({ level: 'ok' });
    const wanted = '150 that the settings reserve, and 100 that stay unreserved';
    await reserved({ level: 'stops', found: '10 free to reserve', wanted }, { settings });
  });

  it('are proposed for held requests where the account has room for them', async () => {
    allow(250);
    const fix = 'heldRequests: { images: 100, mcp: 50 }';
    await held({ level: 'note', found: 'images shared, mcp shared', fix });
    allow(249);
    await held({ level: 'ok' });
    allow(1_000);
    const one = { heldRequests: { images: 20 } } as const;
    await held({ level: 'note', fix: 'heldRequests: { mcp: 50 }' }, { settings: one });
    await held({ level: 'ok' }, { settings });
    await reserved({ level: 'ok' }, { settings });
  });

  it('stop the deployment when other stacks have reserved too much', async () => {
    allow(1_000, 249);
    await reserved({ level: 'stops' }, { settings });
    allow(1_000, 250);
    await reserved({ level: 'ok' }, { settings });
  });

  it('count the reservations of a deployed stack only once', async () => {
    allow(1_000, 200);
    deployed();
    await reserved({ level: 'ok' }, { settings });
  });

  it('count the reservations of concurrency among those that Lambda has to grant', async () => {
    const wanted = '901 that the settings reserve, and 100 that stay unreserved';
    await reserved({ level: 'stops', wanted }, { over: { concurrency: { api: 850, refunds: 51 } } });
  });
});

describe('The quotas of Step Functions', () => {
  const starts = about(stepFunctions, 'Step Functions: StartExecution, refill');

  it('are compared with those that the traffic takes', async () => {
    await starts({ level: 'ok', found: '300' });
    await starts({ level: 'limits', wanted: 'at least 380' }, { traffic: { perSecond: 300 } });
  });

  it('say that the setting startsPerSecond is above the quota', async () => {
    const setting = about(stepFunctions, 'Setting');
    const settings = { startsPerSecond: 300 };
    await setting({ level: 'ok' }, { settings });
    account.quotas
      .on(ListServiceQuotasCommand, { ServiceCode: 'states' })
      .resolves({ Quotas: stepFunctionsQuotas(150) });
    await setting({ level: 'limits', fix: 'startsPerSecond: 150' }, { settings });
  });

  it('are those that AWS documents where Service Quotas has none', async () => {
    account.quotas.on(ListServiceQuotasCommand, { ServiceCode: 'states' }).resolves({ Quotas: [] });
    const sends = about(stepFunctions, 'Step Functions: SendTaskSuccess, refill');
    await sends({ level: 'note', found: 'not in Service Quotas; AWS documents 500' });
    const small = { region: 'eu-central-1', traffic: { perSecond: 200 } };
    await starts({ level: 'limits', found: 'not in Service Quotas; AWS documents 150' }, small);
  });
});

describe('The table', () => {
  it('has its quotas compared with what the traffic takes', async () => {
    const writes = about(tableQuotas, 'DynamoDB: write units a second of one table');
    await writes({ level: 'ok', found: '40000' });
    await writes({ level: 'limits', wanted: 'at least 68000' }, { traffic: { perSecond: 1_000 } });
  });

  it('is too cold for a burst of requests while it is new', async () => {
    await finds(table, { level: 'ok', found: '4000' });
    const crowd = { traffic: { perSecond: 300 } };
    await finds(table, { level: 'limits', found: '4000' }, crowd);
    deployed({ TableName: 'warm' });
    account.dynamo
      .on(DescribeTableCommand, { TableName: 'warm' })
      .resolves({ Table: { WarmThroughput: { WriteUnitsPerSecond: 21_000 } } });
    await finds(table, { level: 'ok', found: '21000' }, crowd);
  });

  it('of the setting restoredTable has to be there', async () => {
    const settings = { restoredTable: 'Darkroom-restored' };
    await finds(table, { level: 'ok' }, { settings });
    account.dynamo.on(DescribeTableCommand).rejects(awsError('ResourceNotFoundException'));
    const found = 'no table Darkroom-restored in us-east-1';
    await finds(table, { level: 'stops', found }, { settings });
  });
});

describe('API Gateway', () => {
  const role = 'arn:aws:iam::123456789012:role/logs';
  const ofRole = about(gateway, "API Gateway: the account's role");
  const answers = (rateLimit: number, cloudwatchRoleArn?: string): void => {
    account.gateway
      .on(GetAccountCommand)
      .resolves({ throttleSettings: { rateLimit, burstLimit: 5_000 }, cloudwatchRoleArn });
  };

  it('has its rate compared with what the traffic takes', async () => {
    const requests = about(gateway, 'API Gateway: requests');
    await requests({ level: 'ok' });
    answers(2_500);
    const traffic = { perSecond: 1_000 };
    await requests({ level: 'limits', found: '2500', wanted: 'at least 7500' }, { traffic });
  });

  it('never reaches a setting throttling that is above the account', async () => {
    const settings = { throttling: { ratePerSecond: 3_000, burst: 2_000 } };
    const setting = about(gateway, 'Setting');
    await setting({ level: 'ok' }, { settings });
    answers(2_500);
    await setting({ level: 'limits' }, { settings });
  });

  it("stops the deployment without a role for logs and with gatewayLogRole: 'existing'", async () => {
    const settings = { gatewayLogRole: 'existing' } as const;
    await ofRole({ level: 'stops', fix: "gatewayLogRole: 'create'" }, { settings });
    answers(10_000, role);
    await ofRole({ level: 'ok', found: role }, { settings });
  });

  it('reports before the first deployment that the stack would replace a role for logs', async () => {
    await ofRole({ level: 'ok' });
    answers(10_000, role);
    await ofRole({ level: 'note' });
    deployed();
    await ofRole({ level: 'ok' });
  });

  it('stops the deployment when it has the name of the API already', async () => {
    expect(await findingsOf(apiDomain)).toEqual([]);
    await finds(apiDomain, { level: 'ok' }, { settings: apiSettings });
    account.gateway.on(GetDomainNameCommand).resolves({ regionalDomainName: 'd-1.amazonaws.com' });
    await finds(apiDomain, { level: 'stops' }, { settings: apiSettings });
    deployed({ ApiDomainTarget: 'd-1.amazonaws.com' });
    await finds(apiDomain, { level: 'ok' }, { settings: apiSettings });
  });
});

describe('CloudFront', () => {
  it('proves by a distribution that the account is verified, and is unknown without one', async () => {
    await finds(cloudFront, { level: 'ok', found: 'distributions: 1' });
    account.cloudFront.on(ListDistributionsCommand).resolves(distributions());
    const finding = await findingOf(cloudFront);
    expect(finding.level).toBe('note');
    expect(finding.fix).toContain('Your account must be verified');
  });

  it('stops the deployment when another distribution has the name of the images', async () => {
    const ofName = about(cloudFront, 'CloudFront: the name images.example.com');
    await ofName({ level: 'ok' }, { settings: resultsSettings });
    account.cloudFront
      .on(ListDistributionsCommand)
      .resolves(distributions({ id: 'E9', name: 'd9.cloudfront.net', alias: 'images.example.com' }));
    const found = 'belongs to the distribution E9';
    await ofName({ level: 'stops', found }, { settings: resultsSettings });
    deployed({ ResultsDomainTarget: 'd9.cloudfront.net' });
    await ofName({ level: 'ok' }, { settings: resultsSettings });
  });
});

describe('A certificate', () => {
  const has = (detail: CertificateDetail): void => {
    account.acm.on(DescribeCertificateCommand).resolves({
      Certificate: { Status: 'ISSUED', DomainName: 'api.example.com', ...detail },
    });
  };
  const found = (): Promise<Finding> => findingOf(certificates, '', { settings: apiSettings });

  it('is right when it is issued for the name, or by a wildcard', async () => {
    expect(await found()).toMatchObject({ level: 'ok' });
    has({});
    expect(await found()).toMatchObject({ level: 'ok', found: 'issued' });
    expect(await findingsOf(certificates)).toEqual([]);
  });

  it.each<[string, CertificateDetail, string]>([
    ['is not validated', { Status: 'PENDING_VALIDATION' }, 'its status is PENDING_VALIDATION'],
    ['has ended', { Status: 'EXPIRED' }, 'its status is EXPIRED'],
    ['is for another name', { DomainName: 'www.example.com' }, 'it is for www.example.com'],
    ['is for another level of names', { DomainName: '*.api.example.com' }, 'it is for *.api.example.com'],
  ])('stops the deployment when it %s', async (_what, detail, text) => {
    has(detail);
    expect(await found()).toMatchObject({ level: 'stops', found: text });
  });

  it('stops the deployment in another region or another account', async () => {
    const of = (certificateArn: string): Promise<Finding> =>
      findingOf(certificates, '', { settings: { apiDomain: { name: 'api.example.com', certificateArn } } });
    expect(await of(certificate('eu-west-1'))).toMatchObject({ level: 'stops', found: 'it is in eu-west-1' });
    expect(await of(certificate('us-east-1', '210987654321'))).toMatchObject({
      level: 'stops',
      found: 'it belongs to the account 210987654321',
    });
  });

  it('stops the deployment when it does not exist', async () => {
    account.acm.on(DescribeCertificateCommand).rejects(awsError('ResourceNotFoundException'));
    expect(await found()).toMatchObject({ level: 'stops', found: 'no such certificate' });
  });

  it('that ACM did not renew is reported 45 days before its end', async () => {
    has({ NotAfter: new Date('2026-12-31T12:00:00Z') });
    expect(await found()).toMatchObject({ level: 'limits', found: 'issued, ends in 38 days' });
  });

  it('that nobody may read leaves the other certificates to be asked', async () => {
    account.acm
      .on(DescribeCertificateCommand)
      .rejectsOnce(awsError('AccessDeniedException'))
      .resolves({ Certificate: { Status: 'ISSUED', DomainName: 'images.example.com' } });
    const findings = await findingsOf(certificates, { settings: { ...apiSettings, ...resultsSettings } });
    expect(findings).toMatchObject([
      { level: 'unasked', found: 'could not ask: needs acm:DescribeCertificate' },
      { level: 'ok' },
    ]);
  });
});

describe('DNS', () => {
  const settings = { ...apiSettings, ...resultsSettings };
  const images = about(dns, 'DNS: images.example.com');

  it('may lead nowhere before the first deployment', async () => {
    expect(await findingsOf(dns)).toEqual([]);
    await images({ level: 'ok', found: 'no CNAME' }, { settings });
  });

  it('stops the first deployment when a name of CloudFront leads to another distribution', async () => {
    const aliases = { 'images.example.com': ['d7.cloudfront.net'], 'api.example.com': ['d7.cloudfront.net'] };
    await images({ level: 'stops' }, { settings, aliases });
    await about(dns, 'DNS: api')({ level: 'ok' }, { settings, aliases });
  });

  it('has to lead to the outputs of a deployed stack', async () => {
    deployed({ ResultsDomainTarget: 'd1.cloudfront.net' });
    const aliases = { 'images.example.com': ['d1.cloudfront.net'] };
    await images({ level: 'ok' }, { settings, aliases });
    await images({ level: 'note', wanted: 'd1.cloudfront.net' }, { settings });
  });
});

describe('The models of Bedrock', () => {
  it.each([
    ['available', {}, 'ok'],
    ['not in us-west-2', { regionAvailability: 'NOT_AVAILABLE' }, 'limits'],
    ['the account is not authorized', { authorizationStatus: 'NOT_AUTHORIZED' }, 'limits'],
    [
      'no agreement with its vendor (NOT_AVAILABLE)',
      { agreementAvailability: { status: 'NOT_AVAILABLE' } },
      'limits',
    ],
  ] as const)('are told: %s', async (found, answer, level) => {
    account.bedrock.on(GetFoundationModelAvailabilityCommand).resolves({
      agreementAvailability: { status: 'AVAILABLE' },
      authorizationStatus: 'AUTHORIZED',
      entitlementAvailability: 'AVAILABLE',
      regionAvailability: 'AVAILABLE',
      modelId: 'stability.sd3-5-large-v1:0',
      ...answer,
    });
    await finds(bedrockModels, { level, found });
  });

  it('need rights at AWS Marketplace of the role behind a session', async () => {
    account.sts.on(GetCallerIdentityCommand).resolves({
      Account: accountId,
      Arn: `arn:aws:sts::${accountId}:assumed-role/Admin/me`,
    });
    await finds(marketplaceRights, { level: 'ok', found: 'both' });
    const [call] = account.iam.commandCalls(SimulatePrincipalPolicyCommand);
    expect(call?.args[0].input.PolicySourceArn).toBe(`arn:aws:iam::${accountId}:role/team/Admin`);
    account.iam
      .on(SimulatePrincipalPolicyCommand)
      .resolves(simulated(['aws-marketplace:Subscribe'], { 'aws-marketplace:Subscribe': 'implicitDeny' }));
    await finds(marketplaceRights, { level: 'note', found: 'you lack aws-marketplace:Subscribe' });
  });

  it('need no check of the rights of the root user', async () => {
    account.sts
      .on(GetCallerIdentityCommand)
      .resolves({ Account: accountId, Arn: `arn:aws:iam::${accountId}:root` });
    await finds(marketplaceRights, { level: 'ok' });
  });
});

describe('The e-mail of alarms', () => {
  const settings = { alarmEmail: 'you@example.com' };
  const topic = { AlarmTopicArn: 'arn:aws:sns:us-east-1:123456789012:topic' };
  const subscribed = (SubscriptionArn: string): void => {
    account.sns
      .on(ListSubscriptionsByTopicCommand)
      .resolves({ Subscriptions: [{ Endpoint: 'you@example.com', SubscriptionArn }] });
  };

  it('stops the deployment when nobody gets the alarms, until the operator says to go on', async () => {
    await finds(alarmEmail, {
      level: 'stops',
      found: 'no address: nobody gets the alarms',
      fix: "alarmEmail: 'you@example.com' in the settings; or go on with --without-alarms",
    });
    const fix = "alarmEmail: 'you@example.com' in the settings";
    await finds(alarmEmail, { level: 'limits', fix }, { withoutAlarms: true });
  });

  it('is not wanted where another subscription of the topic is confirmed', async () => {
    deployed(topic);
    subscribed('PendingConfirmation');
    await finds(alarmEmail, { level: 'stops' });
    subscribed(`${topic.AlarmTopicArn}:1`);
    await finds(alarmEmail, { level: 'ok', found: '1 confirmed, beside the settings' });
    const other = { alarmEmail: 'they@example.com' };
    await finds(alarmEmail, { level: 'limits' }, { settings: other });
  });

  it('is subscribed by the first deployment', async () => {
    await finds(alarmEmail, { level: 'note' }, { settings });
  });

  it('gets alarms only when its owner has confirmed it', async () => {
    deployed(topic);
    await finds(alarmEmail, { level: 'limits', found: 'you@example.com is not subscribed' }, { settings });
    subscribed('PendingConfirmation');
    const found = 'you@example.com is not confirmed: nobody gets the alarms';
    await finds(alarmEmail, { level: 'stops', found }, { settings });
    subscribed(`${topic.AlarmTopicArn}:1`);
    await finds(alarmEmail, { level: 'ok' }, { settings });
  });
});

describe('The settings', () => {
  it('are compared with what the traffic takes', async () => {
    const capacity = about(settingsForTraffic, 'Setting serviceCapacity');
    await capacity({ level: 'ok' });
    const crowd = { traffic: { perSecond: 300 } };
    await capacity({ level: 'limits', fix: 'serviceCapacity: 6800' }, crowd);
    const fix = 'throttling: { ratePerSecond: 2300, burst: 2300 }';
    await about(settingsForTraffic, 'Setting throttling.rate')({ level: 'limits', fix }, crowd);
  });

  it('say that a reservation is too small for the traffic', async () => {
    const reserving = (api: number | 'shared'): Promise<readonly Finding[]> =>
      findingsOf(settingsForTraffic, { over: { concurrency: { api } } });
    const levels = async (api: number | 'shared'): Promise<string[]> =>
      (await reserving(api))
        .filter(({ question }) => question === 'Setting concurrency.api')
        .map(({ level, wanted }) => `${level}, ${wanted}`);
    expect(await levels(36)).toEqual(['ok, at least 36']);
    expect(await levels(35)).toEqual(['limits, at least 36']);
    expect(await levels('shared')).toEqual([]);
  });
});

describe('The command', () => {
  const settingsFile = join(mkdtempSync(join(tmpdir(), 'darkroom-settings-')), 'settings.json');
  beforeAll(() => writeFileSync(settingsFile, '{ "alarmEmail": "ops@example.com" }'));
  afterAll(() => rmSync(dirname(settingsFile), { recursive: true }));
  const run = async (stage: string, withoutAlarms = true, named: object = {}) => {
    const [printed, told]: [string[], string[]] = [[], []];
    const traffic = { perSecond: 10, seconds: 15, kind: 'synchronous', isPolled: true } as const;
    const code = await preflightCommand(
      { stage, region: 'us-east-1', traffic, withoutAlarms, json: true, ...named },
      { print: (line) => printed.push(line), tell: (line) => told.push(line) },
    );
    return { code, printed, told };
  };

  it('asks with the settings of the stage and the models of the catalog, and prints its progress separately', async () => {
    const { code, printed, told } = await run('default');
    const { findings, ...rest } = JSON.parse(printed.join('')) as { findings: Finding[] };
    expect(code).toBe(0);
    expect(rest).toEqual({
      ok: true,
      account: accountId,
      region: 'us-east-1',
      stack: 'Darkroom',
      traffic: { creations_per_second: 10, seconds: 15, vendor: 'synchronous' },
    });
    expect(findings.map(({ question }) => question)).toContain('Bedrock: stability.sd3-5-large-v1:0');
    expect(told.join('\n')).toContain('CDK bootstrap …');
  });

  it('asks with the settings of a file for the stack that the package deploys', async () => {
    account.cloudFormation.on(DescribeStacksCommand, { StackName: 'Shop' }).resolves({ Stacks: [] });
    const stack = { stack: 'Shop', settings: settingsFile };
    const { code, printed } = await run('default', true, stack);
    const report = JSON.parse(printed.join('')) as { stack: string; findings: Finding[] };
    expect([code, report.stack]).toEqual([0, 'Shop']);
    expect(report.findings).toContainEqual(
      expect.objectContaining({ found: 'ops@example.com, not subscribed before the first deployment' }),
    );
    expect(await run('default', true, { settings: settingsFile })).toMatchObject({
      code: 1,
      told: ['--settings belongs to a stack: name it with --stack'],
    });
  });

  it('ends with exit code 1 when nobody gets the alarms, unless the operator goes on without', async () => {
    const { code, printed } = await run('default', false);
    const { ok, findings } = JSON.parse(printed.join('')) as { ok: boolean; findings: Finding[] };
    expect([code, ok]).toEqual([1, false]);
    expect(findings.filter(({ level }) => level === 'stops').map(({ question }) => question)).toEqual([
      'E-mail of alarms',
    ]);
  });

  it('ends with exit code 1 and one sentence for a stage without settings, or without credentials', async () => {
    expect(await run('nowhere')).toEqual({
      code: 1,
      printed: [],
      told: [
        'stage: there is no lib/config/nowhere.ts; copy lib/config/default.ts to begin with, or use --stack and --settings',
      ],
    });
    account.sts.on(GetCallerIdentityCommand).rejects(awsError('CredentialsProviderError', 'none found'));
    const { code, printed, told } = await run('default');
    expect([code, printed.length, told.length]).toEqual([1, 0, 1]);
    expect(told[0]).toMatch(/^AWS does not know who asks/);
  });
});

describe('The report', () => {
  const finding = (level: Finding['level']): Finding => ({
    question: `A ${level}`,
    level,
    found: 'found',
    wanted: 'wanted',
    ...(level !== 'ok' && { fix: 'do this' }),
  });
  const report = (...levels: Finding['level'][]) => {
    const data = {
      account: accountId,
      region: 'us-east-1',
      stack: 'Darkroom',
      traffic: { perSecond: 10, seconds: 15, kind: 'job', isPolled: true },
      findings: levels.map(finding),
    } as const;
    const lines: string[] = [];
    const code = printReport(data, false, (line) => lines.push(line));
    const documents: string[] = [];
    expect(printReport(data, true, (line) => documents.push(line))).toBe(code);
    expect(documents).toHaveLength(1);
    const json: unknown = JSON.parse(documents[0] ?? '');
    return { code, lines, json };
  };

  it('ends with exit code 1 when something stops the deployment, and only then', () => {
    expect(report('ok', 'note', 'limits', 'unasked').code).toBe(0);
    expect(report('ok', 'stops').code).toBe(1);
  });

  it('has one line for each finding, and says what to do where there is something to do', () => {
    const { lines } = report('ok', 'stops');
    expect(lines.slice(0, 2).map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'A ok     found; wanted: wanted',
      'A stops  found; wanted: wanted; fix: do this',
    ]);
    expect(lines.join('\n')).toContain('Findings that stop the deployment (✗): 1.');
  });

  it('is one JSON document with --json', () => {
    expect(report('ok', 'stops').json).toMatchObject({
      ok: false,
      account: accountId,
      findings: [{ level: 'ok' }, { level: 'stops', fix: 'do this' }],
    });
    expect(report('limits').json).toMatchObject({ ok: true });
  });

  it('says how many findings limit the service, and how many could not be asked', () => {
    const text = report('limits', 'unasked', 'unasked').lines.join('\n');
    expect(text).toContain('Findings that limit the service (!): 1.');
    expect(text).toContain('Questions that could not be asked (?): 2.');
    expect(text).toContain('Nothing that was found stops the deployment.');
  });
});
