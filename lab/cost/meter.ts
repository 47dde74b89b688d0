/** Counts the functions' calls to AWS, and the table's read and write units, while the service works. */
import * as z from 'zod';
import type { AwsCall, AwsOutput } from '../../local/aws/aws-call.ts';
import type { OneMachine } from '../../local/one-machine.ts';
import { ttlAttribute } from '../../service/aws/dynamodb/table.ts';

/**
 * The read and write units of one call. Source: Amazon DynamoDB developer guide, "Read and write operations".
 *
 * - A consistent read takes one unit for each 4 KB. An eventually consistent read takes half of that.
 * - A write takes one unit for each 1 KB of the item. The larger of the old and the new item counts.
 * - A transaction doubles both.
 * - A new or removed entry of an index takes one more write unit. A moved entry takes two.
 */
const valueSchema = z.record(z.string(), z.unknown());
const itemSchema = z.record(z.string(), valueSchema);
const textsSchema = z.array(z.string());

type AttributeValue = z.infer<typeof valueSchema>;
type AttributeMap = z.infer<typeof itemSchema>;

/** An item of a request or an answer; undefined when the message has none. */
export function itemOf(value: unknown): AttributeMap | undefined {
  return itemSchema.optional().parse(value);
}

/** The items of an answer; empty when the answer has none. */
function itemsOf(value: unknown): AttributeMap[] {
  return z.array(itemSchema).default([]).parse(value);
}

export function itemBytes(item: AttributeMap | undefined): number {
  if (item === undefined) return 0;
  return Object.entries(item).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value),
    0,
  );
}

function valueBytes(value: AttributeValue): number {
  const [[type, held] = ['NULL', true]] = Object.entries(value);
  switch (type) {
    case 'S':
      return Buffer.byteLength(String(held));
    case 'N':
      return Math.ceil(String(held).replace(/[-.]/g, '').length / 2) + 1;
    case 'M': {
      const map = itemSchema.parse(held);
      return 3 + itemBytes(map) + Object.keys(map).length;
    }
    case 'L':
      return (
        3 +
        z
          .array(valueSchema)
          .parse(held)
          .reduce((sum, one) => sum + valueBytes(one) + 1, 0)
      );
    case 'SS':
      return textsSchema.parse(held).reduce((sum, one) => sum + Buffer.byteLength(one), 0);
    case 'B':
      return Buffer.from(String(held), 'base64').byteLength;
    default:
      return 1;
  }
}

/** One item before and after a call that wrote it. */
export interface Touched {
  readonly before: AttributeMap | undefined;
  readonly after: AttributeMap | undefined;
}

/**
 * The key attributes of each index, by the name of the index. An index has an entry for an item with both
 * attributes.
 */
type Indexes = Readonly<Record<string, readonly [partition: string, sort: string]>>;

export function writeUnits({ before, after }: Touched, indexes: Indexes, inTransaction: boolean): number {
  const size = Math.max(itemBytes(before), itemBytes(after), 1);
  const own = Math.ceil(size / 1024) * (inTransaction ? 2 : 1);
  return own + Object.values(indexes).reduce((sum, keys) => sum + indexWrites(before, after, keys), 0);
}

/** The indexes of the table hold only keys, so each entry is smaller than 1 KB. */
function indexWrites(
  before: AttributeMap | undefined,
  after: AttributeMap | undefined,
  keys: readonly [string, string],
): number {
  const [old, now] = [entryOf(before, keys), entryOf(after, keys)];
  if (old === now) return 0;
  return (old === undefined ? 0 : 1) + (now === undefined ? 0 : 1);
}

function entryOf(item: AttributeMap | undefined, keys: readonly [string, string]): string | undefined {
  const values = keys.map((key) => item?.[key]);
  return values.every((value) => value !== undefined) ? JSON.stringify(values) : undefined;
}

function readUnits(items: readonly (AttributeMap | undefined)[], isConsistent: boolean): number {
  return items.reduce(
    (sum, item) => sum + Math.max(1, Math.ceil(itemBytes(item) / 4096)) * (isConsistent ? 1 : 0.5),
    0,
  );
}

/** The sums of one function over all of its invocations. */
export interface FunctionCount {
  invocations: number;
  /** CPU time. */
  cpuMillis: number;
  readUnits: number;
  writeUnits: number;
  /** By how many bytes the items of the table have grown that no time removes. */
  storedBytes: number;
  /** The number of calls by service and operation, such as "dynamodb BatchGetItem". */
  readonly calls: Map<string, number>;
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
  const functions = new Map<string, FunctionCount>();
  const indexes = indexesOf(machine);
  let isStopped = false;
  const countOf = (name: string): FunctionCount => {
    const count = functions.get(name) ?? emptyCount();
    functions.set(name, count);
    return count;
  };
  machine.watchAws(async (call, serve) => {
    const name = nameOf(call.caller);
    if (name === undefined || isLeftOut(call)) return serve();
    const count = countOf(name);
    const label = `${call.service} ${call.operation}`;
    count.calls.set(label, (count.calls.get(label) ?? 0) + 1);
    if (call.service !== 'dynamodb') return serve();
    const { output, units, storedBytes } = await serveAndMeasure(machine, indexes, call, serve);
    count.writeUnits += units;
    count.storedBytes += storedBytes;
    count.readUnits += readsOf(call, output);
    return output;
  });
  return {
    /** The counts by the function's name. */
    functions,
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
      machine.watchAws((_call, serve) => serve());
    },
  };
}

