/** The item of an automatic top-up. */
import { type Item, type ItemKey, keys } from '../aws/dynamodb/table.ts';
import type { AccountId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';
import type { AutoTopUp } from './auto-top-up.ts';

export function autoTopUpKey(account: AccountId): ItemKey {
  return { pk: keys.account(account).pk, sk: 'AUTO_TOP_UP' };
}

/** The attribute that holds what the payments of a month reserve. */
export function reservedName(month: string): string {
  return `${reserved}${month}`;
}

const reserved = 'reserved_';

export function autoTopUpToItem({ accountId, reservedMicros, ...rest }: AutoTopUp): Item {
  const months: Item = {};
  for (const [month, micros] of Object.entries(reservedMicros)) months[reservedName(month)] = micros;
  return { ...autoTopUpKey(accountId), ...rest, ...months };
}

export function autoTopUpFromItem(accountId: AccountId, { pk: _pk, sk: _sk, ...item }: Item): AutoTopUp {
  const isMonth = ([name]: readonly [string, unknown]): boolean => name.startsWith(reserved);
  const months = Object.entries(item).filter(isMonth);
  return {
    ...(Object.fromEntries(Object.entries(item).filter((entry) => !isMonth(entry))) as unknown as AutoTopUp),
    accountId,
    reservedMicros: Object.fromEntries(
      months.map(([name, micros]) => [name.slice(reserved.length), micros as Micros]),
    ),
  };
}
