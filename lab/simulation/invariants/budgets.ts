/** The invariants of budget.reached: a notice for each level and month, once, and none without the spend. */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Change, SimulatedTable } from '../aws/simulated-table.ts';
import { type Accuse, textOf } from './money-books.ts';

interface Mark {
  readonly id: string;
  readonly month: string;
  readonly level: number;
  readonly budget: number;
}

const numberOf = (item: Item | undefined, name: string): number => Number(item?.[name]?.N ?? 0);

function markIn(item: Item | undefined): Mark | undefined {
  const mark = item?.['toldBudget']?.M;
  if (!mark) return undefined;
  const [id, month] = [textOf(mark, 'id'), textOf(mark, 'month')];
  return { id, month, level: numberOf(mark, 'level'), budget: numberOf(mark, 'budgetMicros') };
}

export function createBudgetInvariants(accuse: Accuse) {
  /** What each key spent in a month, by `account month`. */
  const spent = new Map<string, Map<string, number>>();
  /** The most that the keys had ever spent. A refund may come between the query of a check and its write. */
  const most = new Map<string, number>();
  const told = new Map<string, Mark[]>();
  const charged = new Set<string>();

  const sumOf = (name: string): number => [...(spent.get(name)?.values() ?? [])].reduce((a, b) => a + b, 0);

  function followKey(account: string, { sk, before, after }: Change): void {
    for (const attribute of Object.keys(after ?? {}).filter((one) => one.startsWith('spent_'))) {
      const name = `${account} ${attribute.slice('spent_'.length)}`;
      const next = numberOf(after, attribute);
      if (before && numberOf(before, attribute) !== next) charged.add(name);
      spent.set(name, (spent.get(name) ?? new Map<string, number>()).set(sk, next));
      most.set(name, Math.max(most.get(name) ?? 0, sumOf(name)));
    }
  }

  function followMark(account: string, { before, after }: Change): void {
    const mark = markIn(after);
    if (!mark || mark.id === markIn(before)?.id) return;
    const { month, level, budget } = mark;
    const earlier = told.get(account) ?? [];
    const reached = most.get(`${account} ${month}`) ?? 0;
    const what = `${account} ${month}: ${reached} of ${budget} at ${level} %`;
    if (reached * 100 < budget * level || numberOf(after, 'monthlyBudgetMicros') !== budget)
      accuse('no notice without a crossing', what);
    const isAgain = (one: Mark): boolean =>
      one.month > month || (one.month === month && one.budget === budget && one.level >= level);
    if (earlier.some(isAgain)) accuse('each crossing is told once', what);
    told.set(account, [...earlier, mark]);
  }

  return {
    onCommit: (change: Change) => {
      const account = change.pk.slice('ACCOUNT#'.length);
      if (change.sk.startsWith('KEY#')) followKey(account, change);
      if (change.sk === 'ACCOUNT') followMark(account, change);
    },
    /** The budgets of accounts that got notices all the time. */
    atRest: (table: SimulatedTable, isUnsure: (account: string) => boolean) => {
      for (const name of charged) {
        const [account = '', month = ''] = name.split(' ');
        const budget = numberOf(table.get(`ACCOUNT#${account}`, 'ACCOUNT'), 'monthlyBudgetMicros');
        const percent = Math.floor((sumOf(name) * 100) / budget);
        if (budget === 0 || isUnsure(account) || percent < 80) continue;
        const due = percent >= 100 ? 100 : 80;
        const isNotified = (one: Mark): boolean =>
          one.month === month && one.budget === budget && one.level >= due;
        if (!told.get(account)?.some(isNotified))
          accuse('a notice for each crossing', `${name}: ${percent} %`);
      }
    },
  };
}
