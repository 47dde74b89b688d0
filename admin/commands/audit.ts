import type { Command } from 'commander';
import { readBooks } from '../../adapters/dynamodb/audit-store.ts';
import { lastingDifferences } from '../../core/lasting-differences.ts';
import { auditAccount, type AccountBooks, type Difference } from '../../core/ledger.ts';
import type { Admin } from '../admin.ts';
import type { OperatorServices } from '../services.ts';
import * as values from '../terminal/values.ts';

const lookAgainMillis = 1_000;

export function addAuditCommand(program: Command, admin: Admin): void {
  program
    .command('audit')
    .description(
      'hold every balance and creation against the ledger; exit code 1 on any difference. Repairs nothing',
    )
    .option('--account <account>', 'only this one')
    .action(
      admin.run(async ({ services, output, fail }, options: { account?: string }) => {
        const only =
          options.account === undefined ? undefined : await values.account(services, options.account);
        const books = await readBooks(services.table, only?.id);
        const differences = await auditTable(books, services);
        const rows = books.reduce((sum, account) => sum + account.ledger.length, 0);
        const creations = books.reduce((sum, account) => sum + account.creations.length, 0);
        const note =
          differences.length === 0
            ? `The books balance: ${books.length} accounts, ${creations} creations, ${rows} ledger rows.`
            : 'The books do not balance.';
        output.show({ accounts: books.length, creations, ledger_rows: rows, differences }, note);
        if (differences.length > 0) fail();
      }),
    );
}

/** The differences that remain after a second look, when the writes of the moment have ended. */
export async function auditTable(
  books: readonly AccountBooks[],
  { table, clock }: Pick<OperatorServices, 'table' | 'clock'>,
): Promise<Difference[]> {
  const pause = async (): Promise<void> => clock.sleep(lookAgainMillis);
  const suspects = await lastingDifferences(books, {
    pause,
    books: async (account) => readBooks(table, account),
  });
  return suspects.flatMap(auditAccount);
}
