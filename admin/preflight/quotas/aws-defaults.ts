/**
 * The quotas of an account of AWS that limit how many creations a second the service takes, as AWS documents their
 * defaults. Each quota counts for one account and one region. An account can have other values: a new one often has
 * less. `npm run preflight` asks the account. The sources were read on 2026-11-23.
 */

export interface AwsQuota {
  /** The name of the quota for readers. */
  readonly title: string;
  readonly source: string;
  /** In us-east-1, us-west-2 and eu-west-1. */
  readonly large: number;
  /** In other regions. */
  readonly other: number;
}

const lambda = 'https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html';
const states = 'https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html';
const gateway = 'https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html';
const dynamo = 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html';
const warm =
  'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput-scenarios.html';

const quota = (title: string, source: string, large: number, other = large): AwsQuota => ({
  title,
  source,
  large,
  other,
});

/** AWS raises each of them on request, except the bucket of API Gateway. */
export const awsDefaults = {
  /** A new account can have as few as 10. Lambda keeps 100 of them unreserved. */
  lambdaConcurrency: quota('Lambda: concurrent executions', lambda, 1_000),
  startExecutionPerSecond: quota('Step Functions: StartExecution, refill a second', states, 300, 150),
  startExecutionBurst: quota('Step Functions: StartExecution, bucket', states, 1_300, 800),
  /**
   * AWS raised this default over the years, and gives new accounts less. These are the smallest documented
   * figures: those of the last public copy of the developer guide on GitHub.
   */
  stateTransitionsPerSecond: quota('Step Functions: state transitions, refill a second', states, 1_500, 500),
  stateTransitionsBurst: quota('Step Functions: state transitions, bucket', states, 5_000, 800),
  /** SendTaskSuccess. SendTaskFailure and SendTaskHeartbeat have buckets of their own and of the same size. */
  sendTaskPerSecond: quota('Step Functions: SendTaskSuccess, refill a second', states, 500, 300),
  sendTaskBurst: quota('Step Functions: SendTaskSuccess, bucket', states, 3_000, 1_500),
  tableWriteUnits: quota('DynamoDB: write units a second of one table on demand', dynamo, 40_000),
  tableReadUnits: quota('DynamoDB: read units a second of one table on demand', dynamo, 40_000),
  /** What a new table takes at once. DynamoDB adapts to traffic that grows, or is warmed by UpdateTable. */
  tableWarmWriteUnits: quota('DynamoDB: write units a second of a new table (warm throughput)', warm, 4_000),
  tableWarmReadUnits: quota('DynamoDB: read units a second of a new table (warm throughput)', warm, 12_000),
  /** Shared by all APIs of the account in the region. Thirteen newer regions have 2,500 (the page lists them). */
  gatewayRequestsPerSecond: quota('API Gateway: requests a second', gateway, 10_000),
  /** AWS sets the bucket to match the rate. */
  gatewayBurst: quota('API Gateway: bucket of requests', gateway, 5_000),
};

export type AwsQuotaName = keyof typeof awsDefaults;

const largeRegions = ['us-east-1', 'us-west-2', 'eu-west-1'];

/** The documented default of a quota in a region. */
export function awsDefaultOf(name: AwsQuotaName, region: string): number {
  const { large, other } = awsDefaults[name];
  return largeRegions.includes(region) ? large : other;
}
