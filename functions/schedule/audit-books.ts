/**
 * The daily audit compares every balance and every creation with the ledger while the service works. The
 * audit repairs nothing: an operator has to understand a difference first.
 */
import { lastingDifferences } from '../../core/lasting-differences.ts';
import { auditAccount } from '../../core/ledger.ts';
import { lambdaHandler } from '../lambda-handler.ts';
import { auditServices, type AuditServices } from '../services/audit.ts';

const lookAgainMillis = 15_000;
/** How many differences of an account its log line lists. `admin audit` lists all of them. */
const mostListed = 20;

export interface AuditReport {
  readonly accounts: number;
  readonly creations: number;
  /** Differences that were still there at the second look. */
  readonly differences: number;
}

export async function auditBooks(services: AuditServices): Promise<AuditReport> {
  const books = await services.books();
  const suspects = await lastingDifferences(books, {
    pause: async () => services.clock.sleep(lookAgainMillis),
    books: services.books,
  });
  for (const account of suspects) {
    const differences = auditAccount(account);
    services.log.alarm('books_out_of_balance', {
      accountId: account.accountId,
      count: differences.length,
      differences: differences.slice(0, mostListed),
    });
  }
  const report = {
    accounts: books.length,
    creations: books.reduce((sum, account) => sum + account.creations.length, 0),
    differences: suspects.reduce((sum, account) => sum + auditAccount(account).length, 0),
  };
  services.log.info('books_audited', report);
  return report;
}

export const handler = lambdaHandler(auditServices, async (_event: unknown, services) =>
  auditBooks(services),
);
