/** What a load measures, and its report. */
import { defaultQuotas, quotasFor } from '../../../../admin/preflight/quotas/quotas.ts';
import { creationDefinition, functionsOf } from '../../../../lib/machine-definitions.ts';
import { rendererSizes } from '../../../../lib/renderer-sizes.ts';
import { prices } from '../../../cost/prices.ts';
import type { AwsAccount } from '../../aws/aws-account.ts';
import { type AwsQuotas, awsQuotasOf, dynamodbLimits } from '../../aws/quotas.ts';
import type { ArchiveAudit } from './history.ts';

/** A limit that refused something, and when it did so first. */
export interface LimitMet {
  readonly limit: string;
  readonly count: number;
  readonly firstAtSeconds: number;
}

export interface ScaleReport {
  readonly plan: ScalePlan;
  readonly requests: number;
  readonly accepted: number;
  /** Requests that were answered with something else than 202, by status and reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** Polls that were answered with something else than 200, by status. */
  readonly refusedPolls: Readonly<Record<string, number>>;
  /** The answers to the stranger, by status and reason. */
  readonly strangerAnswers: Readonly<Record<string, number>>;
  readonly completed: number;
  readonly failed: number;
  readonly stillOpen: number;
  readonly clientsStillWaiting: number;
  /** Accepted creations whose execution was not started at once. The reconciler started them. */
  readonly startsUnclear: number;
  /** Seconds from the charge to the image: the median, the 99th percentile and the slowest. */
  readonly imageSeconds: readonly number[];
  /** Seconds from the request to the moment when its client knew the end. */
  readonly seenSeconds: readonly number[];
  /** In the order in which they refused something first. */
  readonly limits: readonly LimitMet[];
  readonly peakConcurrency: number;
  readonly peakByFunction: Readonly<Record<string, number>>;
  readonly mostOpen: number;
  /**
   * While the service was full, as shares of its capacity: the least that were open when a request was refused, and
   * the most when one was accepted. Absent: it was never full.
   */
  readonly openShares?: readonly [atRefusal: number, atAccept: number];
  readonly polls: number;
  /** USD for 1,000 completed creations, without logs and traffic. */
  readonly costPerThousand: number;
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly audited: Omit<ArchiveAudit, 'differences'>;
  /** The differences that the audit found. */
  readonly differences: readonly string[];
}

