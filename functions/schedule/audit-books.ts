/**
 * The daily audit: every balance and creation against the ledger, while the service works.
 * It repairs nothing: what differs is an operator's to understand first.
 */
import type { Context } from 'aws-lambda';
import { auditAccount, type AccountBooks } from '../../core/ledger.ts';
import { logWith } from '../log-with.ts';
import { auditServices, type AuditServices } from '../services.ts';

/** Books are read in no single instant: what moved meanwhile differs, and is looked at again. One clean look is proof. */
const looks = 4;
const lookAgainMillis = 15_000;
/** Of one account, in its line of the log; the operator's command lists all. */
const mostListed = 20;

export interface AuditReport {
  readonly accounts: number;
  readonly creations: number;
  /** That no further look cleared up. */
  readonly differences: number;
}

export async function auditBooks(services: AuditServices): Promise<AuditReport> {
  const books = await services.books();
  const suspects = await lastingDifferences(books.filter(differs), services);
  for (const account of suspects) {
    const differences = auditAccount(account);
    services.log.alarm('books_out_of_balance', { accountId: account.accountId, count: differences.length, differences: differences.slice(0, mostListed) });
  }
  const report = {
    accounts: books.length,
    creations: books.reduce((sum, account) => sum + account.creations.length, 0),
    differences: suspects.reduce((sum, account) => sum + auditAccount(account).length, 0),
  };
  services.log.info('books_audited', report);
  return report;
}

function differs(account: AccountBooks): boolean {
  return auditAccount(account).length > 0;
}

async function lastingDifferences(found: readonly AccountBooks[], { books, clock }: AuditServices): Promise<readonly AccountBooks[]> {
  let suspects = found;
  for (let look = 2; look <= looks && suspects.length > 0; look += 1) {
    await clock.sleep(lookAgainMillis);
    const again = await Promise.all(suspects.map(async ({ accountId }) => books(accountId)));
    suspects = again.flat().filter(differs);
  }
  return suspects;
}

const services = auditServices();

export const handler = async (_event: unknown, { awsRequestId: requestId }: Context): Promise<AuditReport> =>
  auditBooks(logWith(services, { requestId }));
