import type { Command } from 'commander';
import { readBooks } from '../../adapters/dynamodb/audit-store.ts';
import { auditAccount, type AccountBooks, type Difference } from '../../core/ledger.ts';
import type { Admin } from './admin.ts';
import type { OperatorServices } from './services.ts';
import * as values from './values.ts';

/** A table at work moves between two reads: what differs is looked at again, as often. */
const looks = 4;
const lookAgainMillis = 1_000;

export function addAuditCommand(program: Command, admin: Admin): void {
  program
    .command('audit')
    .description('hold every balance and creation against the ledger; exit code 1 on any difference. Repairs nothing')
    .option('--account <account>', 'only this one')
    .action(admin.run(async ({ services, output, fail }, options: { account?: string }) => {
      const only = options.account === undefined ? undefined : await values.account(services, options.account);
      const books = await readBooks(services.table, only?.id);
      const differences: Difference[] = [];
      for (const account of books) differences.push(...(await lastingDifferences(account, services)));
      const rows = books.reduce((sum, account) => sum + account.ledger.length, 0);
      const creations = books.reduce((sum, account) => sum + account.creations.length, 0);
      const note = differences.length === 0 ? `The books balance: ${books.length} accounts, ${creations} creations, ${rows} ledger rows.` : 'The books do not balance.';
      output.show({ accounts: books.length, creations, ledger_rows: rows, differences }, note);
      if (differences.length > 0) fail();
    }));
}

/** The differences that no further look clears up; one clean look is proof, since every movement keeps the books balanced. */
export async function lastingDifferences(books: AccountBooks, { table, clock }: Pick<OperatorServices, 'table' | 'clock'>): Promise<Difference[]> {
  let differences = auditAccount(books);
  for (let look = 2; look <= looks && differences.length > 0; look += 1) {
    await clock.sleep(lookAgainMillis);
    differences = (await readBooks(table, books.accountId)).flatMap(auditAccount);
  }
  return differences;
}
