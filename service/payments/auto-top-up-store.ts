/** The automatic top-ups: what owners and the operator change, and the list that the worker goes through. */
import { autoTopUpKey } from '../accounts/top-up-state-reads.ts';
import { batchGetAtOnce } from '../aws/dynamodb/batch-get.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import { getItem } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, openWorkIndex, type Table } from '../aws/dynamodb/table.ts';
import type { TransactItem } from '../aws/dynamodb/transaction.ts';
import { type AccountId, parseAccountId } from '../values/ids.ts';
import { asRead, autoTopUpFromItem, changeOf, runningTopUps, type TopUpChange } from './auto-top-up-items.ts';
import type { AutoTopUp, PauseReason, TopUpChoice } from './auto-top-up.ts';
import { sendItems, update } from './payment-transaction.ts';

export type AutoTopUpStore = ReturnType<typeof createAutoTopUpStore>;

export function createAutoTopUpStore(table: Table) {
  return {
    read: (account: AccountId): Promise<AutoTopUp> => read(table, account),
    /** Stores what the owner chose. False when something changed since the top-up was read. */
    choose: (before: AutoTopUp, next: TopUpChoice & Pick<AutoTopUp, 'isOn'>): Promise<boolean> => {
      const { isOn, ...choice } = next;
      const isRunning = isOn && before.paused === undefined;
      return change(table, before, { isOn, choice }, isRunning, [marked(table, before.accountId, isOn)]);
    },
    /** Ends a pause. False when something changed since the top-up was read. */
    resume: (before: AutoTopUp): Promise<boolean> =>
      change(table, before, { paused: undefined }, before.isOn),
    pause: (before: AutoTopUp, reason: PauseReason): Promise<boolean> =>
      change(table, before, { paused: reason }, false),
    removeCard: (before: AutoTopUp): Promise<boolean> => change(table, before, { card: undefined }),
    /** The accounts whose automatic top-up is on and not paused, in pages. */
    running: () => running(table),
    /** Those of these accounts that have less than their threshold, as they were a moment ago. */
    belowThreshold: (accounts: readonly AccountId[]): Promise<readonly AccountId[]> =>
      belowThreshold(table, accounts),
  };
}

async function read(table: Table, account: AccountId): Promise<AutoTopUp> {
  return autoTopUpFromItem(account, await getItem(table, autoTopUpKey(account)));
}

async function change(
  table: Table,
  before: AutoTopUp,
  set: TopUpChange['set'],
  isRunning?: boolean,
  beside: readonly TransactItem[] = [],
): Promise<boolean> {
  const refusals = await sendItems(table, [
    changeOf(table, before.accountId, {
      ...(set && { set }),
      ...(isRunning !== undefined && { isRunning }),
      isVersioned: true,
      condition: asRead(before),
    }),
    ...beside,
  ]);
  return refusals === undefined;
}

/** By this mark a request knows whether there is anything to read (top-up-state-reads.ts). */
function marked(table: Table, account: AccountId, isOn: boolean): TransactItem {
  return update(table, keys.account(account), {
    UpdateExpression: isOn ? 'SET hasAutoTopUp = :true' : 'REMOVE hasAutoTopUp',
    ConditionExpression: 'attribute_exists(pk)',
    ...(isOn && { ExpressionAttributeValues: { ':true': true } }),
  });
}

async function* running(table: Table): AsyncGenerator<readonly AccountId[]> {
  const pages = queryPages(table, {
    IndexName: openWorkIndex.name,
    KeyConditionExpression: `${openWorkIndex.partition} = :part`,
    ExpressionAttributeValues: { ':part': runningTopUps },
  });
  for await (const { Items: items = [] } of pages)
    yield items.flatMap(({ pk }) => parseAccountId(String(pk).slice('ACCOUNT#'.length)) ?? []);
}

/** The begin of a payment reads again. So this read may be at half the price, and may miss a change. */
async function belowThreshold(table: Table, accounts: readonly AccountId[]): Promise<readonly AccountId[]> {
  const wanted = accounts.flatMap((account) => [keys.account(account), autoTopUpKey(account)]);
  const attributes = ['pk', 'sk', 'availableMicros', 'choice', 'open'];
  const items = await batchGetAtOnce(table, wanted, attributes, false);
  const found = new Map(items.map((item) => [`${String(item['pk'])} ${String(item['sk'])}`, item]));
  const itemOf = ({ pk, sk }: ItemKey): Item | undefined => found.get(`${pk} ${sk}`);
  return accounts.filter((account) => {
    const { choice, open } = autoTopUpFromItem(account, itemOf(autoTopUpKey(account)));
    const available = Number(itemOf(keys.account(account))?.['availableMicros']);
    return choice !== undefined && open === undefined && available < choice.thresholdMicros;
  });
}
