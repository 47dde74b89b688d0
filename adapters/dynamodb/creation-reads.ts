import type { CreationRecord } from '../../core/creation.ts';
import type { CreationId } from '../../core/ids.ts';
import type { CreationReads } from '../../core/ports/creations.ts';
import { batchGet } from './batch-get.ts';
import { pageOfCreations } from './creation-page.ts';
import { withLease } from './lease-item.ts';
import { creationFromItem } from './mapping.ts';
import { getItem } from './send.ts';
import { keys, type Item, type ItemKey, type Table } from './table.ts';

/** Reads creations. It is apart from the writes, which the functions of the API do not need. */
export function createCreationReads(table: Table): CreationReads {
  return {
    read: (id) => readCreation(table, id),
    readAll: (ids) => readCreations(table, ids),
    list: async (accountId, limit, before) => {
      const page = await pageOfCreations(table, accountId, {
        limit,
        ...(before !== undefined && { before }),
      });
      return page.creations;
    },
    page: (accountId, query) => pageOfCreations(table, accountId, query),
  };
}

/** One consistent read. */
async function readCreation(table: Table, id: CreationId): Promise<CreationRecord | undefined> {
  const item = await getItem(table, keys.creation(id));
  return item && creationFromItem(item);
}

/** Consistent reads. A creation and its lease are in the same batch, fifty of each at once. */
async function readCreations(table: Table, ids: readonly CreationId[]): Promise<readonly CreationRecord[]> {
  const items = await batchGet(
    table,
    ids.flatMap((id) => [keys.creation(id), keys.lease(id)]),
  );
  const found = new Map(items.map((item) => [`${String(item['pk'])} ${String(item['sk'])}`, item]));
  const itemOf = ({ pk, sk }: ItemKey): Item | undefined => found.get(`${pk} ${sk}`);
  return ids.flatMap((id) => {
    const item = itemOf(keys.creation(id));
    return item ? [withLease(creationFromItem(item), itemOf(keys.lease(id)))] : [];
  });
}
