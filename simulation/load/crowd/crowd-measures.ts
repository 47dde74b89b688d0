/** What a crowd measures, and the report that is made of it. */
import type { CrowdAudit } from './audit-crowd.ts';
import type { CrowdPlan } from './crowd-plan.ts';

/** A limit that refused something, and when it did so first. */
export interface LimitMet {
  readonly limit: string;
  readonly count: number;
  readonly firstAtSeconds: number;
}

export interface CrowdReport {
  readonly plan: CrowdPlan;
  readonly requests: number;
  readonly accepted: number;
  /** Requests that were answered with something else than 202, by status and reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** Polls that were answered with something else than 200, by status. */
  readonly refusedPolls: Readonly<Record<string, number>>;
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
  readonly audited: Omit<CrowdAudit, 'differences'>;
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
