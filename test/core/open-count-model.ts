/**
 * A model of admission at a high rate: arrivals that go up and down, the running count, and an anchor once a minute.
 * The model uses the functions of core and no service, so a test of ten minutes takes less than a second.
 */
import { uuidV7, type CreationId } from '../../core/ids.ts';
import {
  nextAnchor,
  openNow,
  sampledCount,
  sampledOneIn,
  withTurn,
  type OpenAnchor,
} from '../../core/open-count.ts';

export interface ModelOptions {
  readonly capacity: number;
  /** From which second on how many requests arrive a second. */
  readonly arrivals: readonly (readonly [fromSecond: number, perSecond: number])[];
  readonly seconds: number;
  /** How long creations are open, of several kinds. Each takes a random time of 80 to 120 percent of its kind's. */
  readonly openSeconds: readonly number[];
  readonly seed: number;
  /** The environments of the function that charges. Each counts its own turns. */
  readonly environments?: number;
  /** The seconds that a count takes. Work goes on meanwhile. */
  readonly countSeconds?: number;
  /** The share of notes that are lost. */
  readonly lost?: number;
  /** False: a planted bug, ends are not noted. */
  readonly notesEnds?: boolean;
}

export interface Measured {
  /** The largest and the smallest part of the capacity that was open while the service was full. */
  readonly most: number;
  readonly least: number;
  /** Writes to the running count for each creation that was accepted. */
  readonly writesEach: number;
  readonly accepted: number;
  readonly refused: number;
  /** For how much of the time the service was full. */
  readonly fullShare: number;
}

/** mulberry32: a small generator of numbers from 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const ticksPerSecond = 20;
const minuteSeconds = 60;

/** Full: the last second refused a request. Then the number of open creations is held against the capacity. */
export function measureAdmission(options: ModelOptions): Measured {
  const { capacity, seconds, openSeconds, countSeconds = 2, lost = 0, notesEnds = true } = options;
  const { environments = 50 } = options;
  const random = randomOf(options.seed);
  const bytes = (): Uint8Array => Uint8Array.from({ length: 16 }, () => Math.floor(random() * 256));
  const oneIn = sampledOneIn(capacity);
  const turns = Array.from({ length: environments }, () => Math.floor(random() * 256));
  const ends = new Map<number, CreationId[]>();
  let anchor: OpenAnchor = { counted: 0 };
  let running = 0;
  let open = 0;
  let counting: { readonly before: number; readonly counted: number; readonly until: number } | undefined;
  let [writes, accepted, refused, fullTicks, refusedAt] = [0, 0, 0, 0, -Infinity];
  let [most, least] = [0, Infinity];
  const note = (change: number): void => {
    if (change === 0) return;
    writes += 1;
    if (random() >= lost) running += change;
  };
  let due = 0;
  for (let tick = 0; tick < seconds * ticksPerSecond; tick += 1) {
    const second = tick / ticksPerSecond;
    for (const id of ends.get(tick) ?? []) {
      open -= 1;
      if (notesEnds) note(-sampledCount([id], oneIn));
    }
    ends.delete(tick);
    if (tick % (minuteSeconds * ticksPerSecond) === 0)
      // The count sees a shard early and another one late: on average the middle of its time.
      counting = { before: running, counted: -1, until: tick + countSeconds * ticksPerSecond };
    if (counting && tick === counting.until - (countSeconds * ticksPerSecond) / 2)
      counting = { ...counting, counted: open };
    if (counting && tick === counting.until) {
      anchor = nextAnchor(anchor, counting.counted, (counting.before + running) / 2, oneIn);
      counting = undefined;
    }
    const perSecond = options.arrivals.findLast(([from]) => second >= from)?.[1] ?? 0;
    due += perSecond / ticksPerSecond;
    // All requests of a tick read the same estimate: a charge and its note take some milliseconds.
    const room = openNow(anchor, running) + 1 <= capacity;
    const started: CreationId[] = [];
    for (; due >= 1; due -= 1) {
      if (!room) {
        refused += 1;
        refusedAt = tick;
        continue;
      }
      const environment = Math.floor(random() * environments);
      const turn = (turns[environment] ?? 0) + 1;
      turns[environment] = turn;
      const id = uuidV7(tick * 50, withTurn(bytes(), turn)) as CreationId;
      started.push(id);
      const kind = openSeconds[Math.floor(random() * openSeconds.length)] ?? 0;
      const endsAt = tick + Math.round(kind * (0.8 + 0.4 * random()) * ticksPerSecond);
      ends.set(endsAt, [...(ends.get(endsAt) ?? []), id]);
    }
    open += started.length;
    accepted += started.length;
    for (const id of started) note(sampledCount([id], oneIn));
    if (tick - refusedAt > ticksPerSecond) continue;
    fullTicks += 1;
    most = Math.max(most, open / capacity);
    least = Math.min(least, open / capacity);
  }
  return {
    most,
    least,
    writesEach: writes / accepted,
    accepted,
    refused,
    fullShare: fullTicks / (seconds * ticksPerSecond),
  };
}
