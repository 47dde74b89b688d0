/** What events cost, computed from the calls of adapters/dynamodb/event-log.ts. */
import { eventPausesMillis, longestWaitSeconds, mostEvents } from '../../core/limits.ts';
import type { Memory } from './bill.ts';
import { accessLogBytes, platformLogBytes, prices } from './prices.ts';

/** One entry of a page: two ids of 40 characters, and the names of its members. */
const entryBytes = 110;
const monthSeconds = 30 * 86_400;
/** Of the frame: the first read with five units, and the place in the rate. */
const frame = { readUnits: 5, writeUnits: 1 } as const;
/** The newest page, and the events without a place. */
const readUnitsOfALook = 2;

/** USD. */
export interface EventBill {
  readonly written: number;
  readonly placedAlone: number;
  readonly placedInCrowd: number;
  readonly heldRead: number;
  readonly listeningMonth: number;
}

export function eventBill(memory: Memory): EventBill {
  const heldRead = costOfHeldRead((memory['ListEvents'] ?? 0) / 1024);
  return {
    // A transaction doubles the unit of the item.
    written: 1000 * 2 * prices.writeUnit,
    placedAlone: 1000 * unitsToPlace(1) * prices.writeUnit,
    placedInCrowd: (1000 / mostEvents) * unitsToPlace(mostEvents) * prices.writeUnit,
    heldRead: 1000 * heldRead,
    listeningMonth: (monthSeconds / longestWaitSeconds) * heldRead,
  };
}

/** The page is written twice: as the newest one, and under its number. Each item is deleted by itself. */
function unitsToPlace(events: number): number {
  return 2 * Math.ceil((events * entryBytes) / 1024) + events;
}

function costOfHeldRead(gigabytes: number): number {
  const reads = frame.readUnits + looksOfHeldRead() * readUnitsOfALook;
  // The hold ends by itself.
  const writes = frame.writeUnits + 1;
  return (
    reads * prices.readUnit +
    writes * prices.writeUnit +
    prices.invocation +
    prices.apiRequest +
    longestWaitSeconds * gigabytes * prices.gigabyteSecond +
    ((platformLogBytes + accessLogBytes) / 1e9) * prices.logGigabyte
  );
}

/** With the look before the wait. */
function looksOfHeldRead(): number {
  let looks = 1;
  for (let elapsed = 0; elapsed < longestWaitSeconds * 1000; looks += 1)
    elapsed += eventPausesMillis[looks - 1] ?? eventPausesMillis[2];
  return looks;
}

/** The times of the first looks of a held read. */
export function lookSeconds(): string {
  const [first, second] = eventPausesMillis;
  return `${first / 1000} and ${(first + second) / 1000}`;
}
