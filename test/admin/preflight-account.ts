/** An account of AWS in which nothing stops a deployment. A test changes one answer. */
import { ACMClient, DescribeCertificateCommand } from '@aws-sdk/client-acm';
import { APIGatewayClient, GetAccountCommand, GetDomainNameCommand } from '@aws-sdk/client-api-gateway';
import { BedrockClient, GetFoundationModelAvailabilityCommand } from '@aws-sdk/client-bedrock';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CloudFrontClient, ListDistributionsCommand } from '@aws-sdk/client-cloudfront';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  GetAccountSummaryCommand,
  GetRoleCommand,
  IAMClient,
  SimulatePrincipalPolicyCommand,
} from '@aws-sdk/client-iam';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  ListAWSDefaultServiceQuotasCommand,
  ListServiceQuotasCommand,
  ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';
import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { mockClient } from 'aws-sdk-client-mock';
import { createClients, type Finding, type Question } from '../../admin/preflight/asked.ts';
import { type Preflight, type PreflightResult, runPreflight } from '../../admin/preflight/run.ts';
import { parseSettings, type SettingsInput } from '../../lib/settings.ts';

export const accountId = '123456789012';
const now = new Date('2026-11-23T12:00:00Z');

/** Replaces the clients of AWS, until `restoreAll`. */
export const mockAccount = () => ({
  sts: mockClient(STSClient),
  cloudFormation: mockClient(CloudFormationClient),
  quotas: mockClient(ServiceQuotasClient),
  lambda: mockClient(LambdaClient),
  dynamo: mockClient(DynamoDBClient),
  gateway: mockClient(APIGatewayClient),
  cloudFront: mockClient(CloudFrontClient),
  iam: mockClient(IAMClient),
  sns: mockClient(SNSClient),
  bedrock: mockClient(BedrockClient),
  acm: mockClient(ACMClient),
});

export type MockedAccount = ReturnType<typeof mockAccount>;

export function restoreAll(account: MockedAccount): void {
  for (const mock of Object.values(account)) mock.restore();
}

/** An error as the clients throw it. */
export function awsError(name: string, message = name): Error {
  return Object.assign(new Error(message), { name });
}

export const stacks = (status: string, outputs: Readonly<Record<string, string>> = {}) => ({
  Stacks: [
    {
      StackName: 'Darkroom',
      CreationTime: now,
      StackStatus: status as 'CREATE_COMPLETE',
      Outputs: Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })),
    },
  ],
});

/** Answers as an account does that has room for everything, and no stack yet. */
export function makeHealthy(account: MockedAccount): void {
  for (const mock of Object.values(account)) mock.reset();
  const { sts, cloudFormation, quotas, lambda, dynamo, gateway, cloudFront, iam, sns, bedrock, acm } =
    account;
  sts
    .on(GetCallerIdentityCommand)
    .resolves({ Account: accountId, Arn: `arn:aws:iam::${accountId}:user/operator` });
  cloudFormation
    .on(DescribeStacksCommand)
    .rejects(awsError('ValidationError', 'Stack with id Darkroom does not exist'))
    .on(DescribeStacksCommand, { StackName: 'CDKToolkit' })
    .resolves(stacks('CREATE_COMPLETE', { BootstrapVersion: '30' }));
  quotas
    .on(ListServiceQuotasCommand)
    .resolves({ Quotas: [] })
    .on(ListServiceQuotasCommand, { ServiceCode: 'states' })
    .resolves({ Quotas: stepFunctionsQuotas(300) })
    .on(ListAWSDefaultServiceQuotasCommand)
    .resolves({
      Quotas: [
        { QuotaName: 'Table-level read throughput limit', Value: 40_000 },
        { QuotaName: 'Table-level write throughput limit', Value: 40_000 },
      ],
    });
  lambda.on(GetAccountSettingsCommand).resolves({
    AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions: 1_000 },
  });
  dynamo
    .on(DescribeTableCommand)
    .resolves({ Table: { TableName: 'table', WarmThroughput: { WriteUnitsPerSecond: 4_000 } } });
  gateway
    .on(GetAccountCommand)
    .resolves({ throttleSettings: { rateLimit: 10_000, burstLimit: 5_000 } })
    .on(GetDomainNameCommand)
    .rejects(awsError('NotFoundException'));
  cloudFront.on(ListDistributionsCommand).resolves(distributions({ id: 'E1', name: 'd1.cloudfront.net' }));
  iam
    .on(GetAccountSummaryCommand)
    .resolves({ SummaryMap: { Roles: 100, RolesQuota: 1_000 } })
    .on(GetRoleCommand)
    .resolves({
      Role: {
        Path: '/team/',
        RoleName: 'Admin',
        RoleId: 'id',
        Arn: `arn:aws:iam::${accountId}:role/team/Admin`,
        CreateDate: now,
      },
    })
    .on(SimulatePrincipalPolicyCommand)
    .callsFake(({ ActionNames }: { ActionNames: string[] }) => simulated(ActionNames, {}));
  sns.on(ListSubscriptionsByTopicCommand).resolves({ Subscriptions: [] });
  bedrock.on(GetFoundationModelAvailabilityCommand).resolves({
    agreementAvailability: { status: 'AVAILABLE' },
    authorizationStatus: 'AUTHORIZED',
    entitlementAvailability: 'AVAILABLE',
    regionAvailability: 'AVAILABLE',
  });
  acm.on(DescribeCertificateCommand).resolves({
    Certificate: {
      Status: 'ISSUED',
      DomainName: '*.example.com',
      NotAfter: new Date('2027-10-01T00:00:00Z'),
    },
  });
}

