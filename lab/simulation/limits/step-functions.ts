/**
 * What Step Functions allows standard workflows: buckets of tokens. Source: the Step Functions developer guide,
 * "Quotas", "Quotas related to API action throttling" and "Quotas related to state throttling".
 */
import { awsDefaultOf, type AwsQuotaName } from '../../../admin/preflight/quotas/aws-defaults.ts';

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
export const largeRegion = stepFunctionsOf('us-east-1', { burst: 300, perSecond: 15 });

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
