/** What it costs that a request of the OpenAI-shaped endpoint is held, computed from the looks of a held request. */
import type { Memory } from './bill.ts';
import { accessLogBytes, platformLogBytes, prices } from './prices.ts';

const firstLookMillis = 150;
/** The pauses grow to this (functions/openai/images/hold.ts). */
const longestLookMillis = 2_000;
/**
 * The record of the tries. With the charge: an entry and the head of its place, each twice in a transaction. After
 * the answer: the entry again.
 */
const triesWriteUnits = 2 * 2 + 1;
/** A place is taken before the charge, and given back after the answer. */
const placeWriteUnits = 2;
/** The head of the tries. */
const triesReadUnits = 1;

/** USD for 1,000 requests of one image that are held for so long, on top of what 1,000 creations cost. */
export function heldBill(seconds: number, memory: Memory): number {
  const gigabytes = (memory['OpenaiImages'] ?? 0) / 1024;
  return (
    1000 *
    (seconds * gigabytes * prices.gigabyteSecond +
      (looksIn(seconds) + triesReadUnits) * prices.readUnit +
      (triesWriteUnits + placeWriteUnits) * prices.writeUnit +
      // The request comes through a REST API, and not through the HTTP API.
      prices.restRequest -
      prices.apiRequest +
      prices.objectGet +
      ((platformLogBytes + accessLogBytes) / 1e9) * prices.logGigabyte)
  );
}

/** Each look reads one unit: a consistent read of an item of at most 4 KB. */
function looksIn(seconds: number): number {
  let looks = 1;
  let pause = firstLookMillis;
  for (let elapsed = 0; elapsed < seconds * 1000; looks += 1) {
    elapsed += pause;
    pause = Math.min(longestLookMillis, pause * 1.5);
  }
  return looks;
}
