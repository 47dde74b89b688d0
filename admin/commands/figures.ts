/** The commands `usage`, which shows what a client used, and `report`, which shows what the operator earned. */
import type { Row } from '../../client/command/terminal/output.ts';
import type { Account } from '../../service/accounts/account.ts';
import { readBookedRows } from '../../service/usage/booked-row-reads.ts';
import type { BookedRow, Cells, Days, GroupOf } from '../../service/usage/booked-row.ts';
import {
  type BillFinding,
  marginCells,
  marginDimensions,
  sumBills,
  sumMargin,
} from '../../service/usage/margin.ts';
import { moneyInCells, moneyInKinds, sumMoneyIn } from '../../service/usage/money-in.ts';
import { sumUsage, usageCells, usageDimensions } from '../../service/usage/usage.ts';
import { type Cell, csvLine, plainCell } from '../../service/values/csv.ts';
import { asMicros, formatUsd } from '../../service/values/money.ts';
import type { OperatorCommand, Session } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import { createProgress } from '../terminal/dialogue.ts';
import * as values from '../terminal/values.ts';

interface FigureOptions extends Days {
  readonly by: string;
  readonly csv?: boolean;
}

type ReportOptions = Omit<FigureOptions, keyof Days> & Partial<Days> & { readonly month?: string };

const firstDay = ['--from <day>', 'the first day, in UTC, such as 2026-11-01'] as const;
const lastDay = ['--to <day>', 'the last day, which is included'] as const;

const whenEmpty = 'Nothing was charged or refunded in these days.';

export function addFigureCommands(program: OperatorCommand): void {
  const form = (csv: boolean | undefined): 'csv' | 'json' | 'table' => {
    const { json } = program.opts<{ json?: boolean }>();
    if (csv === true && json === true) throw new OperatorError('--csv and --json: give one of them.');
    return csv === true ? 'csv' : json === true ? 'json' : 'table';
  };
  grouped(
    program
      .command('usage <account>')
      .requiredOption(...firstDay)
      .requiredOption(...lastDay),
    usageDimensions,
  )
    .description('what a client used: creations and spend by day, key, model or user')
    .run(async (session, id: string, options: FigureOptions) => {
      const as = form(options.csv);
      const { days, by } = { days: daysOf(options), by: values.oneOf('--by', options.by, usageDimensions) };
      const account = await values.account(session.services, id);
      const sums = sumUsage(by);
      await readRows(session, [account], days, (_account, booked) => sums.add(booked));
      const keys = by === 'key' ? await session.services.accounts.listKeys(account.id) : undefined;
      show(session, as, {
        asked: { account: account.id, ...days, by },
        by,
        ...(keys && { names: new Map(keys.map((key) => [key.id, key.name])) }),
        lines: sums.groups().map(({ group, sums: own }) => ({ group, sums: usageCells(own) })),
        total: usageCells(sums.total()),
      });
    });
  grouped(
    program
      .command('report')
      .option('--month <month>', 'a month, in UTC, such as 2026-11; the month that runs ends today')
      .option(...firstDay)
      .option(...lastDay),
    marginDimensions,
  )
    .description('what all clients brought, what the providers cost, and the margin')
    .run(async (session, options: ReportOptions) => {
      const as = form(options.csv);
      const { days, by } = {
        days: reportedDays(options, session.services.clock.now()),
        by: values.oneOf('--by', options.by, marginDimensions),
      };
      const names = new Map<string, string>();
      const sums = sumMargin(by);
      const bills = sumBills();
      const moneyIn = sumMoneyIn();
      await readRows(
        session,
        named(session, by === 'account' ? names : undefined),
        days,
        (account, booked) => {
          sums.add(account, booked);
          bills.add(booked);
          moneyIn.add(booked);
        },
      );
      show(session, as, {
        asked: { ...days, by },
        by,
        ...(by === 'account' && { names }),
        lines: sums.groups().map(({ group, sums: own }) => ({ group, sums: marginCells(own) })),
        total: marginCells(sums.total()),
        findings: bills.findings(),
        moneyIn: { ...moneyInCells(moneyIn.total()), ...(await heldCells(session.services)) },
      });
    });
}

function grouped(command: OperatorCommand, dimensions: readonly string[]): OperatorCommand {
  return command
    .option('--by <what>', dimensions.join(', '), 'day')
    .option('--csv', 'lines of CSV instead of a table');
}

function reportedDays({ month, from, to }: ReportOptions, nowMillis: number): Days {
  if (month !== undefined && (from ?? to) !== undefined)
    throw new OperatorError('--month excludes --from and --to: name the month, or the days.');
  if (month !== undefined) return values.month('--month', month, nowMillis);
  if (from !== undefined && to !== undefined) return daysOf({ from, to });
  throw new OperatorError('Name the days with --from and --to, or a month with --month.');
}

