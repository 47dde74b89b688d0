/**
 * The measured health of a route: how often it rendered and failed recently, how long it took, and whether
 * its circuit is open. Everything here is a function of stored sums and the time. docs/decisions/0009 gives
 * the reasons.
 *
 *   closed ──(one of `openings` holds)──▶ open ──(the time of a probe has come)──▶ one creation probes
 *      ▲                                   ▲                                            │
 *      │                                   └──────────────(it fails)───────────────────┤
 *      └────────────────────────(a creation begun since then renders)──────────────────┘
 */
import type { RefusalReason } from '../contract/failures.ts';
import { isProvidersFailure, outcomeOf } from '../contract/route-outcome.ts';
import type { RouteEnd } from './route-end.ts';

export type HealthSign = 'rendered' | 'failure' | 'key_refused';

/** The sums of five seconds. A sampled note counts as the number of creations that it represents. */
export interface HealthWindow {
  readonly startMillis: number;
  readonly rendered: number;
  readonly failed: number;
  readonly keyRefused: number;
}

export interface HealthHour {
  readonly startMillis: number;
  readonly rendered: number;
  /** The milliseconds of these renderings together. */
  readonly millis: number;
}

/** All times are Unix milliseconds. */
export interface RouteHealth {
  readonly windows: readonly HealthWindow[];
  readonly hours: readonly HealthHour[];
  /** When the circuit opened. Absent: it is closed. */
  readonly openedAt?: number;
  readonly probeAt?: number;
  readonly probes?: number;
  readonly restUntil?: number;
}

export const noHealth: RouteHealth = { windows: [], hours: [] };

export const windowMillis = 5_000;
export const hourMillis = 3_600_000;
const keptWindows = 12;
const keptHours = 2;

/** When a circuit opens: the first row that holds. */
const openings = [
  { withinSeconds: 10, sign: 'failure', atLeast: 5, percent: 50 },
  { withinSeconds: 60, sign: 'failure', atLeast: 5, percent: 50 },
  { withinSeconds: 60, sign: 'failure', atLeast: 3, percent: 100 },
  // A vendor that refuses our key refuses it for all accounts: a few refusals among many images are enough.
  { withinSeconds: 10, sign: 'key_refused', atLeast: 3, percent: 5 },
] as const satisfies readonly {
  readonly withinSeconds: number;
  readonly sign: HealthSign;
  readonly atLeast: number;
  /** The least share of failures among failures and renderings. */
  readonly percent: number;
}[];

/** Seconds from the opening to the first probe, and from each probe to the next. The last holds for all others. */
export const probeWaitsSeconds = [15, 15, 30, 60] as const;
/** Seconds between the creations that measure a route whose time is unknown. */
const measureWaitSeconds = 60;

/** A vendor that throttles us gets no calls for as long as it says, within these bounds. */
const rest = { leastMillis: 1_000, mostMillis: 120_000 } as const;

/** @param retryAfterMillis what the vendor says */
export function restMillis(retryAfterMillis: number): number {
  return Math.min(Math.max(retryAfterMillis, rest.leastMillis), rest.mostMillis);
}

/** Sampling by the notes a second of a route: one end in N is noted, and counts as N. */
export const noteShares = [
  { fromPerSecond: 800, oneIn: 256 },
  { fromPerSecond: 200, oneIn: 64 },
  { fromPerSecond: 80, oneIn: 16 },
  { fromPerSecond: 20, oneIn: 4 },
] as const;

/** A creation that waits for longer than this share of the usual time is late. */
const lateFactor = 2;
const leastLateMillis = 5_000;

/** What each refusal says about the route. A job stopped by request says nothing. */
const signOfReason: Readonly<Partial<Record<RefusalReason, HealthSign>>> = {
  unavailable: 'failure',
  unknown_outcome: 'failure',
  credentials: 'key_refused',
};

