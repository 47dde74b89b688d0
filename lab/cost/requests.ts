/** What single requests cost, computed from their reads: held requests, reads of events, and pages of the portal. */
import { eventPausesMillis, longestWaitSeconds, mostEvents } from '../../service/contract/limits.ts';
import type { CreationCount } from './counts.ts';
import {
  accessLogBytes,
  type Bill,
  billFor,
  gigabytesOf,
  invocationCost,
  logsCost,
  type Memory,
  prices,
} from './prices.ts';

/** One entry of a page: two ids of 40 characters, and the names of its members. */
const entryBytes = 110;
const monthSeconds = 30 * 86_400;
/** Of the frame: the first read with five units, and the count of the rate. */
const frame = { readUnits: 5, writeUnits: 1 } as const;
/** The newest page, and the events that have no position yet. */
const readUnitsOfAPoll = 2;

/** USD for reads of events, of 1,000 each, and for a month of one client that always holds a read. */
export function eventBill(memory: Memory) {
  const heldRead = costOfHeldRead(memory);
  return {
    // A transaction doubles the unit of the item.
    written: 1000 * 2 * prices.writeUnit,
    placedAlone: 1000 * unitsToNumber(1) * prices.writeUnit,
    placedTogether: (1000 / mostEvents) * unitsToNumber(mostEvents) * prices.writeUnit,
    heldRead: 1000 * heldRead,
    listeningMonth: (monthSeconds / longestWaitSeconds) * heldRead,
  };
}

/** The page is written twice: as the newest one, and under its number. Each item is deleted by itself. */
function unitsToNumber(events: number): number {
  return 2 * Math.ceil((events * entryBytes) / 1024) + events;
}

function costOfHeldRead(memory: Memory): number {
  const units = {
    readUnits: frame.readUnits + pollsOfHeldRead() * readUnitsOfAPoll,
    // The hold ends by itself.
    writeUnits: frame.writeUnits + 1,
  };
  const seconds = longestWaitSeconds * gigabytesOf('ListEvents', memory);
  return prices.apiRequest + invocationCost(units, seconds, accessLogBytes);
}

/** With the poll before the wait. */
function pollsOfHeldRead(): number {
  let polls = 1;
  for (let elapsed = 0; elapsed < longestWaitSeconds * 1000; polls += 1)
    elapsed += eventPausesMillis[polls - 1] ?? eventPausesMillis[2];
  return polls;
}

/** The times of the first two polls after the beginning of a held read. */
export function pollSeconds(): string {
  const [first, second] = eventPausesMillis;
  return `${first / 1000} and ${(first + second) / 1000}`;
}

const firstPauseMillis = 150;
/** The pauses grow to this (service/openai/hold.ts). */
const longestPauseMillis = 2_000;
/**
 * The record of the tries. With the charge: the entry and the head of the record, each twice in a transaction. After
 * the answer: the entry again.
 */
const triesWriteUnits = 2 * 2 + 1;
/** A slot is taken before the charge, and freed after the answer. */
const slotWriteUnits = 2;
/** The head of the tries. */
const triesReadUnits = 1;

/** USD for 1,000 requests of one image that are held for so long, on top of what 1,000 creations cost. */
export function heldBill(seconds: number, memory: Memory): number {
  return (
    1000 *
    (seconds * gigabytesOf('OpenaiImages', memory) * prices.gigabyteSecond +
      (pollsIn(seconds) + triesReadUnits) * prices.readUnit +
      (triesWriteUnits + slotWriteUnits) * prices.writeUnit +
      // The request comes through a REST API, and not through the HTTP API.
      prices.restRequest -
      prices.apiRequest +
      prices.objectGet +
      logsCost(accessLogBytes))
  );
}

/** Each poll costs one unit: a consistent read of an item of at most 4 KB. */
function pollsIn(seconds: number): number {
  let polls = 1;
  let pause = firstPauseMillis;
  for (let elapsed = 0; elapsed < seconds * 1000; polls += 1) {
    elapsed += pause;
    pause = Math.min(longestPauseMillis, pause * 1.5);
  }
  return polls;
}

/**
 * The requests of the portal's pages, with the units of an account with 30 creations and one person, as the meter of
 * `npm run cost` counted them on 2026-11-22. Later visits of the usage page read the sums of days that are over.
 * Block, session, person, member and account cost 6 of the units of every request.
 */
const requests = {
  me: { cpuMillis: 4.6, readUnits: 9, tableCalls: 3 },
  home: { cpuMillis: 4.2, readUnits: 19.5, tableCalls: 6 },
  creations: { cpuMillis: 5.7, readUnits: 32.5, tableCalls: 4 },
  keys: { cpuMillis: 3.1, readUnits: 7, tableCalls: 2 },
  models: { cpuMillis: 2.5, readUnits: 7, tableCalls: 2 },
  ledger: { cpuMillis: 4.3, readUnits: 11, tableCalls: 4 },
  usage: { cpuMillis: 4.7, readUnits: 40.5, tableCalls: 6 },
} as const;

/**
 * The requests of the API that a page makes when it is opened. The first page also loads three files: page, script
 * and styles.
 */
const views = {
  'the first page': ['me', 'home'],
  home: ['home'],
  creations: ['creations', 'models', 'keys'],
  wallet: ['keys', 'ledger'],
  usage: ['usage'],
} as const satisfies Readonly<Record<string, readonly (keyof typeof requests)[]>>;

type ViewName = keyof typeof views;
export const viewNames = Object.keys(views) as ViewName[];

/** The parts of the bill of a view, in the order of the page. A view writes nothing and stores nothing. */
export const viewParts = [
  'Table reads',
  'Functions, time',
  'Functions, invocations',
  'API requests',
  'Logs',
  'CloudFront',
] as const;

/** What 1,000 views of a page cost, in USD by part. */
export function viewBill(
  name: ViewName,
  memory: Memory,
): Readonly<Record<(typeof viewParts)[number], number>> {
  const bills = views[name].map((ask) => billFor(countOf(requests[ask]), memory));
  const sum = (part: keyof Bill): number => bills.reduce((total, bill) => total + bill[part], 0);
  const files = name === 'the first page' ? 3 : 0;
  return {
    'Table reads': sum('Table reads'),
    'Functions, time': sum('Functions, time'),
    'Functions, invocations': sum('Functions, invocations'),
    'API requests': sum('API requests'),
    Logs: sum('Logs'),
    CloudFront: 1000 * ((bills.length + files) * prices.edgeRequest + files * prices.edgeFunction),
  };
}

function countOf({ tableCalls, ...one }: (typeof requests)[keyof typeof requests]): CreationCount {
  const read = { ...one, invocations: 1, writeUnits: 0, calls: { 'dynamodb Query': tableCalls } };
  return { functions: { PortalRead: read }, transitions: 0, logBytes: 0, storedBytes: 0 };
}