function daysOf({ from, to }: Days): Days {
  const days = { from: values.day('--from', from), to: values.day('--to', to) };
  if (days.to < days.from) throw new OperatorError('--to: must not be before --from.');
  return days;
}

/** All accounts, one after the other. Takes their names into the map. */
async function* named(
  { services }: Session,
  names: Map<string, string> | undefined,
): AsyncGenerator<Account> {
  for await (const page of services.accounts.pages())
    for (const account of page) {
      names?.set(account.id, account.name);
      yield account;
    }
}

/** Reads the rows of one account after the other, and prints the progress. */
async function readRows(
  { services, tell }: Session,
  accounts: Iterable<Account> | AsyncIterable<Account>,
  days: Days,
  take: (accountId: string, booked: BookedRow) => void,
): Promise<void> {
  const progress = createProgress(services.clock, tell);
  let rows = 0;
  let place = 0;
  for await (const { id } of accounts) {
    place += 1;
    for await (const some of readBookedRows(services.table, id, days, moneyInKinds)) {
      for (const booked of some) take(id, booked);
      rows += some.length;
      progress(() => `account ${place}, ${rows} ledger rows`);
    }
    progress(() => `account ${place}, ${rows} ledger rows`);
  }
}

interface Figures {
  /** The options of the command, which the JSON document repeats. */
  readonly asked: Row;
  /** The name of the first column. */
  readonly by: string;
  /** The names of the groups by their ids, for a second column. */
  readonly names?: ReadonlyMap<string, string>;
  readonly lines: readonly GroupOf<Cells>[];
  readonly total: Cells;
  /** Where the catalog and the bills of the providers differ. Absent: the command does not compare them. */
  readonly findings?: readonly BillFinding[];
  /** Payments and reversals. Absent: the command does not read them. */
  readonly moneyIn?: Cells;
}

/** The payments of Stripe that are held now, whatever the days. Nothing where the stack takes no payments. */
async function heldCells(services: OperatorServices): Promise<Cells> {
  if (!services.takesPayments) return {};
  const { payments } = services.payments();
  let held = 0;
  let heldMicros = 0;
  for await (const { amountMicros } of payments.held()) {
    held += 1;
    heldMicros += amountMicros;
  }
  return { held, held_amount: { usd: asMicros(heldMicros) } };
}

/** CSV has no line with the total, so that a spreadsheet can sum its columns. */
function show({ output }: Session, form: 'csv' | 'json' | 'table', figures: Figures): void {
  const { asked, by, names, lines, total, findings, moneyIn } = figures;
  const cells = lines.map(({ group, sums }): Cells => ({
    [by]: group,
    ...(names && { name: group === null ? null : (names.get(group) ?? null) }),
    ...sums,
  }));
  switch (form) {
    case 'csv': {
      const header: readonly Cell[] = [by, ...(names ? ['name'] : []), ...Object.keys(total)];
      output.csv([header, ...cells.map((line) => Object.values(line))].map(csvLine));
      break;
    }
    case 'json':
      output.show({
        ...asked,
        data: cells.map(plain),
        total: plain(total),
        ...(findings && { findings: findings.map((finding) => plain(findingCells(finding))) }),
        ...(moneyIn && { money_in: plain(moneyIn) }),
      });
      break;
    case 'table': {
      const last = { [by]: 'total', ...(names && { name: null }), ...total };
      output.list(cells.length === 0 ? [] : [...cells, last].map(plain), whenEmpty);
      if (moneyIn && Object.values(plain(moneyIn)).some((value) => value !== 0)) output.show(plain(moneyIn));
      if (findings && findings.length > 0)
        output.list(
          findings.map((finding) => ({ finding: findingText(finding) })),
          '',
        );
    }
  }
}

function plain(cells: Cells): Row {
  return Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, plainCell(cell)]));
}

function findingCells(finding: BillFinding): Cells {
  const { provider, providerModel, quality, images, billedMicros, billedCatalogMicros, percent } = finding;
  return {
    provider,
    provider_model: providerModel,
    quality,
    images,
    billed_cost: { usd: asMicros(billedMicros) },
    catalog_cost: { usd: asMicros(billedCatalogMicros) },
    difference: { usd: asMicros(billedMicros - billedCatalogMicros) },
    difference_percent: percent,
  };
}

function findingText(finding: BillFinding): string {
  const { provider, providerModel, quality, images, billedMicros, billedCatalogMicros, percent } = finding;
  const route = [provider, providerModel, ...(quality === null ? [] : [quality])].join(' ');
  const apart = percent === null ? '' : `, ${Math.abs(percent)} % ${percent > 0 ? 'more' : 'less'}`;
  return `${route}: billed ${formatUsd(asMicros(billedMicros))} for ${images} images; the catalog says ${formatUsd(asMicros(billedCatalogMicros))}${apart}.`;
}
