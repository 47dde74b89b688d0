/** Writes the operator's catalog in one transaction with its revision in the service item. */
import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { getItem } from '../aws/dynamodb/send.ts';
import { type Item, keys, type Table } from '../aws/dynamodb/table.ts';
import { transact } from '../aws/dynamodb/transaction.ts';
import { OutcomeUnknown, Overloaded } from '../values/errors.ts';
import { NewerCatalog, type OperatorCatalog } from './operator-catalog.ts';
import { catalogRevisionOf } from './provider-store.ts';

// The operator's catalog is one item, which functions read. Its revision is in the service item, too, which every
// request reads.

/** The version of the item's form. Older code must not mistake a newer form for its own. */
const catalogForm = 1;

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

/** DynamoDB takes 400 KB with the names of the attributes. */
export const mostCatalogBytes = 390_000;

export function createOperatorCatalogStore(table: Table) {
  return {
    /** Undefined: nothing was ever stored. Throws Overloaded, or NewerCatalog. */
    read: async (): Promise<OperatorCatalog | undefined> => readOperatorCatalog(table),
    revision: async (): Promise<string | undefined> =>
      catalogRevisionOf(await getItem(table, keys.service())),
    /**
     * Stores the catalog. False: the catalog has changed since it was read, and nothing was written.
     * @param before the revision that the operator has seen. Undefined: none.
     * @throws Overloaded when the table stays busy; OutcomeUnknown when it may be stored all the same
     */
    store: async (catalog: OperatorCatalog, before: string | undefined): Promise<boolean> =>
      store(table, catalog, before),
  };
}

export function bytesOf(catalog: Omit<OperatorCatalog, 'revision'>): number {
  return Object.values(textsOf(catalog)).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

async function store(table: Table, catalog: OperatorCatalog, before: string | undefined): Promise<boolean> {
  const { revision } = catalog;
  const isUnchanged = before === undefined ? 'attribute_not_exists(pk)' : 'revision = :before';
  const outcome = await transact(
    table,
    [
      {
        Put: {
          TableName: table.name,
          Item: { ...keys.operatorCatalog(), v: catalogForm, revision, ...textsOf(catalog) },
          ConditionExpression: isUnchanged,
          ...(before !== undefined && { ExpressionAttributeValues: { ':before': before } }),
        },
      },
      {
        Update: {
          TableName: table.name,
          Key: keys.service(),
          UpdateExpression: 'SET catalogRevision = :revision',
          ExpressionAttributeValues: { ':revision': revision },
        },
      },
    ],
    `catalog-${revision}`,
  );
  if (outcome.kind === 'done') return true;
  // After a lost answer, the item that refuses the second try may be our own.
  if (outcome.kind === 'refused') return (await readOperatorCatalog(table))?.revision === revision;
  if (outcome.unclear) throw new OutcomeUnknown('the catalog may be stored');
  throw new Overloaded('the table was too busy to store the catalog');
}

/** Each part is one text: null is a value of a patch, and a text is read faster than attributes. */
function textsOf({
  providers,
  models,
  costs,
}: Omit<OperatorCatalog, 'revision'>): Record<'providers' | 'models' | 'costs', string> {
  return {
    providers: JSON.stringify(providers),
    models: JSON.stringify(models),
    costs: JSON.stringify(costs),
  };
}
