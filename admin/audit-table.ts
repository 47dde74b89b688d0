/** The audit as a person runs it: from the beginning to the end, over the table of a service. */
import { createBooksReader } from '../service/audit/books-reads.ts';
import type { Difference } from '../service/audit/books.ts';
import { createClosingStore } from '../service/audit/closing-store.ts';
import { auditAccounts, noProgress, type AuditProgress } from '../service/audit/audit-accounts.ts';
import type { AccountId } from '../service/values/ids.ts';
import type { OperatorServices } from './services.ts';

const lookAgainMillis = 1_000;

interface AuditOptions {
  readonly only?: AccountId;
  readonly renewsClosings?: boolean;
  readonly onProgress?: (progress: AuditProgress) => void;
}

export interface AuditedTable {
  readonly counted: AuditProgress;
  readonly differences: readonly Difference[];
}

/**
 * The differences that last, while the service works.
 * @param only audits only this account
 * @param renewsClosings replaces the closing balances of accounts that balance; otherwise nothing is written
 * @param onProgress receives the progress of the audit
 */
export async function auditTable(
  { table, clock }: Pick<OperatorServices, 'table' | 'clock'>,
  { only, renewsClosings = false, onProgress }: AuditOptions = {},
): Promise<AuditedTable> {
  const differences: Difference[] = [];
  const { read, write } = createClosingStore(table);
  const { progress } = await auditAccounts(
    {
      books: createBooksReader(table),
      closings: renewsClosings ? { use: 'renewed', read, write } : { use: 'compared', read },
      nowMillis: () => clock.now(),
      pause: async () => clock.sleep(lookAgainMillis),
      isTimeUp: () => false,
      onAccount: (audited) => differences.push(...audited.differences),
      ...(only !== undefined && { only }),
      ...(onProgress && { onProgress }),
    },
    noProgress,
  );
  return { counted: progress, differences };
}
