import { commonOf, tableOf } from '../platform/common.ts';
import type { On } from '../platform/platform.ts';
import { createAuditRunStore } from './audit-run-store.ts';
import { createBooksReader } from './books-reads.ts';
import { createClosingStore } from './closing-store.ts';

export type AuditServices = ReturnType<typeof openAudit>;

export function openAudit(on: On<'dynamodb'>) {
  const table = tableOf(on);
  return {
    ...commonOf(on, 'audit-books'),
    books: createBooksReader(table),
    closings: createClosingStore(table),
    runs: createAuditRunStore(table),
  };
}
