/**
 * The operator's catalog is one item, which functions read. Its revision is in the service item, too, which every
 * request reads.
 */
import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { getItem } from '../aws/dynamodb/send.ts';
import { type Item, keys, type Table } from '../aws/dynamodb/table.ts';
import { NewerCatalog, type OperatorCatalog } from './operator-catalog.ts';

/**
 * The version of the item's form. A change that older code would take for something else needs the next one, and
 * comes one release after the code that understands it.
 */
export const catalogForm = 1;

/** One consistent read, for functions that may call GetItem. */
export async function readOperatorCatalog(table: Table): Promise<OperatorCatalog | undefined> {
  return fromItem(await getItem(table, keys.operatorCatalog()));
}

/** The same for functions that may call BatchGetItem. */
export async function readOperatorCatalogInBatch(table: Table): Promise<OperatorCatalog | undefined> {
  const [item] = await batchGet(table, [keys.operatorCatalog()]);
  return fromItem(item);
}

function fromItem(item: Item | undefined): OperatorCatalog | undefined {
  if (!item) return undefined;
  if (Number(item['v']) > catalogForm)
    throw new NewerCatalog("a newer release has stored the operator's catalog");
  const part = (name: string): unknown => JSON.parse(String(item[name]));
  // The command has checked what it stored.
  return {
    revision: String(item['revision']),
    providers: part('providers') as OperatorCatalog['providers'],
    models: part('models') as OperatorCatalog['models'],
    costs: part('costs') as OperatorCatalog['costs'],
  };
}
