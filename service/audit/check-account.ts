/**
 * Reads all rows of an account's ledger while the service works, and compares them with the stored sums. The
 * rows are read in the order of their time, and only their sums are kept. The stored sums are read last, at a
 * moment when no money moved:
 *
 *   rows of the last minute     are counted
 *   the stored sums             are read
 *   rows of the last minute     none is new, so the stored sums belong to the rows that were counted
 *
 * A check that begins at a closing balance skips the months up to that balance. Rows that are an hour old no
 * longer change, so their reads need not be consistent, which halves their price. All reads of a second check
 * are consistent.
 */
import { type AccountId, type CreationId, timeOfUuidV7, uuidV7 } from '../values/ids.ts';
import type { BooksReader } from './books-reads.ts';
import { type AuditedRow, compare, type Finding, type PlacedRow, type StoredSums } from './books.ts';
import { type Closing, endOfMonth, monthOfRow } from './closings.ts';
import { createCreationTally, type CreationTally, type CreationTallyState } from './creation-tally.ts';
import { createLedgerSums, type LedgerSums, type LedgerSumsState } from './ledger-sums.ts';

/** The time in a row is taken before its transaction. The row can appear this much later. */
const lateMillis = 60_000;
const settledMillis = 3_600_000;
/** More than any clock of AWS is wrong. */
const wrongClockMillis = 3_600_000;
/** Tries to find a moment in which no money moves. */
const quietTries = 40;

export interface CheckState {
  /** Where the check began. Absent: at the first row. */
  readonly closed?: Closing;
  /** Position of the last row that was read. Absent: no row was read. */
  readonly place?: string;
  readonly newestMillis: number;
  readonly recent: readonly string[];
  readonly sums: LedgerSumsState;
  readonly creations: CreationTallyState;
  readonly listedAfter?: CreationId;
}

export type Findings = ReadonlyMap<string, readonly Finding[]>;

export type AccountCheck =
  | { readonly kind: 'checked'; readonly books: OpenBooks }
  | { readonly kind: 'unfinished'; readonly state: CheckState };

export interface OpenBooks {
  compare(): Promise<Compared>;
  readonly rows: () => number;
  readonly creations: () => number;
  /** The sums of all rows up to this month. */
  readonly closingOf: (month: string) => Closing;
  readonly open: () => readonly CreationId[];
}

export interface Compared {
  readonly findings: Findings;
  /** False: money moved all the time, so the stored sums could not be compared. */
  readonly isSettled: boolean;
}

export interface CheckOptions {
  readonly books: BooksReader;
  readonly nowMillis: () => number;
  /** The suspect creations of the first check. Absent: this is the first check. */
  readonly remembered?: ReadonlySet<string>;
  readonly isTimeUp: () => boolean;
  readonly closed?: Closing | undefined;
  readonly from?: CheckState;
}

/** Rows before this time count in a closed month. The clock of a refund can be behind that of its charge. */
function beginOf(closed: Closing | undefined): number {
  return closed ? endOfMonth(closed.month) - wrongClockMillis : 0;
}

/** A closed month has no creation whose id is later. */
function lastIdOf({ month }: Closing): CreationId {
  return uuidV7(endOfMonth(month), new Uint8Array(16)) as CreationId;
}

export async function checkAccount(account: AccountId, options: CheckOptions): Promise<AccountCheck> {
  const { books, nowMillis, remembered, isTimeUp, from } = options;
  const closed = from ? from.closed : options.closed;
  const settled = remembered ? 0 : nowMillis() - settledMillis;
  const sums = createLedgerSums(nowMillis(), from?.sums, closed);
  const creations = createCreationTally((id) => remembered?.has(id) === true, from?.creations);
  const rows = createRowCounter(options, closed, sums, creations);
  const after = from?.listedAfter ?? (closed && lastIdOf(closed));
  const list = createListReader(books.listed(account, after), creations, after);
  const begin = from?.place ?? (closed && books.placeOf(beginOf(closed)));
  for await (const page of books.ledger(account, begin, settled)) {
    rows.take(page);
    await list.readUntil(rows.newestMillis());
    await readRecords(creations.unread(), books, creations, settled);
    if (isTimeUp()) {
      const listedAfter = list.last();
      const state = { ...rows.state(), sums: sums.state(), creations: creations.state() };
      return {
        kind: 'unfinished',
        state: { ...state, ...(closed && { closed }), ...(listedAfter && { listedAfter }) },
      };
    }
  }
  await list.readUntil(Infinity);
  const takeNew = async (): Promise<readonly PlacedRow[]> => {
    const added: PlacedRow[] = [];
    for await (const page of books.ledger(account, rows.recentFrom())) added.push(...rows.take(page));
    return added;
  };
  return {
    kind: 'checked',
    books: {
      rows: () => sums.rows(),
      creations: () => creations.seen(),
      closingOf: (month) => sums.closingOf(month),
      open: () => creations.open(),
      compare: async () => compareAll(account, books, { sums, creations, takeNew }),
    },
  };
}

