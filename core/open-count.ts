/**
 * How many creations are open in the whole service, known within a few percent at every moment (decision 3).
 *
 * The reconciler counts the index of open work once a minute: this count is the anchor. Between two anchors one
 * item, the running count, follows a sample of the creations: the start of a sampled creation adds `oneIn` to the
 * item, and its end takes `oneIn` away. The id alone decides whether a creation is in the sample, so that start and
 * end agree without a record of it.
 */
import type { CreationId } from './ids.ts';

/**
 * One creation in so many is in the sample, by the capacity from which on. A creation of the sample costs two writes,
 * so a creation costs 1, 0.5 or 0.25 writes on average. Creations of 15 s stay within 5 % of the capacity, and a
 * mixture of 5 s and 60 s within 10 % (test/core/open-count.test.ts). Each number divides the next one, so creations
 * that stay open across a change of the setting are counted right on average.
 */
const samples = [
  { from: 8_000, oneIn: 8 },
  { from: 2_000, oneIn: 4 },
  { from: 0, oneIn: 2 },
] as const;

/** Which part of the creations the running count follows. @param capacity the setting serviceCapacity */
export function sampledOneIn(capacity: number): number {
  return samples.find(({ from }) => capacity >= from)?.oneIn ?? 2;
}

/** Whether the running count follows this creation. The byte that decides is none of the time of the UUIDv7. */
export function isSampled(id: CreationId, oneIn: number): boolean {
  return Number.parseInt(id.slice(26, 28), 16) % oneIn === 0;
}

/** The place of that byte among the 16 of an id. */
const decidingByte = 11;
/** Every `oneIn` divides this number. */
const turns = 8;

/**
 * The random bytes of a creation's id, with its turn in three of their bits. An environment counts its turns, so that
 * of each eight of its creations exactly one, two or four are in the sample. The sample is then far more even than
 * chance: creations of one age are open or ended together.
 * @param turn a whole number, one more for each creation of this environment
 */
export function withTurn(randomBytes: Uint8Array, turn: number): Uint8Array {
  return randomBytes.map((byte, place) => (place === decidingByte ? (byte & 0xf8) | (turn % turns) : byte));
}

/** What the start of these creations adds to the running count. Their ends take the same away. */
export function sampledCount(ids: readonly CreationId[], oneIn: number): number {
  return oneIn * ids.filter((id) => isSampled(id, oneIn)).length;
}

/** What the reconciler's last count left behind. */
export interface OpenAnchor {
  /** The creations that it counted. */
  readonly counted: number;
  /** The running count that goes with `counted`. Absent: an earlier release counted. */
  readonly running?: number;
}

/** The creations that are open now, as far as anchor and running count tell. */
export function openNow({ counted, running }: OpenAnchor, runningNow: number): number {
  return Math.max(0, Math.round(running === undefined ? counted : counted + runningNow - running));
}

/** Which part of an ordinary difference an anchor corrects. */
const correctedShare = 1 / 4;
/** A larger difference is no chance: notes were lost or made twice. In standard deviations of a random sample. */
const ordinaryDeviations = 4;

/**
 * The anchor after a count. An anchor that took over every difference would add the error of the sample at its own
 * moment to every later estimate. So a difference that chance explains is corrected by a quarter. A larger one is
 * corrected as a whole.
 * @param runningThen the running count at the moment of the count
 */
export function nextAnchor(
  last: OpenAnchor,
  counted: number,
  runningThen: number,
  oneIn: number,
): Required<OpenAnchor> {
  if (last.running === undefined) return { counted, running: runningThen };
  const difference = counted - (last.counted + runningThen - last.running);
  const usual = Math.sqrt(Math.max(1, counted) * (oneIn - 1));
  const isChance = Math.abs(difference) <= ordinaryDeviations * usual;
  const left = isChance ? Math.round(difference * (1 - correctedShare)) : 0;
  return { counted, running: runningThen + left };
}
