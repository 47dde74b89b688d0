/**
 * The invariants of key.cap_reached, for all caps of a key: a notice for each crossing, once, and none without
 * one. What is spent is summed here from the attributes of the table.
 */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Change, SimulatedTable } from '../aws/simulated-table.ts';
import { type Accuse, textOf } from './money-books.ts';

export interface CapNoticeWatch {
  readonly onCommit: (change: Change) => void;
  /** The crossings of keys whose account had its address all the time. */
  readonly atRest: (table: SimulatedTable, isUnsure: (account: string) => boolean) => void;
}

const perUser = 'perUserMonthlyCapMicros';
const capNames = ['dailyCapMicros', 'monthlyCapMicros', 'totalCapMicros', perUser];

const numberIn = (item: Item | undefined, name: string): number | undefined => {
  const text = item?.[name]?.N;
  return text === undefined ? undefined : Number(text);
};
const namesIn = (item: Item | undefined, prefix: string): string[] =>
  Object.keys(item ?? {}).filter((name) => name.startsWith(prefix));
const totalOf = (item: Item | undefined): number =>
  namesIn(item, 'spent_').reduce((sum, name) => sum + (numberIn(item, name) ?? 0), 0);

interface Mark {
  readonly id: string;
  readonly level: number;
  readonly cap: number;
}

function markIn(item: Item | undefined, name: string): Mark | undefined {
  const mark = item?.[name]?.M;
  const id = mark?.['id']?.S;
  if (id === undefined) return undefined;
  return { id, level: Number(mark?.['level']?.N), cap: Number(mark?.['capMicros']?.N) };
}

/** The cap that a mark of a key tells, and what was spent of it. */
function capBehind(item: Item, mark: string): { readonly cap: number | undefined; readonly spent: number } {
  const [, kind = '', period = ''] = /^told_([a-z]+)_(.+)$/.exec(mark) ?? [];
  const spent = { daily: numberIn(item, `day_${period}`), monthly: numberIn(item, `spent_${period}`) };
  return {
    cap: numberIn(item, `${kind}CapMicros`),
    spent: kind === 'total' ? totalOf(item) : (spent[kind as keyof typeof spent] ?? 0),
  };
}

/** The marks that the caps of a key may have, by what is spent. */
function dueMarks(item: Item): string[] {
  return [
    ...namesIn(item, 'day_').map((name) => name.replace('day_', 'told_daily_')),
    ...namesIn(item, 'spent_').map((name) => name.replace('spent_', 'told_monthly_')),
    'told_total_total',
  ];
}

/** Creates the watch over the notices of caps. */
export function createCapNoticeWatch(accuse: Accuse): CapNoticeWatch {
  /** The last mark that was set, by item and attribute. It is remembered when the attribute is removed. */
  const told = new Map<string, Mark>();
  /** Keys whose caps were changed past every look, and keys that were charged. */
  const [changed, charged] = [new Set<string>(), new Set<string>()];
  /** All caps for each user that a key had: the notice of a user tells the cap that its look has read. */
  const userCaps = new Map<string, Set<number>>();

  function isTold(name: string, mark: Mark, spent: number): void {
    const last = told.get(name);
    const what = `${name}: ${spent} of ${mark.cap} at ${mark.level} %`;
    if (last?.cap === mark.cap && mark.level <= last.level) accuse('each crossing is told once', what);
    // A refused request reaches level 100 with less.
    if (mark.level === 80 && spent * 100 < mark.cap * 80) accuse('no notice without a crossing', what);
    told.set(name, mark);
  }

  function followKey(name: string, { before, after = {} }: Change): void {
    if (before && capNames.some((cap) => numberIn(before, cap) !== numberIn(after, cap))) changed.add(name);
    if (before && totalOf(before) !== totalOf(after)) charged.add(name);
    const caps = [before, after].flatMap((item) => numberIn(item, perUser) ?? []);
    userCaps.set(name, new Set([...(userCaps.get(name) ?? []), ...caps]));
    for (const attribute of namesIn(after, 'told_')) {
      const mark = markIn(after, attribute);
      if (!mark || mark.id === markIn(before, attribute)?.id) continue;
      const { cap, spent } = capBehind(after, attribute);
      if (mark.cap !== cap)
        accuse('no notice without a crossing', `${name} ${attribute}: a cap of ${mark.cap}`);
      isTold(`${name} ${attribute}`, mark, spent);
    }
  }

  function followUser(account: string, { sk, before, after = {} }: Change): void {
    const mark = markIn(after, 'told');
    if (!mark || mark.id === markIn(before, 'told')?.id) return;
    const caps = userCaps.get(`${account} KEY#${sk.split('#')[1] ?? ''}`);
    if (caps && !caps.has(mark.cap))
      accuse('no notice without a crossing', `${account} ${sk}: a cap of ${mark.cap}`);
    isTold(`${account} ${sk}`, mark, numberIn(after, 'spentMicros') ?? 0);
  }

  function isToldAtRest(name: string, mark: Mark | undefined, cap: number | undefined, spent: number): void {
    if (cap === undefined || spent * 100 < cap * 80) return;
    if (!mark || mark.level < (spent >= cap ? 100 : 80))
      accuse('a notice for each crossing', `${name}: ${spent} of ${cap}`);
  }

  return {
    onCommit: (change) => {
      const { pk, sk, after } = change;
      const account = pk.slice('ACCOUNT#'.length);
      if (sk.startsWith('KEY#') && after) followKey(`${account} ${sk}`, change);
      if (sk.startsWith('USER#') && after) followUser(account, change);
    },
    atRest: (table, isUnsure) => {
      for (const row of table.all()) {
        const [pk, sk] = [textOf(row, 'pk'), textOf(row, 'sk')];
        const account = pk.slice('ACCOUNT#'.length);
        const [kind, keyId = ''] = sk.split('#');
        const key = `${account} KEY#${keyId}`;
        if (isUnsure(account) || changed.has(key) || !charged.has(key)) continue;
        if (kind === 'KEY')
          for (const mark of dueMarks(row)) {
            const { cap, spent } = capBehind(row, mark);
            isToldAtRest(`${key} ${mark}`, markIn(row, mark), cap, spent);
          }
        if (kind === 'USER') {
          const cap = numberIn(table.get(pk, `KEY#${keyId}`), perUser);
          isToldAtRest(`${account} ${sk}`, markIn(row, 'told'), cap, numberIn(row, 'spentMicros') ?? 0);
        }
      }
    },
  };
}
