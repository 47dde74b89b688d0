/** What one account of AWS, and the settings of a deployment, allow: the part that an operator can raise. */
import type { Quotas } from '../../tools/quotas/quotas.ts';
import { largeRegion, type BucketSize, type StepFunctionsLimits } from './step-functions.ts';

interface Units {
  readonly writeUnits: number;
  readonly readUnits: number;
}

/** Functions that share reserved concurrency. Lambda reserves for one function; a setting is split among several. */
export interface ReservedPool {
  readonly functions: readonly string[];
  readonly concurrency: number;
}

export interface AwsQuotas {
  /** Invocations at the same time, of all functions together. */
  readonly concurrency: number;
  /** Reserved concurrency. The names of the functions are those of the simulation. */
  readonly reserved: readonly ReservedPool[];
  readonly steps: StepFunctionsLimits;
  /** Units a second of the table, and of each index. */
  readonly table: Units;
  /** What the table and each index take from the first second on. */
  readonly warm: Units;
  /** The throttle of the stage, a setting of the deployment. The account allows at least as much. */
  readonly stage: BucketSize;
}

/** The functions of each setting of `concurrency`. */
const pools: Readonly<Record<keyof Quotas['concurrency'], readonly string[]>> = {
  api: ['generate', 'get'],
  refunds: ['RefundCharge'],
  deliveries: ['DeliverWebhook'],
  reconciler: ['reconcile'],
  rendering: ['RenderImage', 'RenderImageSmall', 'RenderImageLarge'],
};
/** The setting heldRequests reserves so many executions for requests that a crowd does not send. */
const heldRequests: ReservedPool = { functions: ['held'], concurrency: 150 };

/** The quotas as the simulation of load uses them. */
export function awsQuotasOf(quotas: Quotas): AwsQuotas {
  return {
    concurrency: quotas.lambdaConcurrency,
    reserved: [
      heldRequests,
      ...(Object.keys(pools) as (keyof typeof pools)[]).flatMap((setting): ReservedPool[] => {
        const concurrency = quotas.concurrency[setting];
        return concurrency === 'shared' ? [] : [{ functions: pools[setting], concurrency }];
      }),
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
    stage: { perSecond: quotas.gatewayRequestsPerSecond, burst: quotas.gatewayBurst },
  };
}
