/** The jobs that `npm run simulate` sends to its worker processes, and their reports. */
import type { Narrow } from './clients/narrow-scenarios.ts';
import type { LoadPlan, LoadReport } from './load/measures.ts';
import type { LoadProgress } from './load/run-load.ts';
import type { ScalePlan, ScaleReport } from './load/scale/scale-measures.ts';
import type { Fault } from './world/faults.ts';

/** What an outage takes away: StartExecution, or the room for each function that a Task invokes. */
export type Absent = 'starts' | 'tasks';

/** The work of one worker. A `mutant` is the name of the bug to plant before the product's code is loaded. */
export type Job =
  | {
      readonly kind: 'seeds';
      /** The worker runs the seeds `from`, `from + every`, `from + 2 * every` and so on, all below `to`. */
      readonly from: number;
      readonly to: number;
      readonly every: number;
      readonly stopAtFirst: boolean;
      /** The scenarios of one subject alone, instead of everything. */
      readonly narrow?: Narrow;
      readonly mutant?: string;
    }
  | { readonly kind: 'outage'; readonly of: Absent }
  | { readonly kind: 'load'; readonly plan: LoadPlan }
  | { readonly kind: 'scale'; readonly plan: ScalePlan }
  | { readonly kind: 'trace'; readonly seed: number; readonly narrow?: Narrow; readonly mutant?: string }
  | {
      /**
       * Concurrent clients, one seed after the other, until the service has answered this number of requests.
       */
      readonly kind: 'conflicts';
      readonly from: number;
      readonly every: number;
      readonly requests: number;
      /** The probability that a single write meets a conflict. */
      readonly conflicts: number;
      readonly mutant?: string;
    }
  | {
      /** Part `index` of the `of` parts into which the walk over all call sites is divided. */
      readonly kind: 'exhaustive';
      readonly index: number;
      readonly of: number;
      readonly pairs: boolean;
    };

/** How the creations of a simulated outage ended. */
export interface OutageReport {
  readonly accepted: number;
  readonly acceptedInOutage: number;
  /** The most creations that were open at the same time. */
  readonly mostOpen: number;
  /** How long after its deadline a creation was open, at worst. Negative: none was open so late. */
  readonly latestOpenSeconds: number;
  readonly stillOpen: number;
  readonly refunded: number;
  /** Creations that failed for another reason than their deadlines. */
  readonly givenUp: number;
  readonly openAtTheEnd: number;
  /** Creations that had at least 60 s left at the end of the outage. */
  readonly hadTime: number;
  readonly hadTimeCompleted: number;
  /** Creations that were accepted after the outage. */
  readonly ordinary: number;
  readonly ordinaryCompleted: number;
  /** From acceptance to the end: the median, the 95th and the 99th percentile, and the slowest. */
  readonly ordinarySlowestSeconds: readonly number[];
  /** What the audit found. */
  readonly differences: readonly string[];
}

/** An invariant that did not hold. */
export interface Violation {
  readonly invariant: string;
  readonly detail: string;
}

/** A failed run as the terminal shows it. */
export interface Report {
  /** Absent when the scenario does not come from a seed. */
  readonly seed?: number;
  /** The subject of the scenario, where it has one alone. */
  readonly narrow?: Narrow;
  readonly violation: Violation;
  /** The number of steps and faults before the run was shrunk. */
  readonly found: { readonly steps: number; readonly faults: number };
  /** The steps, the faults and the last lines of the trace of the shrunk run. */
  readonly steps: readonly string[];
  readonly faults: readonly Fault[];
  readonly tail: readonly string[];
}

/** What a worker reports. */
export type Message =
  | {
      readonly kind: 'ran';
      readonly seeds: number;
      readonly faults: number;
      readonly sites: readonly string[];
      /** The call sites at which a fault struck. */
      readonly struck: readonly string[];
      /** How often each kind of fault struck, and how often each incident of a scenario happened. */
      readonly kinds: Readonly<Record<string, number>>;
      readonly slowest: { readonly seed: number; readonly millis: number };
    }
  | {
      /** How often each operation answered with each status. */
      readonly kind: 'answered';
      readonly answers: Readonly<Record<string, number>>;
    }
  | { readonly kind: 'failed'; readonly report: Report }
  | {
      /** The trace of the first of two runs of a seed, and the hashes of both. */
      readonly kind: 'traced';
      readonly lines: readonly string[];
      readonly hashes: readonly [string, string];
      readonly violations: readonly Violation[];
      readonly report?: Report;
    }
  | {
      readonly kind: 'outage';
      readonly report: OutageReport;
      /** One line for each promise that was broken. */
      readonly wrong: readonly string[];
    }
  | { readonly kind: 'loading'; readonly progress: LoadProgress }
  | {
      readonly kind: 'loaded';
      readonly report: LoadReport;
      /** One line for each promise that was broken. */
      readonly wrong: readonly string[];
    }
  | {
      readonly kind: 'scale';
      readonly report: ScaleReport;
      /** One line for each promise that was broken. */
      readonly wrong: readonly string[];
    }
  | { readonly kind: 'done' };

/** The result of all rounds of `--kill`. */
export interface KillReport {
  readonly requests: number;
  readonly retried: number;
  /** How many requests got a 202. */
  readonly accepted: number;
  /** How many creations the service holds at the end. */
  readonly creations: number;
  readonly webhooks: number;
  /** One line for each promise that was broken. */
  readonly wrong: readonly string[];
}

/** What the process of `--kill` reports. */
export type KillMessage =
  | { readonly kind: 'line'; readonly line: string }
  | { readonly kind: 'killed'; readonly report: KillReport };
