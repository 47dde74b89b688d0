/**
 * Bursts: requests over sockets through the whole service, or two hundred charges alone. The charges go through
 * the real SDK client to the simulation's table, which test/tables compares with two other tables. The charge's
 * transaction decides about every limit.
 */
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import { createDirectClient } from '../../lab/simulation/aws/http-exchange.ts';
import { createSimulatedTable, tableName } from '../../lab/simulation/aws/simulated-table.ts';
import { createAccountStore } from '../../service/accounts/account-store.ts';
import type { LedgerRow } from '../../service/accounts/account.ts';
import { createWalletStore } from '../../service/accounts/wallet-store.ts';
import { createChargeStore } from '../../service/creations/charge-store.ts';
import type { ChargeOrder, ChargeOutcome } from '../../service/creations/charge.ts';
import { type CreationId, uuidV7 } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { dayOf, monthOf } from '../../service/values/time.ts';
import { aCreation } from '../fixtures/records.ts';
import type { Answer, Client, NewClient, TestService } from '../fixtures/service.ts';

export const burstSize = 200;
/** The cost of one request in USD. */
export const costUsd = 0.01;
export const userOfTheBurst = 'customer 7';

function together<Value>(length: number, one: () => Promise<Value>): Promise<Value[]> {
  return Promise.all(Array.from({ length }, one));
}

export function requestsAtOnce(
  service: TestService,
  { key }: Client,
  count: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer[]> {
  const body = { model: 'sandbox-sketch', prompt: 'a crowd at a counter', user: userOfTheBurst };
  return together(count, async () => service.send('/images/generate', { key, body, headers }));
}

type Charged = Pick<Client, 'account' | 'record'>;

/** Clients whose charges go straight to a table. */
export interface Counter {
  client(wanted: NewClient): Promise<Charged>;
  /** Sends the charges of two hundred requests that have all passed the first checks. */
  chargeAtOnce(client: Charged): Promise<ChargeOutcome[]>;
  ledger(client: Charged): Promise<readonly LedgerRow[]>;
}

export function openCounter(service: TestService): Counter {
  const memory = createSimulatedTable({ now: service.machine.clock.now });
  const table = {
    ...service.operator.table,
    name: tableName,
    client: createDirectClient((operation, input) => memory.perform(operation, input)),
  };
  const charges = createChargeStore(table);
  const operator = {
    ...service.operator,
    table,
    accounts: createAccountStore(table),
    wallet: createWalletStore(table),
  };
  return {
    client: async (wanted) => {
      const account = await createAccount(operator, { name: 'crowd', ...wanted });
      const { record } = await issueKey(operator, account, { ...wanted, name: 'crowd' });
      return { account, record };
    },
    chargeAtOnce: (client) => {
      // All charges have the same time, so that no round falls into two rate windows.
      const now = service.machine.clock.now();
      return together(burstSize, async () => charges.charge(orderOf(service, client, now)));
    },
    ledger: ({ account }) => operator.wallet.ledger(account.id),
  };
}

function orderOf({ operator }: TestService, { account, record }: Charged, now: number): ChargeOrder {
  const creation = aCreation({
    id: uuidV7(now, operator.randomBytes(16)) as CreationId,
    accountId: account.id,
    keyId: record.id,
    model: 'sandbox-sketch',
    costMicros: asMicros(costUsd * 1_000_000),
    chargedMonth: monthOf(now),
    chargedDay: dayOf(now),
    user: userOfTheBurst,
    ...(record.perUserMonthlyCapMicros !== undefined && { countedForUser: true }),
    createdAt: new Date(now).toISOString(),
    // The creation is due in an hour, so that no reconciler starts it during the test.
    dueAt: now + 3_600_000,
  });
  return {
    creations: [creation],
    apiKey: record,
    maxConcurrent: account.limits.maxConcurrent,
    postRate: account.limits.postRate,
    nowMillis: now,
  };
}
