import { readBooks } from '../../adapters/dynamodb/audit-store.ts';
import type { AccountId } from '../../core/ids.ts';
import type { AccountBooks } from '../../core/ledger.ts';
import { commonServices, table, type CommonServices } from './clients.ts';

export interface AuditServices extends CommonServices {
  /** The books of every account, or of the given one. */
  readonly books: (only?: AccountId) => Promise<readonly AccountBooks[]>;
}

export function auditServices(): AuditServices {
  const store = table();
  return { ...commonServices('audit-books'), books: async (only) => readBooks(store, only) };
}
