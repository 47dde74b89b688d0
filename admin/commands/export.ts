/** The commands `export`, of a whole service, and `export ledger`: every row of it, for a program or a spreadsheet. */
import { resolve } from 'node:path';
import type { Row } from '../../client/command/terminal/output.ts';
import type { LedgerRow } from '../../service/accounts/account.ts';
import { readLedgerRows } from '../../service/usage/booked-row-reads.ts';
import { type Cell, csvLine, plainCell } from '../../service/values/csv.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { exportService } from '../move/export-service.ts';
import { booksText } from '../move/import-service.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import { createProgress } from '../terminal/dialogue.ts';
import * as values from '../terminal/values.ts';
import { accountsOf } from './creations.ts';

interface ExportOptions {
  readonly account?: string;
  readonly from: string;
  readonly to: string;
  readonly format: string;
}

const formats = ['csv', 'jsonl'] as const;
const columns = [
  'account',
  'at',
  'kind',
  'amount',
  'creation',
  'key',
  'model',
  'user',
  'reference',
  'reason',
  'request_id',
] as const;
/** No ledger is older or newer. */
const [firstDay, lastDay] = ['2000-01-01', '9998-12-31'];

export function addExportCommands(program: OperatorCommand): void {
  const exporting = program
    .task('export', 'export a closed service of one machine into a folder, for `import`; or print its ledger')
    .option('--to <folder>', 'a new folder, which will hold secrets in clear text')
    .run(async ({ services, output, tell }, { to }: { to?: string }) => {
      if (to === undefined) throw new OperatorError('--to: name a new folder.');
      const progress = createProgress(services.clock, tell);
      const { books, images, images_missing } = await exportService(services, resolve(to), progress);
      output.show(
        { to: resolve(to), ...books, images, images_missing },
        `Exported: ${booksText(books)}. The folder holds the keys of vendors and of webhook secrets in clear text: delete it after the import, and change nothing at this service any more.`,
      );
    });
  exporting
    .task('ledger', 'every movement of money, account by account, the oldest first')
    .option('--account <account>', 'only this one')
    .option('--from <day>', 'the first day, in UTC, such as 2026-11-01', firstDay)
    .option('--to <day>', 'the last day, which is included', lastDay)
    .option('--format <format>', formats.join(', '), 'csv')
    .run(async ({ services, output, tell }, options: ExportOptions) => {
      const format = values.oneOf('--format', options.format, formats);
      // The command above takes every --to, because its own option has this name.
      const { to = options.to } = exporting.opts<{ to?: string }>();
      const days = { from: values.day('--from', options.from), to: values.day('--to', to) };
      if (days.to < days.from) throw new OperatorError('--to: must not be before --from.');
      const progress = createProgress(services.clock, tell);
      let rows = 0;
      if (format === 'csv') output.csv([csvLine(columns)]);
      for await (const account of accountsOf(services, options.account)) {
        for await (const page of readLedgerRows(services.table, account, days)) {
          const lines = page.map((row) => cellsOf(account, row));
          if (format === 'csv') output.csv(lines.map(csvLine));
          else output.jsonLines(lines.map(objectOf));
          rows += page.length;
          progress(() => `${rows} ledger rows`);
        }
      }
    });
}

/** The amounts of an account add up to what it can spend. */
function cellsOf(account: AccountId, row: LedgerRow): Cell[] {
  return [
    account,
    row.at,
    row.kind,
    { usd: row.amountMicros },
    row.creationId ?? null,
    row.keyId ?? null,
    row.model ?? null,
    row.user ?? null,
    row.reference ?? null,
    row.reason ?? null,
    row.requestId ?? null,
  ];
}

function objectOf(cells: readonly Cell[]): Row {
  return Object.fromEntries(cells.map((cell, place) => [columns[place] ?? '', plainCell(cell)]));
}
