/** Usage of days: sums of days that are over, and the ledger for the rest, summed when read. */
import { batchGetAtOnce } from '../aws/dynamodb/batch-get.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import { keys, listingIndex, type Table } from '../aws/dynamodb/table.ts';
import { listedIdOf } from '../creations/creation-items.ts';
import { firstIdOf } from '../creations/creation-reads.ts';
import type { CreationRecord } from '../creations/creation.ts';
import type { AccountId } from '../values/ids.ts';
import { inLanes } from '../values/lanes.ts';
import { dayAfter } from '../values/time.ts';
import { readUsedRows } from './booked-row-reads.ts';
import type { Days } from './booked-row.ts';
import {
  attribute,
  dayBefore,
  type DaySums,
  eachDay,
  lastDayOver,
  sumDay,
  type GroupSums,
  type LateRefund,
  type MovedRow,
  type Movement,
  type UsageDay,
  type UsedRow,
} from './day-sums.ts';
import { readGroups, readLate, readMoves, writeSums } from './sum-items.ts';
import type { UsageDimension } from './usage.ts';

/** Number of concurrent queries of the ledger: one page is read while another is summed. */
const readsAtOnce = 2;
/** So that a year is read in four queries. */
const mostDaysOfRun = 93;

export function createUsageReads(table: Table) {
  return {
    /** Every day of the range. Throws Overloaded when the first sums take longer than a request may. */
    days: (account: AccountId, query: UsageQuery): Promise<readonly UsageDay[]> =>
      readDays(table, account, query),
    newest: (account: AccountId, range: Days, limit: number): Promise<readonly TimedCreation[]> =>
      newestOf(table, account, range, limit),
  };
}

async function readDays(table: Table, account: AccountId, query: UsageQuery): Promise<readonly UsageDay[]> {
  const { by, since, nowMillis } = query;
  const today = new Date(nowMillis).toISOString().slice(0, 10);
  const over = lastDayOver(nowMillis);
  const range = { from: latest(query.from, since), to: earliest(query.to, today) };
  if (range.from > range.to) return attribute(query, by, new Map(), []);
  // A refund can be days later than its charge, or by the clock of its function a moment before.
  const first = latest(dayBefore(range.from), since);
  const [groups, late] = await Promise.all([
    readGroups(table, account, by, { from: range.from, to: earliest(range.to, over) }),
    readLate(table, account, { from: first, to: over }),
  ]);
  const isMissing = (day: string): boolean =>
    day > over || !late.has(day) || (day >= range.from && day <= range.to && !groups.has(day));
  await inLanes(readsAtOnce, runsOf(eachDay({ from: first, to: today }).filter(isMissing)), async (run) => {
    for await (const sums of sumRun(table, account, run, over)) {
      groups.set(sums.day, sums.groups[by]);
      late.set(sums.day, sums.late);
    }
  });
  return attribute(query, by, groups, [...late.values()].flat());
}

/** What a statement needs of a day that is over. */
export interface SummedDay {
  readonly models: GroupSums;
  readonly late: readonly LateRefund[];
  readonly moves: readonly Movement[];
}

/** The days of a range of which every day is over, in their order. Throws Overloaded as days() does. */
export async function readSummedDays(
  table: Table,
  account: AccountId,
  range: Days,
): Promise<readonly (readonly [day: string, sums: SummedDay])[]> {
  const days = eachDay(range);
  const [models, late, moves] = await Promise.all([
    readGroups(table, account, 'model', range),
    readLate(table, account, range),
    readMoves(table, account, range),
  ]);
  const summed = new Map<string, SummedDay>();
  for (const [day, own] of models) {
    const [refunds, others] = [late.get(day), moves.get(day)];
    if (refunds && others) summed.set(day, { models: own, late: refunds, moves: others });
  }
  const missing = runsOf(days.filter((day) => !summed.has(day)));
  await inLanes(readsAtOnce, missing, async (run) => {
    for await (const { day, groups, late: refunds, moves: others } of sumRun(table, account, run, range.to))
      summed.set(day, { models: groups.model, late: refunds, moves: others });
  });
  return [...summed].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Days that follow each other are read by one query. A long time has some queries, which wait together. */
function runsOf(days: readonly string[]): Days[] {
  const runs: Days[] = [];
  let length = 0;
  for (const day of days) {
    const last = runs.at(-1);
    length += 1;
    if (last && dayAfter(last.to) === day && length <= mostDaysOfRun)
      runs[runs.length - 1] = { ...last, to: day };
    else {
      runs.push({ from: day, to: day });
      length = 1;
    }
  }
  return runs;
}

/** The sums of every day of a run, each written as soon as the ledger has ended its day. */
async function* sumRun(table: Table, account: AccountId, run: Days, over: string): AsyncGenerator<DaySums> {
  let rest = eachDay(run);
  let rows: readonly (UsedRow | MovedRow)[] = [];
  const sumUntil = async (open: string | undefined): Promise<readonly DaySums[]> => {
    const ended = rest.filter((day) => open === undefined || day < open);
    const byDay = Map.groupBy(rows, ({ day }) => day);
    const sums = ended.map((day) => sumDay(day, byDay.get(day) ?? []));
    rest = rest.slice(ended.length);
    rows = rows.filter(({ day }) => day === open);
    await writeSums(
      table,
      account,
      sums.filter(({ day }) => day <= over),
    );
    return sums;
  };
  for await (const page of readUsedRows(table, account, run)) {
    rows = [...rows, ...page];
    const open = rows.at(-1)?.day;
    if (open !== undefined) yield* await sumUntil(open);
  }
  yield* await sumUntil(undefined);
}

const attributes = ['id', 'status', 'createdAt', 'completedAt'] as const;

/** The index holds ids, which begin with the time of the creation. */
async function newestOf(
  table: Table,
  account: AccountId,
  { from, to }: Days,
  limit: number,
): Promise<readonly TimedCreation[]> {
  const query = {
    IndexName: listingIndex.name,
    KeyConditionExpression: `${listingIndex.partition} = :list`,
    ExpressionAttributeValues: { ':list': `CREATIONS#${account}` },
    range: { sort: listingIndex.sort, from: firstIdOf(from), to: firstIdOf(dayAfter(to)) },
    ScanIndexForward: false,
  };
  const found: string[] = [];
  for await (const page of queryPages(table, query, limit)) found.push(...(page.Items ?? []).map(listedIdOf));
  const ids = found as ReturnType<typeof listedIdOf>[];
  const creations = await batchGetAtOnce(table, ids.map(keys.creation), attributes);
  return creations as unknown as readonly TimedCreation[];
}

function latest(one: string, other: string): string {
  return one > other ? one : other;
}

function earliest(one: string, other: string): string {
  return one < other ? one : other;
}

/** What an account used, read from its ledger and from the sums of days that are over. */
interface UsageQuery extends Days {
  readonly by: UsageDimension;
  /** The first UTC day on which the account can have rows. */
  readonly since: string;
  readonly nowMillis: number;
}

export type TimedCreation = Pick<CreationRecord, 'status' | 'createdAt' | 'completedAt'>;
