/**
 * The quotas and settings for a number of creations a second. docs/capacity.md prints
 * them as a table, `npm run preflight` compares an account with them, and the simulation of load runs with them.
 */
import { awsDefaultOf, awsDefaults, type AwsQuotaName } from './aws-defaults.ts';
import {
  apiShares,
  failedShare,
  functionSeconds,
  leastApi,
  leastBusySeconds,
  overheadSeconds,
  pollsUntil,
  renewalSeconds,
  reserve,
  transitionsOfCreation,
  unitsOf,
} from './creation-load.ts';

/** The traffic that a deployment is to take. */
export interface Traffic {
  /** Creations a second. */
  readonly perSecond: number;
  /** For how long a vendor renders. */
  readonly seconds: number;
  /**
   * "job" is a vendor that calls back (docs/providers.md): no function waits for it. A vendor whose jobs are
   * polled occupies a function, as a synchronous one does.
   */
  readonly kind: 'synchronous' | 'job';
  /** Whether clients poll their creations, as Retry-After says. False: all use the webhook and never poll. */
  readonly isPolled: boolean;
}

/** Reserved executions of Lambda, the setting `concurrency`. "shared" reserves none. */
type Reserved = number | 'shared';

export interface ConcurrencySettings {
  readonly api: Reserved;
  readonly refunds: Reserved;
  readonly deliveries: Reserved;
  readonly reconciler: Reserved;
  /** A cap. No row of the table needs one: renderers then use only the executions that the others leave. */
  readonly rendering: Reserved;
}

/** Quotas of the account in the region, the throttle of the API, and settings of the deployment. */
export interface Quotas extends Readonly<Record<AwsQuotaName, number>> {
  /** The setting `serviceCapacity`: creations that are open at once. */
  readonly serviceCapacity: number;
  readonly concurrency: ConcurrencySettings;
}

/** What the setting `heldRequests` should be where the account has room. Its default reserves nothing. */
export const proposedHeldRequests = { images: 100, mcp: 50 } as const;
const heldRequests = proposedHeldRequests.images + proposedHeldRequests.mcp;
/** Lambda refuses a reservation that leaves fewer. */
const unreserved = 100;

/** The quotas that AWS documents for an account in the region, with the default settings of a deployment. */
export function defaultQuotasOf(region: string): Quotas {
  const names = Object.keys(awsDefaults) as AwsQuotaName[];
  const documented = names.map((name) => [name, awsDefaultOf(name, region)]);
  return {
    ...(Object.fromEntries(documented) as Record<AwsQuotaName, number>),
    // The defaults of the settings throttling and serviceCapacity.
    gatewayRequestsPerSecond: 500,
    gatewayBurst: 1_000,
    serviceCapacity: 2_000,
    concurrency: {
      api: 'shared',
      refunds: 'shared',
      deliveries: 'shared',
      reconciler: 'shared',
      rendering: 'shared',
    },
  };
}

/** The defaults in us-east-1, us-west-2 and eu-west-1. */
export const defaultQuotas: Quotas = defaultQuotasOf('us-east-1');

/** How often a client polls one creation. The last poll sees the image. */
function pollsOf({ seconds, isPolled }: Traffic): number {
  return isPolled ? pollsUntil(seconds) : 0;
}

/**
 * The least whole number of two digits and zeros that holds the mean, with the reserve. What happens at random
 * moments lies within four standard deviations of its mean, which counts where the mean is small.
 */
function peakOf(mean: number): number {
  return roundUp(Math.max(mean * (1 + reserve), mean + 4 * Math.sqrt(mean)));
}

function roundUp(value: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(value, 1))) - 1);
  // A product of decimal fractions can lie a hair above its exact value.
  return Math.ceil(Number((value / step).toFixed(6))) * step;
}

/**
 * What the traffic needs, independent of the defaults. The settings of `concurrency` are those to reserve.
 */
