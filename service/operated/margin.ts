/** What the operator earned over all accounts, for the portal and the operator API. */
import type { AccountId } from '../values/ids.ts';
import { dayAfter } from '../values/time.ts';
import type { BookedRow, Cells, Days } from '../usage/booked-row.ts';
import { marginCells, type MarginDimension, sumMargin } from '../usage/margin.ts';
import { moneyInCells, sumMoneyIn } from '../usage/money-in.ts';
import { plainCell } from '../values/csv.ts';
import { wrong } from './parameters.ts';

/** The sums are read from the ledgers of all accounts. For a longer time the command has no limit. */
const mostDays = 31;
const accountsAtOnce = 100;

export interface AllLedgers {
  accounts(
    limit: number,
    after?: string,
  ): Promise<{
    readonly accounts: readonly { readonly id: AccountId; readonly name: string }[];
    readonly after?: string;
  }>;
  bookedRows(account: AccountId, days: Days): AsyncIterable<readonly BookedRow[]>;
}

/** Throws 400 for more days than one request reads. */
export function checkReportedDays({ from, to }: Days): void {
  if (Date.parse(dayAfter(to)) - Date.parse(from) > mostDays * 86_400_000)
    throw wrong('from', `at most ${mostDays} days; the command "report" has no limit`);
}

/** Reads the rows of all accounts. Returns the names of the accounts by their ids. */
export async function readAllBooked(
  ledgers: AllLedgers,
  days: Days,
  take: (account: AccountId, row: BookedRow) => void,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  let after: string | undefined;
  do {
    const page = await ledgers.accounts(accountsAtOnce, after);
    for (const { id, name } of page.accounts) {
      names.set(id, name);
      for await (const rows of ledgers.bookedRows(id, days)) for (const row of rows) take(id, row);
    }
    after = page.after;
  } while (after !== undefined);
  return names;
}

export async function marginOf(ledgers: AllLedgers, days: Days, by: MarginDimension) {
  const sums = sumMargin(by);
  const moneyIn = sumMoneyIn();
  const names = await readAllBooked(ledgers, days, (id, row) => {
    sums.add(id, row);
    moneyIn.add(row);
  });
  return {
    moneyIn: plainCells(moneyInCells(moneyIn.total())),
    lines: sums.groups().map(({ group, sums: own }) => ({
      group,
      ...(by === 'account' && { name: group === null ? null : (names.get(group) ?? null) }),
      ...plainCells(marginCells(own)),
    })),
    total: plainCells(marginCells(sums.total())),
  };
}

export function plainCells(cells: Cells): Readonly<Record<string, ReturnType<typeof plainCell>>> {
  return Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, plainCell(cell)]));
}
