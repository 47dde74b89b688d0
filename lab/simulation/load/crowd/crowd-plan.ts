/** What a crowd is made of: plain data, so that a worker gets it. */
import { defaultQuotas, quotasFor } from '../../../../admin/preflight/quotas/quotas.ts';
import { type AwsQuotas, awsQuotasOf, dynamodbLimits } from '../../limits/quotas.ts';

/** Whether somebody holds the vendor's connection, or the vendor calls back. */
export const vendorKinds = ['synchronous', 'job'] as const;
export type VendorKind = (typeof vendorKinds)[number];

export const quotaKinds = ['default', 'raised'] as const;
export type QuotaKind = (typeof quotaKinds)[number];

export interface CrowdPlan {
  readonly situation: 'crowd' | 'one-account';
  readonly seed: number;
  /** Requests for an image a second, at random moments. */
  readonly perSecond: number;
  /** How long requests come. */
  readonly lengthSeconds: number;
  /** Environments that are idle at the beginning, by function: the service has had traffic before. Empty: it is new. */
  readonly warm: Readonly<Record<string, number>>;
  /** How long the vendor takes. */
  readonly renderSeconds: number;
  readonly vendor: VendorKind;
  readonly quotas: QuotaKind;
  readonly aws: AwsQuotas;
  readonly serviceCapacity: number;
  /** Somebody asked for this capacity, so it may be what limits the traffic. */
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
export interface AskedCrowd {
  readonly situation: CrowdPlan['situation'];
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

/** One account of a one-account crowd may do what it likes. */
const ownLimits = { postRate: 1_000_000, getRate: 1_000_000, maxConcurrent: 100_000 };

export function crowdPlan(asked: AskedCrowd): CrowdPlan {
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
  };
}

/** What a service has running that has had this traffic for minutes. */
function warmEnvironments(perSecond: number, heldSeconds: number): CrowdPlan['warm'] {
  return {
    generate: perSecond,
    get: perSecond,
    callback: perSecond,
    DeliverWebhook: perSecond,
    RenderImageSmall: Math.ceil(perSecond * (1.25 * heldSeconds + 1)),
    reconcile: 2,
  };
}
