import { createAuditRunStore } from '../../adapters/dynamodb/audit-run-store.ts';
import { createBooksReader } from '../../adapters/dynamodb/books-reader.ts';
import type { AuditRunStore } from '../../core/ports/audit-runs.ts';
import type { BooksReader } from '../../core/ports/books.ts';
import { commonServices, table, type CommonServices } from './clients.ts';

export interface AuditServices extends CommonServices {
  readonly books: BooksReader;
  readonly runs: AuditRunStore;
}

export function auditServices(): AuditServices {
  const store = table();
  return {
    ...commonServices('audit-books'),
    books: createBooksReader(store),
    runs: createAuditRunStore(store),
  };
}
