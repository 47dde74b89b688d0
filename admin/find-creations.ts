/** Finds creations: those of an account, or the one that a request made. */
import type { Account } from '../service/accounts/account.ts';
import { type CreationRecord, creationStatuses } from '../service/creations/creation.ts';
import { readLedgerRows } from '../service/usage/booked-row-reads.ts';
import type { AccountId, CreationId } from '../service/values/ids.ts';
import { OperatorError } from './operator-error.ts';
import type { OperatorServices } from './services.ts';
import * as values from './terminal/values.ts';

export interface ListOptions {
  readonly status?: string;
  readonly model?: string;
  readonly user?: string;
  readonly limit: string;
}

type Store = Pick<OperatorServices, 'creations'>;

/**
 * BatchGetItem takes at most 100 keys and gives at most 16 MB. An item has at most 400 KB, so 40 items always
 * fit.
 */
const pageSize = 40;
const mostListed = 1_000;
const mostDays = 365;
const dayMillis = 86_400_000;

/** The newest creations of an account that match the options. Reads pages until it has enough creations. */
export async function listCreations(
  services: Store,
  account: Account,
  options: ListOptions,
): Promise<CreationRecord[]> {
  const status = creationStatuses.find((known) => known === options.status);
  if (options.status !== undefined && !status)
    throw new OperatorError(`--status: must be one of ${creationStatuses.join(', ')}.`);
  const limit = values.count('--limit', options.limit, 1, mostListed);
  const found: CreationRecord[] = [];
  for await (const creation of newestFirst(services, account.id)) {
    const fits =
      (!status || creation.status === status) &&
      (options.model === undefined || creation.model === options.model) &&
      (options.user === undefined || creation.user === options.user);
    if (fits) found.push(creation);
    if (found.length === limit) break;
  }
  return found;
}

/**
 * The creation that a request made. The ledger row of the charge names the request. An index of request ids
 * would cost a write unit for every request, so this function reads the ledgers instead.
 */
export async function findByRequest(
  services: OperatorServices,
  requestId: string,
  options: { readonly account?: string; readonly days: string },
): Promise<CreationRecord | undefined> {
  const days = values.count('--days', options.days, 1, mostDays);
  const now = services.clock.now();
  const since = new Date(now - days * dayMillis).toISOString();
  // The last row can be of the next day, by the clock of another machine.
  const read = { from: since.slice(0, 10), to: new Date(now + dayMillis).toISOString().slice(0, 10) };
  for await (const account of accountsOf(services, options.account)) {
    for await (const rows of readLedgerRows(services.table, account, read)) {
      const charge = rows.find((row) => row.requestId === requestId && row.at >= since);
      if (charge?.creationId !== undefined) return (await services.creations.readAll([charge.creationId]))[0];
    }
  }
  return undefined;
}

/** The accounts whose ledgers are read: the given one, or all. */
export async function* accountsOf(
  services: OperatorServices,
  only: string | undefined,
): AsyncGenerator<AccountId> {
  if (only !== undefined) yield (await values.account(services, only)).id;
  else for await (const page of services.accounts.pages()) for (const { id } of page) yield id;
}

async function* newestFirst({ creations }: Store, account: AccountId): AsyncGenerator<CreationRecord> {
  let before: CreationId | undefined;
  for (;;) {
    const page = await creations.list(account, pageSize, before);
    if (page.length === 0) return;
    yield* page;
    before = page.at(-1)?.id;
  }
}