/** What the end of an attempt says about the route. Undefined: nothing. */
export function signOf(end: RouteEnd): HealthSign | undefined {
  switch (end.kind) {
    case 'rendered':
      return 'rendered';
    case 'no_answer':
      return 'failure';
    // The vendor works: it serves other requests correctly.
    case 'not_honoured':
      return undefined;
    case 'refused':
      if (!isProvidersFailure(outcomeOf(end.reason))) return undefined;
      return isServerError(end.reason, end.detail) ? 'failure' : signOfReason[end.reason];
  }
}

/** An adapter writes the status into the detail. A job that failed has no such status. */
function isServerError(reason: RefusalReason, detail = ''): boolean {
  return reason === 'failed' && /^HTTP 5\d\d\b/.test(detail);
}

/** The windows of the last minute, and the hours from which the time of a rendering is estimated. */
export function isKept(startMillis: number, kind: 'window' | 'hour', nowMillis: number): boolean {
  const [span, kept] = kind === 'window' ? [windowMillis, keptWindows] : [hourMillis, keptHours];
  return startMillis > nowMillis - kept * span;
}

/** The sums of the windows that begin within these seconds. */
export function sumsWithin({ windows }: RouteHealth, seconds: number, nowMillis: number): HealthSums {
  const sums = { rendered: 0, failed: 0, keyRefused: 0 };
  for (const { startMillis, rendered, failed, keyRefused } of windows) {
    if (startMillis <= nowMillis - seconds * 1000) continue;
    sums.rendered += rendered;
    sums.failed += failed;
    sums.keyRefused += keyRefused;
  }
  return sums;
}

export type HealthSums = Omit<HealthWindow, 'startMillis'>;

export function opensNow(health: RouteHealth, nowMillis: number): boolean {
  return openings.some(({ withinSeconds, sign, atLeast, percent }) => {
    const { rendered, failed, keyRefused } = sumsWithin(health, withinSeconds, nowMillis);
    const count = sign === 'key_refused' ? keyRefused : failed;
    return count >= atLeast && 100 * failed >= percent * (failed + rendered);
  });
}

/** A rendering that began before the circuit opened says nothing about the vendor's present state. */
export function closesNow({ openedAt }: RouteHealth, sign: HealthSign, startedAtMillis: number): boolean {
  return openedAt !== undefined && sign === 'rendered' && startedAtMillis >= openedAt;
}

/** When the next creation may probe after a claimed probe. */
export function nextProbe({ openedAt, probes = 0 }: RouteHealth, nowMillis: number): number {
  const wait =
    openedAt === undefined
      ? measureWaitSeconds
      : probeWaitsSeconds[Math.min(probes + 1, probeWaitsSeconds.length - 1)];
  return nowMillis + (wait ?? measureWaitSeconds) * 1000;
}

/** Milliseconds of a usual rendering. Undefined: not measured recently. */
export function meanMillis({ hours }: RouteHealth, nowMillis: number): number | undefined {
  let [rendered, millis] = [0, 0];
  for (const hour of hours) {
    if (!isKept(hour.startMillis, 'hour', nowMillis)) continue;
    rendered += hour.rendered;
    millis += hour.millis;
  }
  return rendered > 0 ? millis / rendered : undefined;
}

/** Milliseconds after which an attempt without an answer counts as a failure. Undefined: unknown. */
export function lateAfterMillis(health: RouteHealth, nowMillis: number): number | undefined {
  const mean = meanMillis(health, nowMillis);
  return mean === undefined ? undefined : Math.max(leastLateMillis, Math.round(mean * lateFactor));
}

/** One of this many ends of a kind is recorded, because a busy item takes few writes a second. */
export function noteWeight(health: RouteHealth, sign: HealthSign, nowMillis: number): number {
  if (health.openedAt !== undefined) return 1;
  let busiest = 0;
  for (const { startMillis, rendered, failed } of health.windows) {
    if (startMillis <= nowMillis - 3 * windowMillis) continue;
    busiest = Math.max(busiest, sign === 'rendered' ? rendered : failed);
  }
  const perSecond = busiest / (windowMillis / 1000);
  return noteShares.find(({ fromPerSecond }) => perSecond >= fromPerSecond)?.oneIn ?? 1;
}
