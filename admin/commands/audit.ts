import type { AuditProgress } from '../../service/audit/audit-accounts.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { auditTable } from '../audit-table.ts';
import { createProgress } from '../terminal/dialogue.ts';
import * as values from '../terminal/values.ts';

export function addAuditCommand(program: OperatorCommand): void {
  program
    .task(
      'audit',
      'hold every balance and creation against the ledger; exit code 1 on any difference. Repairs nothing',
    )
    .option('--account <account>', 'only this one')
    .option('--renew-closings', 'replace the closing balances of accounts that balance; the only write')
    .run(async ({ services, output, fail, tell }, options: { account?: string; renewClosings?: boolean }) => {
      const only =
        options.account === undefined ? undefined : await values.account(services, options.account);
      const progress = createProgress(services.clock, tell);
      const { counted, differences } = await auditTable(services, {
        ...(only && { only: only.id }),
        renewsClosings: options.renewClosings === true,
        onProgress: ({ accounts, rows }) => progress(() => `${accounts} accounts, ${rows} ledger rows`),
      });
      const { accounts, creations, rows, unsettled } = counted;
      output.show(
        { accounts, creations, ledger_rows: rows, unsettled, differences },
        noteOf(differences.length, counted),
      );
      if (differences.length > 0) fail();
    });
}

function noteOf(differences: number, { accounts, creations, rows, unsettled }: AuditProgress): string {
  if (differences > 0) return 'The books do not balance.';
  const busy =
    unsettled === 0
      ? ''
      : ` In ${unsettled} of the accounts money moved all the time, so their balances were not compared.`;
  return `The books balance: ${accounts} accounts, ${creations} creations, ${rows} ledger rows.${busy}`;
}
