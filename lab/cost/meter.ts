/** Counts the functions' calls to AWS, and the table's read and write units, while the service works. */
import type { AwsCall, AwsOutput } from '../../local/aws/aws-call.ts';
import type { Item } from '../../local/dynamodb/attributes.ts';
import { sizeOfItem } from '../../local/dynamodb/values.ts';
import type { OneMachine } from '../../local/one-machine.ts';
import { listingIndex, openWorkIndex, ttlAttribute } from '../../service/aws/dynamodb/table.ts';
import { asTableRequest, type ItemRequest } from '../simulation/aws/table-request.ts';
import type { FunctionCount } from './counts.ts';

/** One item before and after a call that wrote it. */
export interface Touched {
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/**
 * The write units of one item. Source: Amazon DynamoDB developer guide, "Read and write operations". A write takes
 * one unit for each 1 KB of the larger of the old and the new item, and a transaction doubles this. A new or removed
 * entry of an index takes one unit more, and a moved entry two: the indexes hold only keys, so each entry is smaller
 * than 1 KB.
 */
export function writeUnits({ before, after }: Touched, inTransaction: boolean): number {
  const bytes = Math.max(bytesOf(before), bytesOf(after), 1);
  const moved = [openWorkIndex, listingIndex].flatMap(({ partition, sort }) => {
    const [old, now] = [before, after].map((item) => entryOf(item, [partition, sort]));
    return old === now ? [] : [old, now].filter((entry) => entry !== undefined);
  });
  return Math.ceil(bytes / 1024) * (inTransaction ? 2 : 1) + moved.length;
}

function bytesOf(item: Item | undefined): number {
  return item === undefined ? 0 : sizeOfItem(item);
}

/** An index has an entry for an item with both attributes. */
function entryOf(item: Item | undefined, keys: readonly string[]): string | undefined {
  const values = keys.map((key) => item?.[key]);
  return values.includes(undefined) ? undefined : JSON.stringify(values);
}

/** A consistent read takes one unit for each 4 KB, and an eventually consistent read half of that. */
function readUnits(bytes: number, isConsistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / 4096)) * (isConsistent ? 1 : 0.5);
}

/**
 * `nameOf` gives the name of a function for its id or for the id of its role. The meter does not count a
 * function for which `nameOf` gives undefined, and no call for which `isLeftOut` is true.
 */
export function createMeter(
  machine: OneMachine,
  nameOf: (roleId: string) => string | undefined,
  isLeftOut: (call: AwsCall) => boolean = () => false,
) {
  const functions: Record<string, FunctionCount> = {};
  let storedBytes = 0;
  let isStopped = false;
  const countOf = (name: string): FunctionCount =>
    (functions[name] ??= { invocations: 0, cpuMillis: 0, readUnits: 0, writeUnits: 0, calls: {} });
  machine.interceptAws(async (call, serve) => {
    const name = nameOf(call.caller);
    if (name === undefined || isLeftOut(call)) return serve();
    const count = countOf(name);
    const label = labelOf(call);
    count.calls[label] = (count.calls[label] ?? 0) + 1;
    if (call.service !== 'dynamodb') return serve();
    // The units of a write depend on the item before it and after it.
    const written = writesOf(call);
    const before = await readAll(machine, written);
    const output = await serve();
    for (const [index, after] of (await readAll(machine, written)).entries()) {
      const touched = { before: before[index], after };
      count.writeUnits += writeUnits(touched, call.operation === 'TransactWriteItems');
      storedBytes += keptBytes(after) - keptBytes(touched.before);
    }
    count.readUnits += readsOf(call, output);
    return output;
  });
  return {
    /** The counts by the function's name. */
    functions,
    /** By how many bytes the items of the table have grown that no time removes. */
    storedBytes: () => storedBytes,
    /** Counts an invocation that has ended. */
    noteInvocation: (functionId: string, cpuMillis: number) => {
      const name = nameOf(functionId);
      if (name === undefined || isStopped) return;
      const count = countOf(name);
      count.invocations += 1;
      count.cpuMillis += cpuMillis;
    },
    /** Ends the counting. */
    stop: () => {
      isStopped = true;
      machine.interceptAws((_call, serve) => serve());
    },
  };
}

export type Meter = ReturnType<typeof createMeter>;

/** Thumbnails are counted apart from pictures. Their keys end in their side length. */
function labelOf({ service, operation, input }: AwsCall): string {
  const isThumbnail = operation === 'PutObject' && /-\d+\.webp$/.test(String(input['Key']));
  return `${service} ${operation}${isThumbnail ? ' of a thumbnail' : ''}`;
}

/** DynamoDB bills 100 bytes more for each stored item. An item with a time to live disappears. */
function keptBytes(item: Item | undefined): number {
  return item === undefined || ttlAttribute in item ? 0 : sizeOfItem(item) + 100;
}

function readAll(machine: OneMachine, items: readonly object[]): Promise<(Item | undefined)[]> {
  return Promise.all(
    items.map(async (item) => {
      const input = { ...item, ConsistentRead: true };
      const call = { service: 'dynamodb', operation: 'GetItem', caller: 'operator', input } as const;
      return (await machine.aws(call))['Item'] as Item | undefined;
    }),
  );
}

/** Table and key of the items that a call writes. */
function writesOf({ operation, input }: AwsCall): object[] {
  const { TransactItems: steps = [] } = asTableRequest(input);
  if (operation === 'TransactWriteItems') return steps.flatMap((step) => Object.values(step).map(keyOf));
  return ['PutItem', 'UpdateItem', 'DeleteItem'].includes(operation) ? [keyOf(input)] : [];
}

function keyOf({ TableName, Key, Item: { pk, sk } = {} }: ItemRequest = {}): object {
  return { TableName, Key: Key ?? { pk, sk } };
}

function readsOf({ operation, input }: AwsCall, output: AwsOutput): number {
  const isConsistent = input['ConsistentRead'] === true;
  if (operation === 'GetItem') return readUnits(bytesOf(output['Item'] as Item | undefined), isConsistent);
  // DynamoDB charges for the sum of all items of a query.
  if (operation === 'Query') {
    const found = (output['Items'] ?? []) as readonly Item[];
    return readUnits(sizeOfItem({ items: { L: found.map((item) => ({ M: item })) } }), isConsistent);
  }
  if (operation !== 'BatchGetItem') return 0;
  // DynamoDB charges for a key without an item as for a small item.
  const responses = (output['Responses'] ?? {}) as Readonly<Record<string, readonly Item[]>>;
  return Object.entries(asTableRequest(input).RequestItems ?? {}).reduce(
    (sum, [table, { Keys: keys, ConsistentRead }]) =>
      keys.reduce(
        (units, _key, index) =>
          units + readUnits(bytesOf(responses[table]?.[index]), ConsistentRead === true),
        sum,
      ),
    0,
  );
}