/** The values below which the shares of all values lie. */
export function percentiles(values: readonly number[], shares: readonly number[]): number[] {
  const sorted = Float64Array.from(values).sort();
  return shares.map((share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN);
}

/** Numbers of the same thing by name. */
export class Tally {
  readonly counts = new Map<string, number>();

  add(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  toRecord(): Record<string, number> {
    return Object.fromEntries([...this.counts].sort(([, one], [, other]) => other - one));
  }
}

/** Megabytes of the functions, as lib/ sets them. */
const megabytes: Readonly<Record<string, number>> = {
  ...Object.fromEntries(functionsOf(creationDefinition()).map((name) => [name, 512])),
  RenderImage: rendererSizes.any.memoryMegabytes,
  RenderImageSmall: rendererSizes.small.memoryMegabytes,
  RenderImageLarge: rendererSizes.large.memoryMegabytes,
  DeliverWebhook: 256,
  callback: rendererSizes.large.memoryMegabytes,
};
/** The functions of the API, and the reconciler. */
const usualMegabytes = 1_024;

/** USD for all that the account has done so far. */
export function costOf(account: AwsAccount, images: number): number {
  const { writeUnits = 0, readUnits = 0 } = account.table()?.used() ?? {};
  let sum =
    writeUnits * prices.writeUnit +
    readUnits * prices.readUnit +
    account.transitions() * prices.transition +
    account.requests() * prices.apiRequest +
    images * prices.objectPut;
  for (const [name, { invocations, millis }] of account.functions.used()) {
    const gigabytes = (megabytes[name] ?? usualMegabytes) / 1_024;
    sum += invocations * prices.invocation + (millis / 1000) * gigabytes * prices.gigabyteSecond;
  }
  return sum;
}

/** With the quotas of docs/capacity.md at most this share of requests may receive a 503. */
const mostBusy = { crowd: 0.001, 'one-account': 0.01, stranger: 0 } as const;
/** Admission keeps the open creations within this share of the setting. */
const capacityShare = 0.1;

/** One line for each promise that the report breaks. */
export function brokenScalePromises(report: ScaleReport): string[] {
  const { plan, requests, completed, failed, stillOpen, differences, openShares, limits } = report;
  const busy = countOf(report, (reason) => reason.startsWith('503'));
  const isExpected = (reason: string): boolean => plan.isCapacityAsked && reason === '429 capacity';
  const others = countOf(report, (reason) => !reason.startsWith('503') && !isExpected(reason));
  const mayBeBusy = mostBusy[plan.situation] * requests;
  const beside = throttledBeside(report, plan.stranger?.route);
  const lines: readonly (readonly [isKept: boolean, line: string])[] = [
    [completed > 0, 'no creation was completed'],
    [stillOpen === 0, `${stillOpen} creations are still open`],
    [report.clientsStillWaiting === 0, `${report.clientsStillWaiting} clients never heard of the end`],
    [plan.quotas === 'default' || busy <= mayBeBusy, `${busy} of ${requests} requests heard 503`],
    [plan.quotas === 'default' || others === 0, `${others} of ${requests} requests were refused without 503`],
    [plan.quotas === 'default' || failed === 0, `${failed} creations failed`],
    [
      plan.stranger === undefined || beside.refused === 0,
      `the gateway refused ${beside.refused} of ${beside.of} requests to other routes than that of the stranger`,
    ],
    [
      // A throttled table loses notes of starts and ends, until the reconciler counts again.
      openShares === undefined ||
        limits.some(({ limit }) => limit.startsWith('writes')) ||
        (openShares[0] >= 1 - capacityShare && openShares[1] <= 1 + capacityShare),
      `a full service had between ${percent(openShares?.[0])} and ${percent(openShares?.[1])} of its capacity open`,
    ],
    ...differences.map((difference) => [false, difference] as const),
  ];
  return lines.flatMap(([isKept, line]) => (isKept ? [] : [line]));
}

/** The clients' requests to these routes, and those that the gateway refused. */
interface Throttled {
  readonly refused: number;
  readonly of: number;
}

/** What the gateway did with the clients' requests to all routes but this one. */
export function throttledBeside(report: ScaleReport, route?: string): Throttled {
  const gateway = '429 gateway';
  const byRoute = {
    generate: { refused: report.refused[gateway] ?? 0, of: report.requests },
    get: { refused: report.refusedPolls[gateway] ?? 0, of: report.polls },
  };
  const others = Object.entries(byRoute).filter(([name]) => name !== route);
  return others.reduce((sum, [, one]) => ({ refused: sum.refused + one.refused, of: sum.of + one.of }), {
    refused: 0,
    of: 0,
  });
}

function countOf({ refused }: ScaleReport, counts: (reason: string) => boolean): number {
  return Object.entries(refused).reduce((sum, [reason, count]) => sum + (counts(reason) ? count : 0), 0);
}

function percent(share = 0): string {
  return `${(100 * share).toFixed(1)} %`;
}

// The plan of a load: plain data, so that a worker gets it.

/** Whether the function waits on the vendor's connection, or the vendor calls back. */
export const vendorKinds = ['synchronous', 'job'] as const;
export type VendorKind = (typeof vendorKinds)[number];

export const quotaKinds = ['default', 'raised'] as const;
export type QuotaKind = (typeof quotaKinds)[number];

/** The routes that a stranger may choose. An unknown path is a route, too. */
export const strangerRoutes = ['unknown', 'get', 'generate'] as const;

/** Somebody with a wrong key who sends requests to one route, whatever the answers are. */
export interface Stranger {
  readonly route: (typeof strangerRoutes)[number];
  /** Requests a second, at equal intervals. */
  readonly perSecond: number;
}

export interface ScalePlan {
  readonly situation: 'crowd' | 'one-account' | 'stranger';
  readonly stranger?: Stranger;
  readonly seed: number;
  /** Requests for an image a second, at random moments. */
  readonly perSecond: number;
  /** How long new requests arrive. */
  readonly lengthSeconds: number;
  /**
   * Environments that are idle at the beginning, by function: the service has had traffic before. Empty: it
   * is new.
   */
  readonly warm: Readonly<Record<string, number>>;
  readonly renderSeconds: number;
  readonly vendor: VendorKind;
  readonly quotas: QuotaKind;
  readonly aws: AwsQuotas;
  readonly serviceCapacity: number;
  /** The command line sets this capacity, so the capacity may limit the traffic. */
  readonly isCapacityAsked: boolean;
  readonly accounts: number;
  /** The share of creations whose client takes a webhook. The others are polled. */
  readonly webhookShare: number;
  readonly holdMillis: readonly [least: number, most: number];
  /** The limits of each account. Absent: the defaults. */
  readonly limits?: { readonly postRate: number; readonly getRate: number; readonly maxConcurrent: number };
}

/** The models whose vendors the load imitates: one is held, and one calls back. */
export const loadedModels: Readonly<Record<VendorKind, string>> = {
  synchronous: 'flux-2-max',
  job: 'flux-2-klein-4b',
};

/** What a command asks for. */
export interface AskedScale {
  readonly situation: ScalePlan['situation'];
  readonly stranger?: Stranger;
  readonly perSecond: number;
  readonly vendor: VendorKind;
  readonly quotas: QuotaKind;
  readonly renderSeconds: number;
  /** Absent: as long as it takes to see what limits the traffic. */
  readonly lengthSeconds?: number;
  /** Absent: ten for each creation a second. */
  readonly accounts?: number;
  /** The setting serviceCapacity. Absent: that of the quotas. */
  readonly serviceCapacity?: number;
  /** A cold service has no environment yet. */
  readonly start: 'warm' | 'cold';
  readonly seed?: number;
}

/** The account of `--load one-account` has no limits. */
const ownLimits = { postRate: 1_000_000, getRate: 1_000_000, maxConcurrent: 100_000 };

export function scalePlan(asked: AskedScale): ScalePlan {
  const { situation, perSecond, vendor, quotas, renderSeconds, start } = asked;
  const chosen =
    quotas === 'default'
      ? defaultQuotas
      : quotasFor({ perSecond, seconds: renderSeconds, kind: vendor, isPolled: true });
  const isOne = situation === 'one-account';
  return {
    situation,
    seed: asked.seed ?? 1,
    perSecond,
    lengthSeconds: asked.lengthSeconds ?? Math.max(30, Math.min(60, 12_000 / perSecond)),
    warm: start === 'warm' ? warmEnvironments(perSecond, vendor === 'job' ? 0 : renderSeconds) : {},
    renderSeconds,
    vendor,
    quotas,
    aws: awsQuotasOf(chosen),
    serviceCapacity: asked.serviceCapacity ?? chosen.serviceCapacity,
    isCapacityAsked: asked.serviceCapacity !== undefined,
    accounts: isOne ? 1 : (asked.accounts ?? 10 * perSecond),
    webhookShare: 0.5,
    holdMillis: dynamodbLimits.holdMillis,
    ...(isOne && { limits: ownLimits }),
    ...(asked.stranger && { stranger: asked.stranger }),
  };
}

/** What a service has running that has had this traffic for minutes. */
function warmEnvironments(perSecond: number, heldSeconds: number): ScalePlan['warm'] {
  return {
    generate: perSecond,
    get: perSecond,
    callback: perSecond,
    DeliverWebhook: perSecond,
    RenderImageSmall: Math.ceil(perSecond * (1.25 * heldSeconds + 1)),
    reconcile: 2,
  };
}
