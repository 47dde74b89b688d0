/** The moments at which requests arrive. */
import { createStream } from '../world/dice.ts';

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
