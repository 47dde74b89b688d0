import type { ApiKey } from '../../core/account.ts';
import { createOwn } from './conditional.ts';
import { apiKeyToItem } from './mapping.ts';
import type { Table } from './table.ts';

/** Stores the key of the playground, which is in no list of keys. False when another key has the id. */
export function putKey(table: Table, key: ApiKey): Promise<boolean> {
  return createOwn(table, apiKeyToItem(key), (found) => found['hash'] === key.hash);
}
