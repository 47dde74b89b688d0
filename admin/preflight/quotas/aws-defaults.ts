/**
 * The quotas of an account of AWS that limit how many creations a second the service takes, as AWS documents
 * their defaults. Each quota counts for one account and one region. An account can have other values: a new one
 * often has less, and AWS raises most of them when asked. `npm run preflight` asks the account. The sources were
 * read on 2026-11-23.
 */

export interface AwsQuota {
  /** What a reader calls the quota. */
  readonly title: string;
  /** In us-east-1, us-west-2 and eu-west-1. */
  readonly large: number;
  /** In other regions. */
  readonly other: number;
  /** True when AWS raises the quota on request. */
  readonly canBeRaised: boolean;
  readonly source: string;
}

const stepFunctionsPage = 'https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html';
const gatewayPage = 'https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html';
const tablePage = 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html';
const warmPage =
  'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput-scenarios.html';

export const awsDefaults = {
  /** A new account can have as few as 10. Lambda keeps 100 of them unreserved. */
  lambdaConcurrency: {
    title: 'Lambda: concurrent executions',
    large: 1_000,
    other: 1_000,
    canBeRaised: true,
    source: 'https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html',
  },
  startExecutionPerSecond: {
    title: 'Step Functions: StartExecution, refill a second',
    large: 300,
    other: 150,
    canBeRaised: true,
    source: stepFunctionsPage,
  },
  startExecutionBurst: {
    title: 'Step Functions: StartExecution, bucket',
    large: 1_300,
    other: 800,
    canBeRaised: true,
    source: stepFunctionsPage,
  },
  /**
   * AWS raised this default over the years, and gives new accounts less. These are the smallest documented
   * figures: those of the last public copy of the developer guide on GitHub.
   */
  stateTransitionsPerSecond: {
    title: 'Step Functions: state transitions, refill a second',
    large: 1_500,
    other: 500,
    canBeRaised: true,
    source: stepFunctionsPage,
  },
  stateTransitionsBurst: {
    title: 'Step Functions: state transitions, bucket',
    large: 5_000,
    other: 800,
    canBeRaised: true,
    source: stepFunctionsPage,
  },
  /** SendTaskSuccess. SendTaskFailure and SendTaskHeartbeat have buckets of their own and of the same size. */
  sendTaskPerSecond: {
    title: 'Step Functions: SendTaskSuccess, refill a second',
    large: 500,
    other: 300,
    canBeRaised: true,
    source: stepFunctionsPage,
  },
  sendTaskBurst: {
    title: 'Step Functions: SendTaskSuccess, bucket',
    large: 3_000,
    other: 1_500,
    canBeRaised: true,
    source: stepFunctionsPage,
  },
  tableWriteUnits: {
    title: 'DynamoDB: write units a second of one table on demand',
    large: 40_000,
    other: 40_000,
    canBeRaised: true,
    source: tablePage,
  },
  tableReadUnits: {
    title: 'DynamoDB: read units a second of one table on demand',
    large: 40_000,
    other: 40_000,
    canBeRaised: true,
    source: tablePage,
  },
  /** What a new table takes at once. DynamoDB adapts to traffic that grows, or is warmed by UpdateTable. */
  tableWarmWriteUnits: {
    title: 'DynamoDB: write units a second of a new table (warm throughput)',
    large: 4_000,
    other: 4_000,
    canBeRaised: true,
    source: warmPage,
  },
  tableWarmReadUnits: {
    title: 'DynamoDB: read units a second of a new table (warm throughput)',
    large: 12_000,
    other: 12_000,
    canBeRaised: true,
    source: warmPage,
  },
  /** Shared by all APIs of the account in the region. Thirteen newer regions have 2,500 (the page lists them). */
  gatewayRequestsPerSecond: {
    title: 'API Gateway: requests a second',
    large: 10_000,
    other: 10_000,
    canBeRaised: true,
    source: gatewayPage,
  },
  /** AWS sets the bucket to match the rate. It cannot be raised. */
  gatewayBurst: {
    title: 'API Gateway: bucket of requests',
    large: 5_000,
    other: 5_000,
    canBeRaised: false,
    source: gatewayPage,
  },
} as const satisfies Readonly<Record<string, AwsQuota>>;

export type AwsQuotaName = keyof typeof awsDefaults;

const largeRegions = ['us-east-1', 'us-west-2', 'eu-west-1'];

/** The documented default of a quota in a region. */
export function awsDefaultOf(name: AwsQuotaName, region: string): number {
  const { large, other } = awsDefaults[name];
  return largeRegions.includes(region) ? large : other;
}