interface Counted {
  readonly sums: LedgerSums;
  readonly creations: CreationTally;
  readonly takeNew: () => Promise<readonly PlacedRow[]>;
}

async function compareAll(account: AccountId, books: BooksReader, counted: Counted): Promise<Compared> {
  const { sums, creations } = counted;
  const counters = await books.userCounters(account);
  const { stored, moved } = await quietSums(account, books, counted);
  if (stored === 'gone') return { isSettled: true, findings: new Map() };
  const differences = [
    ...(stored === 'busy' ? [] : sums.differences(stored)),
    ...sums.counterDifferences(counters, moved),
  ];
  await readRecords([...creations.unended(), ...creations.withoutRows()], books, creations);
  const isOpenRight = stored !== 'busy' && stored.inFlight === creations.open().length;
  if (!isOpenRight) differences.push(...(await compareInFlight(account, books, counted)));
  return {
    isSettled: stored !== 'busy',
    findings: new Map<string, readonly Finding[]>([
      ...differences.map((one) => [one.what, [one]] as const),
      ...creations.findings(),
    ]),
  };
}

interface QuietSums {
  readonly stored: StoredSums | 'gone' | 'busy';
  readonly moved: readonly AuditedRow[];
}

async function quietSums(account: AccountId, books: BooksReader, { takeNew }: Counted): Promise<QuietSums> {
  const moved: AuditedRow[] = [];
  for (let attempt = 1; attempt <= quietTries; attempt += 1) {
    const stored = await books.sums(account);
    if (!stored) return { stored: 'gone', moved };
    const added = await takeNew();
    if (added.length === 0) return { stored, moved };
    moved.push(...added.map(({ row }) => row));
  }
  return { stored: 'busy', moved };
}

/** The ledger has no row for a completion, so the count must lie between those before and after its read. */
async function compareInFlight(
  account: AccountId,
  books: BooksReader,
  { creations, takeNew }: Counted,
): Promise<Finding[]> {
  const before = creations.open();
  const found = await books.inFlight(account);
  await takeNew();
  await readRecords([...creations.unended(), ...creations.withoutRows()], books, creations);
  const after = new Set(creations.open());
  const least = before.filter((id) => after.has(id)).length;
  const most = new Set([...before, ...after]).size;
  return compare('in_flight', found < least ? least : found > most ? most : found, found);
}

async function readRecords(
  ids: readonly CreationId[],
  books: BooksReader,
  creations: CreationTally,
  settled = 0,
): Promise<void> {
  if (ids.length > 0) creations.read(ids, await books.creations(ids, settled));
}

function createRowCounter(
  { books, nowMillis, from }: CheckOptions,
  closed: Closing | undefined,
  sums: LedgerSums,
  creations: CreationTally,
) {
  let newestMillis = from?.newestMillis ?? beginOf(closed);
  let place = from?.place;
  // In the order in which the rows were counted, which is nearly the order of their positions.
  const recent = new Set<string>(from?.recent);
  // A machine whose clock is ahead must not hide the rows of the others.
  const recentFrom = (): string => books.placeOf(Math.min(newestMillis, nowMillis()) - lateMillis);
  return {
    take: (page: readonly PlacedRow[]): readonly PlacedRow[] => {
      const added = page.filter(({ place: own }) => !recent.has(own));
      for (const { place: own, row } of added) {
        recent.add(own);
        place = own;
        newestMillis = Math.max(newestMillis, Date.parse(row.at));
        if (closed && monthOfRow(row) <= closed.month) continue;
        sums.add(row);
        creations.row(row);
      }
      const first = recentFrom();
      for (const own of recent) {
        if (own >= first) break;
        recent.delete(own);
      }
      return added;
    },
    newestMillis: (): number => newestMillis,
    recentFrom,
    state: (): Pick<CheckState, 'place' | 'newestMillis' | 'recent'> => ({
      ...(place !== undefined && { place }),
      newestMillis,
      recent: [...recent],
    }),
  };
}

function createListReader(
  pages: AsyncIterable<readonly CreationId[]>,
  creations: CreationTally,
  after: CreationId | undefined,
) {
  const iterator = pages[Symbol.asyncIterator]();
  let last = after;
  let isAtTheEnd = false;
  return {
    readUntil: async (millis: number) => {
      while (!isAtTheEnd && (last === undefined || (timeOfUuidV7(last) ?? 0) <= millis)) {
        const next = await iterator.next();
        if (next.done === true) isAtTheEnd = true;
        else {
          creations.listed(next.value);
          last = next.value.at(-1) ?? last;
        }
      }
    },
    last: (): CreationId | undefined => last,
  };
}
