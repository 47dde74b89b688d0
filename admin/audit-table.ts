/** The audit as a person runs it: from the beginning to the end, over the table of a service. */
import { createBooksReader } from '../adapters/dynamodb/books-reader.ts';
import type { Difference } from '../core/audit/books.ts';
import { auditAccounts, noProgress, type AuditProgress } from '../core/audit/audit-accounts.ts';
import type { AccountId } from '../core/ids.ts';
import type { OperatorServices } from './services.ts';

const lookAgainMillis = 1_000;

export interface AuditedTable {
  readonly counted: AuditProgress;
  readonly differences: readonly Difference[];
}

/**
 * The differences that last, while the service works.
 * @param only audits only this account
 * @param onProgress receives the progress of the audit
 */
export async function auditTable(
  { table, clock }: Pick<OperatorServices, 'table' | 'clock'>,
  { only, onProgress }: { only?: AccountId; onProgress?: (progress: AuditProgress) => void } = {},
): Promise<AuditedTable> {
  const differences: Difference[] = [];
  const { progress } = await auditAccounts(
    {
      books: createBooksReader(table),
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