/** The quotas of Step Functions by their names in Service Quotas. */
export function stepFunctionsQuotas(startsPerSecond: number): { QuotaName: string; Value: number }[] {
  return Object.entries({
    'StartExecution throttle token bucket size': 1_300,
    'StartExecution throttle token refill rate per second': startsPerSecond,
    'StateTransition throttle token bucket size': 5_000,
    'StateTransition throttle token refill rate per second': 5_000,
    'SendTaskSuccess throttle token bucket size': 3_000,
    'SendTaskSuccess throttle token refill rate per second': 500,
  }).map(([QuotaName, Value]) => ({ QuotaName, Value }));
}

/** What IAM answers about these actions. `decisions` has those that are not allowed. */
export function simulated(
  actions: readonly string[],
  decisions: Readonly<Record<string, 'explicitDeny' | 'implicitDeny'>>,
) {
  return {
    EvaluationResults: actions.map((action) => ({
      EvalActionName: action,
      EvalDecision: decisions[action] ?? ('allowed' as const),
    })),
  };
}

/** A page of CloudFront's list. The tests leave out what the preflight does not read. */
export function distributions(
  ...list: readonly { readonly id: string; readonly name: string; readonly alias?: string }[]
): never {
  return {
    DistributionList: {
      Quantity: list.length,
      IsTruncated: false,
      Items: list.map(({ id, name, alias }) => ({
        Id: id,
        DomainName: name,
        Aliases: { Quantity: alias === undefined ? 0 : 1, Items: alias === undefined ? [] : [alias] },
      })),
    },
  } as never;
}

export interface Asking {
  readonly settings?: SettingsInput;
  /** Settings that are put over those of `settings` without a check. */
  readonly over?: object;
  readonly region?: string;
  readonly withoutAlarms?: boolean;
  readonly traffic?: Partial<Preflight['traffic']>;
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
}

/** Asks the account one question, or all. */
export function ask(
  questions: readonly Question[] | undefined,
  asking: Asking = {},
): Promise<PreflightResult> {
  const settings = { ...parseSettings('lib/config/test.ts', asking.settings ?? {}), ...asking.over };
  const region = asking.region ?? 'us-east-1';
  return runPreflight(
    {
      region,
      settings,
      stackName: 'Darkroom',
      withoutAlarms: asking.withoutAlarms === true,
      traffic: { perSecond: 10, seconds: 15, kind: 'synchronous', isPolled: true, ...asking.traffic },
      clients: createClients(region, settings.bedrockRegion),
      bedrockModels: ['stability.sd3-5-large-v1:0'],
      aliasesOf: (host) => Promise.resolve(asking.aliases?.[host] ?? []),
      now: () => now,
    },
    () => undefined,
    questions,
  );
}

/** The findings of one question. */
export async function findingsOf(question: Question, asking: Asking = {}): Promise<readonly Finding[]> {
  return (await ask([question], asking)).findings;
}
