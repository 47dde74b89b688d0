import type { Command } from 'commander';
import { readBooks } from '../../adapters/dynamodb/audit-store.ts';
import { parseAccountId } from '../../core/ids.ts';
import { auditAccount } from '../../core/ledger.ts';
import type { Admin } from './admin.ts';

export function addAuditCommand(program: Command, admin: Admin): void {
  program
    .command('audit')
    .description('hold every balance against its ledger; exit code 1 on any difference. Repairs nothing')
    .option('--account <account>', 'only this one')
    .action(admin.run(async ({ services, output, fail }, options: { account?: string }) => {
      const books = await readBooks(services.table, parseAccountId(options.account ?? ''));
      const differences = books.flatMap(auditAccount);
      const rows = books.reduce((sum, account) => sum + account.ledger.length, 0);
      const note = differences.length === 0 ? `The books balance: ${books.length} accounts, ${rows} ledger rows.` : 'The books do not balance.';
      output.show({ accounts: books.length, ledger_rows: rows, differences }, note);
      if (differences.length > 0) fail();
    }));
}
