/**
 * The operator's command writes the operator's catalog. One transaction writes the item and its revision in the
 * service item, so a function that sees a revision finds its item.
 */
import { getItem } from '../aws/dynamodb/send.ts';
import { keys, type Table } from '../aws/dynamodb/table.ts';
import { transact } from '../aws/dynamodb/transaction.ts';
import { OutcomeUnknown, Overloaded } from '../values/errors.ts';
import { catalogForm, readOperatorCatalog } from './operator-catalog-reads.ts';
import type { OperatorCatalog } from './operator-catalog.ts';
import { catalogRevisionOf } from './provider-store.ts';

/** DynamoDB takes 400 KB with the names of the attributes. */
export const mostCatalogBytes = 390_000;

export interface OperatorCatalogStore {
  /** Undefined: nothing was ever stored. Throws Overloaded, or NewerCatalog. */
  read(): Promise<OperatorCatalog | undefined>;
  /** The revision that requests need, also when the item was deleted. */
  revision(): Promise<string | undefined>;
  /**
   * Stores the catalog. False: the catalog has changed since it was read, and nothing was written.
   * @param before the revision that the operator has seen. Undefined: none.
   * @throws Overloaded when the table stays busy; OutcomeUnknown when it may be stored all the same
   */
  store(catalog: OperatorCatalog, before: string | undefined): Promise<boolean>;
}

export function createOperatorCatalogStore(table: Table): OperatorCatalogStore {
  return {
    read: async () => readOperatorCatalog(table),
    revision: async () => catalogRevisionOf(await getItem(table, keys.service())),
    store: async (catalog, before) => store(table, catalog, before),
  };
}

/** How many bytes of the item the catalog takes. */
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
