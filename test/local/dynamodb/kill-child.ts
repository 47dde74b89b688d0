/**
 * A process for the proof with kill -9: tables on a folder storage behind the local AWS endpoint. It prints
 * its address when it is ready, and runs until it is killed.
 */
import * as z from 'zod';
import type { AwsService } from '../../../local/aws/aws-call.ts';
import { AwsError } from '../../../local/aws/aws-error.ts';
import { createAwsEndpoint } from '../../../local/aws/endpoint.ts';
import { createFaults } from '../../../local/aws/faults.ts';
import { createObjectStore } from '../../../local/aws/object-store.ts';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import { createFolderStorage } from '../../../local/dynamodb/journal/folder-storage.ts';
import type { StoredRecord } from '../../../local/dynamodb/storage.ts';
import { commit, createMapTables, tableDefinition } from './map-tables.ts';

const [folder = ''] = process.argv.slice(2);
const TableName = 'Main';
const pageItems = 2_000;

const itemSchema = z.custom<Item>((value) => typeof value === 'object');
const putSchema = z.object({ Item: itemSchema });
const transactionSchema = z.object({ TransactItems: z.array(z.object({ Put: putSchema })) });
const scanSchema = z.object({ ExclusiveStartKey: z.object({ sk: z.object({ S: z.string() }) }).optional() });

const tables = createMapTables();
// A small journal, so that kills meet many snapshots.
const storage = createFolderStorage({ folder, snapshotAfterBytes: 40_000 });
await storage.load(tables.apply, tables.state);
if (tables.text() === '[]') write({ kind: 'table', table: tableDefinition(TableName) });

function write(record: StoredRecord): void {
  tables.apply(record);
  storage.append(record);
}

const put = (item: Item): { table: string; put: Item } => ({ table: TableName, put: item });

/** Serves the three operations of the proof, and answers when the storage has settled. */
const dynamodb: AwsService = async ({ operation, input }) => {
  const output = perform(operation, input);
  await storage.settled();
  return output;
};

function perform(operation: string, input: Record<string, unknown>): Record<string, unknown> {
  switch (operation) {
    case 'PutItem':
      write(commit(put(putSchema.parse(input).Item)));
      return {};
    case 'TransactWriteItems':
      write(commit(...transactionSchema.parse(input).TransactItems.map(({ Put }) => put(Put.Item))));
      return {};
    case 'Scan': {
      const start = Number(scanSchema.parse(input).ExclusiveStartKey?.sk.S ?? 0);
      const all = tables.items(TableName);
      const Items = all.slice(start, start + pageItems);
      const isLast = start + pageItems >= all.length;
      const LastEvaluatedKey = { pk: { S: 'place' }, sk: { S: String(start + pageItems) } };
      return { Items, Count: Items.length, ...(!isLast && { LastEvaluatedKey }) };
    }
  }
  throw new AwsError('UnknownOperationException', operation);
}

const nothing: AwsService = ({ operation }) =>
  Promise.reject(new AwsError('UnknownOperationException', operation));
const endpoint = createAwsEndpoint({
  dynamodb,
  states: nothing,
  secretsmanager: nothing,
  objectStore: createObjectStore(`${folder}-objects`, { now: Date.now }),
  faults: createFaults(),
  authorize: () => undefined,
});
const { url } = await endpoint.listen();
process.stdout.write(`${url}\n`);
