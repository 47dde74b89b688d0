/** Counts what the functions ask of AWS while the service works: calls, and the units of the table. */
import type { AwsCall, AwsOutput } from '../../local/aws/aws-call.ts';
import type { OneMachine } from '../../local/one-machine.ts';
import type { AttributeMap } from './item-size.ts';
import { readUnits, writeUnits, type Indexes } from './units.ts';

/** What one function did, over all of its invocations. */
export interface FunctionCount {
  invocations: number;
  /** Of the processor, over all invocations. */
  cpuMillis: number;
  readUnits: number;
  writeUnits: number;
  /** Calls by service and operation: "dynamodb BatchGetItem". */
  readonly calls: Map<string, number>;
}

export interface Meter {
  /** By the function's name. */
  readonly functions: ReadonlyMap<string, FunctionCount>;
  /** An invocation that ended. */
  noteInvocation(functionId: string, cpuMillis: number): void;
  /** From now on nothing more is counted. */
  stop(): void;
}

/** `nameOf` gives a function's name for its id or that of its role; undefined: it is not counted. */
export function createMeter(machine: OneMachine, nameOf: (roleId: string) => string | undefined): Meter {
  const functions = new Map<string, FunctionCount>();
  const indexes = indexesOf(machine);
  let isStopped = false;
  const countOf = (name: string): FunctionCount => {
    const count = functions.get(name) ?? {
      invocations: 0,
      cpuMillis: 0,
      readUnits: 0,
      writeUnits: 0,
      calls: new Map<string, number>(),
    };
    functions.set(name, count);
    return count;
  };
  const read = async (tableName: unknown, key: unknown): Promise<AttributeMap | undefined> => {
    const { Item: item } = await machine.aws({
      service: 'dynamodb',
      operation: 'GetItem',
      caller: 'operator',
      input: { TableName: tableName, Key: key, ConsistentRead: true },
    });
    return item as AttributeMap | undefined;
  };
  const touching = async (
    call: AwsCall,
    serve: () => Promise<AwsOutput>,
  ): Promise<{ output: AwsOutput; units: number }> => {
    const places = writesOf(call);
    const before = await Promise.all(places.map(({ table: name, key }) => read(name, key)));
    const output = await serve();
    const after = await Promise.all(places.map(({ table: name, key }) => read(name, key)));
    const units = places.map((_place, index) =>
      writeUnits(
        { before: before[index], after: after[index] },
        indexes,
        call.operation === 'TransactWriteItems',
      ),
    );
    return { output, units: units.reduce((sum, one) => sum + one, 0) };
  };
  machine.watchAws(async (call, serve) => {
    const name = nameOf(call.caller);
    if (name === undefined) return serve();
    const count = countOf(name);
    const label = `${call.service} ${call.operation}`;
    count.calls.set(label, (count.calls.get(label) ?? 0) + 1);
    if (call.service !== 'dynamodb') return serve();
    const { output, units } = await touching(call, serve);
    count.writeUnits += units;
    count.readUnits += readsOf(call, output);
    return output;
  });
  return {
    functions,
    noteInvocation: (functionId, cpuMillis) => {
      const name = nameOf(functionId);
      if (name === undefined || isStopped) return;
      const count = countOf(name);
      count.invocations += 1;
      count.cpuMillis += cpuMillis;
    },
    stop: () => {
      isStopped = true;
      machine.watchAws((_call, serve) => serve());
    },
  };
}

/** As CreateTable has them, partition key first. */
function indexesOf({ template }: OneMachine): Indexes {
  const created = template.tables.flatMap(
    ({ create }) =>
      (create['GlobalSecondaryIndexes'] ?? []) as readonly {
        readonly IndexName: string;
        readonly KeySchema: readonly { readonly AttributeName: string }[];
      }[],
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

type Write = Readonly<Record<string, unknown>> & { readonly Key?: unknown; readonly Item?: AttributeMap };

/** The items that a call writes. */
function writesOf({ operation, input }: AwsCall): Place[] {
  if (operation === 'TransactWriteItems') {
    return (input['TransactItems'] as readonly Readonly<Record<string, Write>>[]).flatMap((item) =>
      Object.values(item).map(placeOf),
    );
  }
  return ['PutItem', 'UpdateItem', 'DeleteItem'].includes(operation) ? [placeOf(input)] : [];
}

function placeOf({ TableName: table, Key: key, Item: item }: Write): Place {
  return { table, key: key ?? { pk: item?.['pk'], sk: item?.['sk'] } };
}

function readsOf({ operation, input }: AwsCall, output: AwsOutput): number {
  if (operation === 'GetItem')
    return readUnits([output['Item'] as AttributeMap | undefined], input['ConsistentRead'] === true);
  if (operation === 'Query')
    return Math.max(0.5, readUnits([mergedOf(output['Items'])], input['ConsistentRead'] === true));
  if (operation !== 'BatchGetItem') return 0;
  // An item that is not there is charged as one.
  return Object.entries(
    input['RequestItems'] as Readonly<
      Record<string, { readonly Keys: readonly unknown[]; readonly ConsistentRead?: boolean }>
    >,
  ).reduce((sum, [name, { Keys: keys, ConsistentRead: isConsistent }]) => {
    const found = (output['Responses'] as Readonly<Record<string, readonly AttributeMap[]>>)[name] ?? [];
    const absent = Array.from({ length: keys.length - found.length }, () => undefined);
    return sum + readUnits([...found, ...absent], isConsistent === true);
  }, 0);
}

/** A query is charged for all of its items together. */
function mergedOf(items: unknown): AttributeMap {
  return { items: { L: ((items ?? []) as readonly AttributeMap[]).map((item) => ({ M: item })) } };
}