export function needsOf(traffic: Traffic): Quotas {
  const { perSecond, seconds, kind } = traffic;
  const units = unitsPerCreation(traffic);
  const writes = peakOf(perSecond * units.write);
  const reads = peakOf(perSecond * units.read);
  const starts = peakOf(perSecond);
  const transitions = peakOf(perSecond * transitionsOfCreation);
  const ends = kind === 'job' ? peakOf(perSecond) : 0;
  const requests = peakOf(perSecond * (1 + pollsOf(traffic) + (kind === 'job' ? 1 : 0)));
  const { reserved, rendering, callbacks } = executionsFor(traffic);
  const apart = Object.values(reserved).reduce((sum, part) => sum + part, 0);
  return {
    lambdaConcurrency: roundUp(apart + rendering + callbacks + heldRequests + unreserved),
    startExecutionPerSecond: starts,
    startExecutionBurst: 2 * starts,
    stateTransitionsPerSecond: transitions,
    stateTransitionsBurst: 2 * transitions,
    sendTaskPerSecond: ends,
    sendTaskBurst: 2 * ends,
    tableWriteUnits: writes,
    tableReadUnits: reads,
    tableWarmWriteUnits: writes,
    tableWarmReadUnits: reads,
    gatewayRequestsPerSecond: requests,
    // AWS does not raise the bucket.
    gatewayBurst: Math.min(requests, awsDefaultOf('gatewayBurst', 'us-east-1')),
    serviceCapacity: peakOf(perSecond * (seconds + overheadSeconds)),
    concurrency: { ...reserved, rendering: 'shared' },
  };
}

/**
 * The quotas and settings of a deployment that takes the traffic: what the traffic needs, and nowhere less than
 * the defaults of the large regions.
 */
export function quotasFor(traffic: Traffic): Quotas {
  const { concurrency, ...needs } = needsOf(traffic);
  const figures = Object.entries(needs) as [Exclude<keyof Quotas, 'concurrency'>, number][];
  const raised = figures.map(([name, need]) => [name, Math.max(need, defaultQuotas[name])] as const);
  return { ...needs, ...Object.fromEntries(raised), concurrency };
}

/** Units of the table that one creation takes, from its acceptance to its webhook and its last poll. */
function unitsPerCreation(traffic: Traffic): { readonly write: number; readonly read: number } {
  const { accept, render, submit, callback, deliver, poll, renewal } = unitsOf;
  const polls = pollsOf(traffic);
  const renewals = traffic.kind === 'job' ? 0 : Math.ceil(traffic.seconds / renewalSeconds);
  const job = traffic.kind === 'job' ? 1 : 0;
  const sum = (units: 'write' | 'read'): number =>
    accept[units] +
    render[units] +
    deliver[units] +
    job * (submit[units] + callback[units]) +
    renewals * renewal[units] +
    polls * poll[units];
  return { write: sum('write'), read: sum('read') };
}

/** Concurrent executions by Little's law: starts a second, times the duration of one. */
function executionsFor(traffic: Traffic): {
  readonly reserved: Readonly<Record<Exclude<keyof ConcurrencySettings, 'rendering'>, number>>;
  readonly rendering: number;
  /** ReceiveCallback runs beside the reserved functions. */
  readonly callbacks: number;
} {
  const { perSecond, seconds, kind } = traffic;
  const busy = functionSeconds;
  const waits = kind === 'job' ? busy.submit : seconds + busy.render;
  return {
    reserved: {
      // Each function of `api` gets one execution before the rest is divided.
      api: roundUp(
        leastApi +
          Math.max(
            peakOf(perSecond * busy.accept) / apiShares.accept,
            peakOf(perSecond * pollsOf(traffic) * Math.max(busy.poll, leastBusySeconds)) / apiShares.poll,
          ),
      ),
      refunds: peakOf(perSecond * failedShare * busy.refund),
      deliveries: peakOf(perSecond * busy.deliver),
      // It runs once a minute, and a run that works on a backlog may meet the next one.
      reconciler: 2,
    },
    rendering: peakOf(perSecond * waits),
    callbacks: kind === 'job' ? peakOf(perSecond * busy.callback) : 0,
  };
}
