/** Reads the requests of BatchGetItem and BatchWriteItem. */
import type { Item } from '../attributes.ts';
import { invalid, maxBatchGetBytes, maxBatchGets, maxBatchWrites } from '../refusals.ts';
import type { Table } from '../table.ts';
import { type Input, isRecord, listOf, recordOf } from '../validation/values.ts';
import { sizeOfItem } from '../values.ts';
import { projectionOf, readId, readWrite, type Write } from './single-items.ts';

export interface BatchGet {
  readonly name: string;
  readonly table: Table;
  readonly request: Input;
  readonly gets: readonly { readonly key: unknown; readonly id: string }[];
  readonly project: ((item: Item) => Item) | undefined;
}

export function readBatchGet(input: Input, find: (name: unknown) => Table): BatchGet[] {
  const requests = Object.entries(recordOf(input, 'RequestItems') ?? {});
  if (requests.length === 0) throw invalid('BatchGetItem must have some requests set');
  const keysOf = (request: unknown): readonly unknown[] =>
    isRecord(request) ? (listOf(request, 'Keys') ?? []) : [];
  for (const [name, request] of requests)
    if (keysOf(request).length === 0)
      throw invalid(`The list of keys in RequestItems for BatchGetItem is required: ${name} has empty list`);
  if (requests.reduce((sum, [, request]) => sum + keysOf(request).length, 0) > maxBatchGets)
    throw invalid('Too many items requested for the BatchGetItem call');
  return requests.map(([name, request]) => {
    const table = find(name);
    const members = isRecord(request) ? request : {};
    const project = projectionOf(members, table);
    const gets = keysOf(request).map((key) => ({ key, id: readId(table, key) }));
    requireDistinct(gets.map(({ id }) => id));
    return { name, table, request: members, gets, project };
  });
}

/** One write of a batch, with its request as it was sent. */
export interface BatchWrite {
  readonly name: string;
  readonly request: unknown;
  readonly write: Write;
}

export function readBatchWrite(input: Input, find: (name: unknown) => Table): BatchWrite[] {
  const requests = Object.entries(recordOf(input, 'RequestItems') ?? {});
  if (requests.length === 0) throw invalid('BatchWriteItem cannot have a null or no requests set');
  const listed = requests.map(([name, list]): [string, readonly unknown[]] => [
    name,
    Array.isArray(list) ? list : [],
  ]);
  for (const [name, list] of listed)
    if (list.length === 0)
      throw invalid(`The batch write request list for a table cannot be null or empty: ${name}`);
  if (listed.reduce((sum, [, list]) => sum + list.length, 0) > maxBatchWrites)
    throw invalid('Too many items requested for the BatchWriteItem call');
  return listed.flatMap(([name, list]) => {
    const table = find(name);
    const writes = list.map((request) => ({ name, request, write: readRequest(table, request) }));
    requireDistinct(writes.map(({ write }) => write.id));
    return writes;
  });
}

function readRequest(table: Table, request: unknown): Write {
  const members = isRecord(request) ? request : {};
  const [put, remove] = [recordOf(members, 'PutRequest'), recordOf(members, 'DeleteRequest')];
  const one = put ?? remove;
  if (one === undefined || (put !== undefined && remove !== undefined))
    throw invalid(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    );
  if (one['Item'] === undefined && one['Key'] === undefined)
    throw invalid('The supplied Item contains a null AttributeValue');
  // A request of a batch has no condition, so only its item or key counts.
  return put === undefined
    ? readWrite('Delete', table, { Key: one['Key'] })
    : readWrite('Put', table, { Item: one['Item'] });
}

function requireDistinct(ids: readonly string[]): void {
  if (new Set(ids).size < ids.length) throw invalid('Provided list of item keys contains duplicates');
}

/** Answers a BatchGetItem. Keys whose items do not fit into the answer stay unprocessed. */
export function batchGet(batches: readonly BatchGet[]): Record<string, unknown> {
  const responses: Record<string, Item[]> = {};
  const unprocessed: Record<string, unknown> = {};
  let bytes = 0;
  for (const { name, table, request, gets, project } of batches) {
    const items: Item[] = [];
    const left: unknown[] = [];
    for (const { id, key } of gets) {
      const item = table.get(id);
      if (item === undefined) continue;
      bytes += sizeOfItem(item);
      if (bytes > maxBatchGetBytes) left.push(key);
      else items.push(project === undefined ? item : project(item));
    }
    responses[name] = items;
    if (left.length > 0) unprocessed[name] = { ...request, Keys: left };
  }
  return { Responses: responses, UnprocessedKeys: unprocessed };
}
