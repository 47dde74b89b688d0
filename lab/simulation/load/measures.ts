/** What a run of load measures of each creation, and the report that is made of it. */

/** One creation. All times are milliseconds from the start of the run. */
export interface Followed {
  /** When it was charged. */
  readonly acceptedAt: number;
  /** The provider that was asked first, absent before that. */
  firstAsked?: string;
  /** Whether a provider was asked while it was down. */
  hasFelt: boolean;
  endedAt?: number;
  isCompleted?: boolean;
}

/** The creations that were accepted in the same half minute. */
export interface HalfMinute {
  readonly fromSeconds: number;
  readonly accepted: number;
  /** How many asked the provider while it was down. */
  readonly felt: number;
  readonly askedFirst: number;
  readonly failed: number;
  /** From the acceptance to the end: the median, the 99th percentile, and the slowest. */
  readonly waitSeconds: readonly number[];
}

export interface LoadReport {
  readonly plan: LoadPlan;
  readonly accepted: number;
  /** Requests that were answered with something else than 202, by status. */
  readonly refused: Readonly<Record<string, number>>;
  readonly completed: number;
  readonly failed: number;
  readonly stillOpen: number;
  readonly halfMinutes: readonly HalfMinute[];
  /** Creations that were accepted while the provider was down, but not in its first 30 s. */
  readonly later: { readonly accepted: number; readonly felt: number };
  /** From the return of the provider until it had nine tenths of its traffic for good. Infinity: never. */
  readonly backAfterSeconds: number;
  /** The differences that the audit found. */
  readonly differences: readonly string[];
}

/** What is counted apart from the creations. */
export type Counted = Pick<LoadReport, 'refused' | 'differences'>;

const bucketSeconds = 30;
/** In the first half minute the service cannot know that the provider is down. */
const graceSeconds = 30;
const backWindowSeconds = 10;
const backShare = 0.9;

export function reportOf(
  plan: LoadPlan,
  down: string,
  all: readonly Followed[],
  { refused, differences }: Counted,
): LoadReport {
  const { beforeSeconds, downSeconds, afterSeconds } = plan;
  const backAt = beforeSeconds + downSeconds;
  const later = acceptedBetween(all, beforeSeconds + graceSeconds, backAt);
  return {
    plan,
    accepted: all.length,
    refused,
    completed: all.filter(({ isCompleted }) => isCompleted === true).length,
    failed: all.filter(({ isCompleted }) => isCompleted === false).length,
    stillOpen: all.filter(({ endedAt }) => endedAt === undefined).length,
    halfMinutes: starts(0, backAt + afterSeconds, bucketSeconds).map((from) => halfMinuteOf(from, down, all)),
    later: { accepted: later.length, felt: later.filter(({ hasFelt }) => hasFelt).length },
    backAfterSeconds: backAfter(down, all, backAt, backAt + afterSeconds),
    differences,
  };
}

/** From the last window on in which the provider had less than its share. */
function backAfter(down: string, all: readonly Followed[], backAt: number, end: number): number {
  const isShort = (from: number): boolean => {
    const accepted = acceptedBetween(all, from, from + backWindowSeconds);
    return accepted.filter(({ firstAsked }) => firstAsked === down).length < backShare * accepted.length;
  };
  const windows = starts(backAt, end, backWindowSeconds);
  const lastShort = windows.findLast(isShort);
  if (lastShort === undefined) return 0;
  return lastShort === windows.at(-1) ? Infinity : lastShort + backWindowSeconds - backAt;
}

function halfMinuteOf(fromSeconds: number, down: string, all: readonly Followed[]): HalfMinute {
  const accepted = acceptedBetween(all, fromSeconds, fromSeconds + bucketSeconds);
  const waits = accepted
    .map(({ acceptedAt, endedAt = Infinity }) => (endedAt - acceptedAt) / 1000)
    .sort((one, other) => one - other);
  return {
    fromSeconds,
    accepted: accepted.length,
    felt: accepted.filter(({ hasFelt }) => hasFelt).length,
    askedFirst: accepted.filter(({ firstAsked }) => firstAsked === down).length,
    failed: accepted.filter(({ isCompleted }) => isCompleted === false).length,
    waitSeconds: [0.5, 0.99, 1].map((share) => waits[Math.ceil(share * waits.length) - 1] ?? 0),
  };
}

function acceptedBetween(all: readonly Followed[], fromSeconds: number, toSeconds: number): Followed[] {
  return all.filter(({ acceptedAt }) => acceptedAt >= fromSeconds * 1000 && acceptedAt < toSeconds * 1000);
}

function starts(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, index) => from + index * step);
}

const mostFelt = 0.01;
const latestBackSeconds = 120;

/** One line for each promise that the report breaks. */
export function brokenPromises(report: LoadReport): string[] {
  const { later, backAfterSeconds, stillOpen, failed, refused, differences } = report;
  const refusals = Object.entries(refused).map(([status, count]) => `${count} with ${status}`);
  const lines: readonly (readonly [isKept: boolean, line: string])[] = [
    [
      later.accepted > 0 && later.felt <= mostFelt * later.accepted,
      `${later.felt} of ${later.accepted} creations felt the outage after its first 30 s`,
    ],
    [
      backAfterSeconds <= latestBackSeconds,
      `the provider had its traffic again only after ${backAfterSeconds} s`,
    ],
    [failed === 0, `${failed} creations failed`],
    [stillOpen === 0, `${stillOpen} creations are still open`],
    [refusals.length === 0, `requests were refused: ${refusals.join(', ')}`],
    ...differences.map((difference) => [false, difference] as const),
  ];
  return lines.flatMap(([isKept, line]) => (isKept ? [] : [line]));
}

// The plan of a load: its traffic and its faults. Plain data, so that a worker gets it.

/** The ways in which a provider is down. lab/simulation/network/flapping-providers.ts says what each does. */
export const waysDown = ['refuses', 'unreachable', 'hangs'] as const;
export type WayDown = (typeof waysDown)[number];

export interface LoadPlan {
  readonly situation: 'provider-down';
  /** How the first provider of the model is down. */
  readonly way: WayDown;
  readonly seed: number;
  /** Requests a second, at random moments. */
  readonly perSecond: number;
  readonly beforeSeconds: number;
  readonly downSeconds: number;
  readonly afterSeconds: number;
  /** The least and the most seconds that a rendering takes. */
  readonly renderSeconds: readonly [least: number, most: number];
  readonly deadlineSeconds: number;
  readonly accounts: number;
}

/** The provider that goes down, the one that takes over, and their model. */
export const loaded = { model: 'flux-2-max', down: 'alibaba', other: 'ideogram' } as const;

const downSeconds = 600;
const beforeSeconds = 120;

/** The least minutes of a run: two before the provider goes down, ten without it, and two after it. */
export const leastMinutes = (beforeSeconds + downSeconds + 120) / 60;

/** Ten minutes without a provider, within the given minutes of traffic. */
export function providerDown(way: WayDown, perSecond: number, minutes: number, seed = 1): LoadPlan {
  return {
    situation: 'provider-down',
    way,
    seed,
    perSecond,
    beforeSeconds,
    downSeconds,
    afterSeconds: minutes * 60 - beforeSeconds - downSeconds,
    renderSeconds: [5, 15],
    deadlineSeconds: 300,
    accounts: 40,
  };
}
