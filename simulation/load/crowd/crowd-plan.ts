/** What a crowd is made of: plain data, so that a worker gets it. */
import type { AwsQuotas } from '../../limits/quotas.ts';

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
  /** What comes in these first seconds is not measured: environments start, and the service fills up. */
  readonly warmUpSeconds: number;
  /** Environments that are idle at the beginning, by function: the service has had traffic before. Empty: it is new. */
  readonly warm: Readonly<Record<string, number>>;
  /** How long the vendor takes. */
  readonly renderSeconds: number;
  readonly vendor: VendorKind;
  readonly quotas: QuotaKind;
  readonly aws: AwsQuotas;
  readonly serviceCapacity: number;
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
