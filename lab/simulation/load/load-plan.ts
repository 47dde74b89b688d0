/** What a run of load is made of: the traffic, and what goes wrong meanwhile. Plain data, so that a worker gets it. */
import { createStream } from '../world/dice.ts';

/** The ways in which a provider is down. lab/simulation/network/weather.ts says what each does. */
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

/** The least minutes of a run: two before the provider goes down, ten without it, and two behind. */
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

/**
 * Milliseconds from the start to each arrival in turn. The arrivals do not know of each other, so the gaps between
 * them are exponential: a quiet second and a crowded one are as likely as with real clients.
 *
 * @param perSecond the rate at a moment, in milliseconds from the start
 */
export function* arrivals(
  seed: number,
  perSecond: (sinceStart: number) => number,
  lengthMillis: number,
): Generator<number> {
  const stream = createStream(seed);
  for (let at = 0; ;) {
    at += (-Math.log(1 - stream()) * 1000) / perSecond(at);
    if (at >= lengthMillis) return;
    yield at;
  }
}