export type Meter = ReturnType<typeof createMeter>;

function emptyCount(): FunctionCount {
  return {
    invocations: 0,
    cpuMillis: 0,
    readUnits: 0,
    writeUnits: 0,
    storedBytes: 0,
    calls: new Map<string, number>(),
  };
}

/** Reads the items of a writing call before and after it, since the units depend on both sizes. */
async function serveAndMeasure(
  machine: OneMachine,
  indexes: Indexes,
  call: AwsCall,
  serve: () => Promise<AwsOutput>,
): Promise<{ output: AwsOutput; units: number; storedBytes: number }> {
  const places = writesOf(call);
  const readAll = (): Promise<(AttributeMap | undefined)[]> =>
    Promise.all(places.map((place) => readItem(machine, place)));
  const before = await readAll();
  const output = await serve();
  const after = await readAll();
  const isTransaction = call.operation === 'TransactWriteItems';
  const units = places.map((_place, index) =>
    writeUnits({ before: before[index], after: after[index] }, indexes, isTransaction),
  );
  const grown = places.map((_place, index) => keptBytes(after[index]) - keptBytes(before[index]));
  return { output, units: sumOf(units), storedBytes: sumOf(grown) };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

/** DynamoDB bills 100 bytes more for each stored item. An item with a time to live disappears. */
function keptBytes(item: AttributeMap | undefined): number {
  return item === undefined || ttlAttribute in item ? 0 : itemBytes(item) + 100;
}

async function readItem(machine: OneMachine, { table, key }: Place): Promise<AttributeMap | undefined> {
  const { Item: item } = await machine.aws({
    service: 'dynamodb',
    operation: 'GetItem',
    caller: 'operator',
    input: { TableName: table, Key: key, ConsistentRead: true },
  });
  return itemOf(item);
}

const indexesSchema = z
  .array(z.object({ IndexName: z.string(), KeySchema: z.array(z.object({ AttributeName: z.string() })) }))
  .default([]);

/** CreateTable names the keys of an index in the order partition key, sort key. */
function indexesOf({ template }: OneMachine): Indexes {
  const created = template.tables.flatMap(({ create }) =>
    indexesSchema.parse(create['GlobalSecondaryIndexes']),
  );
  return Object.fromEntries(
    created.map(({ IndexName: name, KeySchema: [partition, sort] }) => [
      name,
      [partition?.AttributeName ?? '', sort?.AttributeName ?? ''] as const,
    ]),
  );
}

interface Place {
  readonly table: unknown;
  readonly key: unknown;
}

const writeSchema = z.object({
  TableName: z.string(),
  Key: z.unknown().optional(),
  Item: z.record(z.string(), z.unknown()).optional(),
});
const transactionSchema = z.array(z.record(z.string(), writeSchema));
const batchSchema = z.record(
  z.string(),
  z.object({ Keys: z.array(z.unknown()), ConsistentRead: z.boolean().optional() }),
);
const responsesSchema = z.record(z.string(), z.unknown()).default({});

/** The items that a call writes. */
function writesOf({ operation, input }: AwsCall): Place[] {
  if (operation === 'TransactWriteItems')
    return transactionSchema
      .parse(input['TransactItems'])
      .flatMap((item) => Object.values(item).map(placeOf));
  return ['PutItem', 'UpdateItem', 'DeleteItem'].includes(operation)
    ? [placeOf(writeSchema.parse(input))]
    : [];
}

function placeOf({ TableName: table, Key: key, Item: item }: z.infer<typeof writeSchema>): Place {
  return { table, key: key ?? { pk: item?.['pk'], sk: item?.['sk'] } };
}

function readsOf({ operation, input }: AwsCall, output: AwsOutput): number {
  const isConsistent = input['ConsistentRead'] === true;
  if (operation === 'GetItem') return readUnits([itemOf(output['Item'])], isConsistent);
  if (operation === 'Query') return Math.max(0.5, readUnits([mergedOf(output['Items'])], isConsistent));
  return operation === 'BatchGetItem' ? readsOfBatch(input['RequestItems'], output['Responses']) : 0;
}

/** DynamoDB charges for a key without an item as for a small item. */
function readsOfBatch(requested: unknown, answered: unknown): number {
  const responses = responsesSchema.parse(answered);
  return Object.entries(batchSchema.parse(requested)).reduce(
    (sum, [table, { Keys: keys, ConsistentRead }]) => {
      const found = itemsOf(responses[table]);
      const absent = Array.from({ length: keys.length - found.length }, () => undefined);
      return sum + readUnits([...found, ...absent], ConsistentRead === true);
    },
    0,
  );
}

/** DynamoDB charges for the sum of all items of a query. */
function mergedOf(items: unknown): AttributeMap {
  return { items: { L: itemsOf(items).map((item) => ({ M: item })) } };
}
