/** What one account of AWS, and the settings of a deployment, allow: the part that an operator can raise. */
import {
  awsDefaultOf,
  awsDefaults,
  type AwsQuotaName,
} from '../../../admin/preflight/quotas/aws-defaults.ts';
import type { Quotas } from '../../../admin/preflight/quotas/quotas.ts';
import { reservedConcurrency } from '../../../lib/concurrency-settings.ts';
import { type Throttle, throttlesOf } from '../../../lib/throttles.ts';

// What Step Functions allows standard workflows: buckets of tokens. Source: the Step Functions developer guide,
// "Quotas", "Quotas related to API action throttling" and "Quotas related to state throttling".

/** A bucket of tokens. */
export interface BucketSize {
  readonly burst: number;
  readonly perSecond: number;
}

export interface StepFunctionsLimits {
  readonly startExecution: BucketSize;
  readonly stateTransitions: BucketSize;
  /** SendTaskSuccess, SendTaskFailure and SendTaskHeartbeat have one bucket each. */
  readonly sendTask: BucketSize;
  readonly describeExecution: BucketSize;
}

/** us-east-1, us-west-2 and eu-west-1. */
const largeRegion = stepFunctionsOf('us-east-1', { burst: 300, perSecond: 15 });

/** All other regions. */
export const otherRegion = stepFunctionsOf('us-east-2', { burst: 250, perSecond: 10 });

function stepFunctionsOf(region: string, describeExecution: BucketSize): StepFunctionsLimits {
  const of = (name: AwsQuotaName): number => awsDefaultOf(name, region);
  return {
    startExecution: { burst: of('startExecutionBurst'), perSecond: of('startExecutionPerSecond') },
    stateTransitions: { burst: of('stateTransitionsBurst'), perSecond: of('stateTransitionsPerSecond') },
    sendTask: { burst: of('sendTaskBurst'), perSecond: of('sendTaskPerSecond') },
    describeExecution,
  };
}

/**
 * What DynamoDB allows a table on demand, beside the quotas in admin/preflight/quotas. Sources: the DynamoDB developer guide, "Service, account, and table
 * quotas", "DynamoDB on-demand capacity mode", and "Burst and adaptive capacity".
 */
export const dynamodbLimits = {
  /** Write and read units a second of one partition key, of the table or of an index. They cannot be raised. */
  partition: { writeUnits: 1_000, readUnits: 3_000 },
  /** More than this many times the peak of the last minutes may be throttled. */
  growth: { factor: 2, minutes: 30 },
  /** Factor by which a write of an item costs more in a transaction. */
  transactionFactor: 2,
  /** AWS does not say for how long a transaction holds its items, so this is an assumption. */
  holdMillis: [3, 25],
} as const;

interface Units {
  readonly writeUnits: number;
  readonly readUnits: number;
}

/** The executions that Lambda reserves for one function, which are also the most that the function gets. */
export interface Reservation {
  readonly function: string;
  readonly concurrency: number;
}

export interface AwsQuotas {
  /** Invocations at the same time, of all functions together. */
  readonly concurrency: number;
  /** Reserved concurrency. The names of the functions are those of the simulation. */
  readonly reserved: readonly Reservation[];
  readonly steps: StepFunctionsLimits;
  /** Units a second of the table, and of each index. */
  readonly table: Units;
  /** What the table and each index take from the first second on. */
  readonly warm: Units;
  /** All requests to all APIs of the account. */
  readonly gateway: BucketSize;
  /** All requests to the API, by a setting of the deployment. */
  readonly stage: BucketSize;
  /** The requests of each route, by the same setting. Absent: a route has only the limit of its stage. */
  readonly route?: BucketSize;
  /** The callbacks of vendors, whose route has the same throttle. */
  readonly callbacks: BucketSize;
}

/** The names that functions have in the simulation, by the construct ids of the stack. Others have the same name. */
const names: Readonly<Record<string, string>> = {
  GenerateImage: 'generate',
  GetCreation: 'get',
  CreateUpload: 'upload',
  CancelCreation: 'cancel',
  DeleteCreation: 'delete',
  EraseContent: 'erase-content',
  Reconcile: 'reconcile',
};
/** Executions that the setting heldRequests reserves for requests that this load does not send. */
const heldRequests: Reservation = { function: 'held', concurrency: 150 };

/** The quotas as the simulation of load uses them. */
export function awsQuotasOf(quotas: Quotas): AwsQuotas {
  const throttles = throttlesOf({
    ratePerSecond: quotas.gatewayRequestsPerSecond,
    burst: quotas.gatewayBurst,
  });
  return {
    concurrency: quotas.lambdaConcurrency,
    reserved: [
      heldRequests,
      ...[...reservedConcurrency(quotas.concurrency)].map(([name, concurrency]) => ({
        function: names[name] ?? name,
        concurrency,
      })),
    ],
    steps: {
      startExecution: { perSecond: quotas.startExecutionPerSecond, burst: quotas.startExecutionBurst },
      stateTransitions: {
        perSecond: quotas.stateTransitionsPerSecond,
        burst: quotas.stateTransitionsBurst,
      },
      sendTask: { perSecond: quotas.sendTaskPerSecond, burst: quotas.sendTaskBurst },
      describeExecution: largeRegion.describeExecution,
    },
    table: { writeUnits: quotas.tableWriteUnits, readUnits: quotas.tableReadUnits },
    warm: { writeUnits: quotas.tableWarmWriteUnits, readUnits: quotas.tableWarmReadUnits },
    gateway: {
      perSecond: Math.max(awsDefaults.gatewayRequestsPerSecond.large, quotas.gatewayRequestsPerSecond),
      burst: awsDefaults.gatewayBurst.large,
    },
    stage: bucketOf(throttles.stage),
    route: bucketOf(throttles.route),
    callbacks: bucketOf(throttles.route),
  };
}

function bucketOf({ ratePerSecond, burst }: Throttle): BucketSize {
  return { perSecond: ratePerSecond, burst };
}

/**
 * What API Gateway answers instead of a function. Source: the API Gateway developer guide, "Throttle requests to
 * your HTTP APIs" and "to your REST APIs". Its quotas are in admin/preflight/quotas. It checks the limit of the
 * route first, and the limit of the account last. Assumption, the stricter one: the limit of a stage counts the
 * requests of all its routes.
 */
export const gatewayLimits = {
  /** A throttled request gets this answer of the gateway itself. */
  throttledStatus: 429,
  /** The answer to a client when Lambda throttles the function of an HTTP API. REST APIs answer 500. Not verified. */
  statusOfThrottledFunction: 503,
} as const;

/**
 * How fast Lambda adds environments, beside the quotas in admin/preflight/quotas. Source: the Lambda developer guide, "Lambda
 * scaling behavior".
 */
export const lambdaLimits = {
  /**
   * The number of further environments that one function gets in a number of seconds, refilled continuously.
   */
  scaling: { environments: 1_000, seconds: 10 },
  /** AWS does not promise how long it keeps an idle environment. Assumption. */
  idleMillis: 300_000,
  /** The start of a new environment with a bundle of some 350 KB. Assumption. */
  coldStartMillis: 350,
  /** The first and the longest wait of EventBridge's throttled invocations inside Lambda. */
  asynchronousRetryMillis: { first: 1_000, longest: 300_000 },
} as const;
