/** A cached value of a store. What the cached value lacks is read again. */
import type { Clock } from './runtime.ts';

/** An absent entry is read from the store at most once in this time. */
const absentMillis = 1_000;

export interface Kept<Value> {
  /** The value as it was at most `keptMillis` ago. Throws as the read does, and never answers with an older value. */
  read(): Promise<Value>;
  /** What `pick` finds in the value, or in a fresh one when it finds nothing. Throws as the read does. */
  find<Found>(pick: (value: Value) => Found | undefined): Promise<Found | undefined>;
  forget(): void;
}

export function keep<Value>(
  keptMillis: number,
  ask: () => Promise<Value>,
  clock: Pick<Clock, 'now'>,
): Kept<Value> {
  let kept: { readonly value: Value; readonly at: number } | undefined;
  /** The last read for something absent. Everybody who misses something within a second shares it. */
  let again: { readonly value: Promise<Value>; readonly at: number } | undefined;
  const isYounger = (at: number | undefined, millis: number): boolean =>
    at !== undefined && Math.abs(clock.now() - at) < millis;
  const askNow = async (): Promise<Value> => {
    const at = clock.now();
    const value = await ask();
    kept = { value, at };
    return value;
  };
  return {
    read: async () => (kept && isYounger(kept.at, keptMillis) ? kept.value : askNow()),
    find: async (pick) => {
      if (!kept || !isYounger(kept.at, keptMillis)) return pick(await askNow());
      const found = pick(kept.value);
      if (found !== undefined) return found;
      if (!again || !isYounger(again.at, absentMillis)) again = { value: askNow(), at: clock.now() };
      return pick(await again.value);
    },
    forget: () => {
      kept = undefined;
    },
  };
}
