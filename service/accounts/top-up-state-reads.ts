/** The state of an account's automatic top-up. Only accounts that have one cost this read. */
import { getItem } from '../aws/dynamodb/send.ts';
import { type ItemKey, keys, type Table } from '../aws/dynamodb/table.ts';
import type { AccountId } from '../values/ids.ts';
import type { Account } from './account.ts';

export function autoTopUpKey(account: AccountId): ItemKey {
  return { pk: keys.account(account).pk, sk: 'AUTO_TOP_UP' };
}

/** 'open': money is on its way. 'paused': a person must act. */
export type TopUpState = 'on' | 'open' | 'paused';

/** Undefined: the account has no automatic top-up, or has switched it off. */
export function createTopUpState(table: Table) {
  return async ({
    id,
    hasAutoTopUp,
  }: Pick<Account, 'id' | 'hasAutoTopUp'>): Promise<TopUpState | undefined> => {
    if (!hasAutoTopUp) return undefined;
    const item = await getItem(table, autoTopUpKey(id));
    if (item?.['isOn'] !== true) return undefined;
    if (item['paused'] !== undefined) return 'paused';
    return item['open'] === undefined ? 'on' : 'open';
  };
}
