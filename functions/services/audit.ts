import { createAuditRunStore } from '../../adapters/dynamodb/audit-run-store.ts';
import { createBooksReader } from '../../adapters/dynamodb/books-reader.ts';
import { commonOf, tableOf } from './common.ts';
import type { On } from './platform.ts';

export type AuditServices = ReturnType<typeof openAudit>;

export function openAudit(on: On<'dynamodb'>) {
  const table = tableOf(on);
  return {
    ...commonOf(on, 'audit-books'),
    books: createBooksReader(table),
    runs: createAuditRunStore(table),
  };
}
