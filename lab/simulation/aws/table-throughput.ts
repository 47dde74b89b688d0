/**
 * How much DynamoDB does a second: for one partition key, the whole table, and each index. It refuses a call when a
 * bucket is empty. A throttled index refuses the writes of the table that would change this index.
 */
import { AwsError } from '../../../local/aws/aws-error.ts';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import { transactionCanceled } from '../../../local/dynamodb/refusals.ts';
import { sizeOfItem } from '../../../local/dynamodb/values.ts';
import { listingIndex, openWorkIndex } from '../../../service/aws/dynamodb/table.ts';
import { type AwsQuotas, dynamodbLimits } from './quotas.ts';
import { Ongoing } from '../world/effects.ts';
import type { Change } from './simulated-table.ts';
import { asTableRequest, type Input, type ItemRequest } from './table-request.ts';
import { createGrowing, createPartitions } from './token-bucket.ts';

export interface TableThroughput {
  /** Performs a call, or refuses it. */
  readonly serve: (
    operation: string,
    input: Input,
    perform: () => object | Ongoing<object>,
  ) => object | Ongoing<object>;
  /** Runs work that costs nothing, as deletions by the time to live. */
  readonly free: (work: () => void) => void;
  /** Counts what a commit has written. */
  readonly onCommit: (changes: readonly Change[]) => void;
  readonly used: () => { readonly writeUnits: number; readonly readUnits: number };
}

const indexes = [openWorkIndex, listingIndex] as const;
type Index = (typeof indexes)[number];

const writeUnitBytes = 1_024;
const readUnitBytes = 4_096;

/** @param onRefused receives what refused a call */
export function createTableThroughput(
  now: () => number,
  quotas: AwsQuotas,
  get: (pk: string, sk: string) => Item | undefined,
  onRefused: (limit: string) => void,
): TableThroughput {
  const { partition } = dynamodbLimits;
  const writes = createPartitions(now, partition.writeUnits);
  const reads = createPartitions(now, partition.readUnits);
  const whole = {
    writes: createGrowing(now, quotas.warm.writeUnits, quotas.table.writeUnits),
    reads: createGrowing(now, quotas.warm.readUnits, quotas.table.readUnits),
    indexes: new Map(
      indexes.map((index) => [index, createGrowing(now, quotas.warm.writeUnits, quotas.table.writeUnits)]),
    ),
  };
  const total = { writeUnits: 0, readUnits: 0 };
  let factor = 1;
  let isFree = false;

  /** The limit that refuses this write. */
  function stopOfWrite(write: ItemRequest): string | undefined {
    const key = write.Key ?? write.Item ?? {};
    const pk = key['pk']?.S ?? '';
    if (!writes.hasSome(pk)) return `writes of the partition ${kindOf(pk)}`;
    for (const index of indexes) {
      if (!mentions(write, index)) continue;
      if (whole.indexes.get(index)?.hasSome() === false) return `writes of the index ${index.name}`;
      for (const value of partitionsOf(write, index, () => get(pk, key['sk']?.S ?? '')))
        if (!writes.hasSome(`${index.name} ${value}`))
          return `writes of the index ${index.name}, ${kindOf(value)}`;
    }
    return undefined;
  }

  function refuse(limit: string): AwsError {
    onRefused(limit);
    return new AwsError('ProvisionedThroughputExceededException', limit);
  }

  function requireWrites(input: Input): void {
    if (!whole.writes.hasSome()) {
      onRefused('writes of the table');
      throw new AwsError('ThrottlingException', 'writes of the table');
    }
    const { TransactItems } = asTableRequest(input);
    if (!TransactItems) {
      const stop = stopOfWrite(input);
      if (stop !== undefined) throw refuse(stop);
      return;
    }
    const stops = TransactItems.map((step) => Object.values(step).map((one) => one && stopOfWrite(one))[0]);
    const first = stops.find((stop) => stop !== undefined);
    if (first === undefined) return;
    onRefused(first);
    throw transactionCanceled(
      stops.map((stop) =>
        stop === undefined ? { Code: 'None' } : { Code: 'ProvisionedThroughputExceeded', Message: stop },
      ),
    );
  }

  function spendWrite(pk: string, units: number): void {
    writes.spend(pk, units);
    whole.writes.spend(units);
    total.writeUnits += units;
  }

  function spendRead(pk: string, units: number): void {
    reads.spend(pk, units);
    whole.reads.spend(units);
    total.readUnits += units;
  }

  /** A write whose condition failed, or that met a conflict, costs as well. */
  function spendRefused(input: Input): void {
    const { TransactItems } = asTableRequest(input);
    const all: readonly (ItemRequest | undefined)[] = TransactItems?.flatMap((step) =>
      Object.values(step),
    ) ?? [asTableRequest(input)];
    for (const one of all) {
      const key = one?.Key ?? one?.Item;
      spendWrite(key?.['pk']?.S ?? '', TransactItems ? dynamodbLimits.transactionFactor : 1);
    }
  }

  function write(
    input: Input,
    inTransaction: boolean,
    perform: () => object | Ongoing<object>,
  ): object | Ongoing<object> {
    factor = inTransaction ? dynamodbLimits.transactionFactor : 1;
    try {
      const answer = perform();
      if (!(answer instanceof Ongoing)) return answer;
      return new Ongoing(() => write(input, inTransaction, answer.finish));
    } catch (error) {
      if (error instanceof AwsError) spendRefused(input);
      throw error;
    } finally {
      factor = 1;
    }
  }

  function batchGet(input: Input, perform: () => object): object {
    const requests = Object.entries(asTableRequest(input).RequestItems ?? {});
    const empty = requests.flatMap(([, { Keys }]) =>
      Keys.flatMap((key) => (reads.hasSome(key['pk']?.S ?? '') ? [] : [key['pk']?.S ?? ''])),
    );
    // The adapters ask again for what stays unprocessed. Here the whole batch does, which is a little more.
    if (empty.length > 0) throw refuse(`reads of the partition ${kindOf(empty[0] ?? '')}`);
    for (const [, { Keys }] of requests) for (const key of Keys) spendRead(key['pk']?.S ?? '', 1);
    const answer = perform() as { readonly Responses?: Readonly<Record<string, readonly Item[]>> };
    for (const items of Object.values(answer.Responses ?? {}))
      for (const item of items) {
        const more = unitsOf(item, readUnitBytes) - 1;
        if (more > 0) spendRead(item['pk']?.S ?? '', more);
      }
    return answer;
  }

  function query(input: Input, perform: () => object): object {
    const { ExpressionAttributeValues = {}, IndexName } = asTableRequest(input);
    const hash = Object.values(ExpressionAttributeValues)[0]?.S ?? '';
    const place = IndexName === undefined ? hash : `${IndexName} ${hash}`;
    if (!reads.hasSome(place)) throw refuse(`reads of the partition ${kindOf(hash)}`);
    const answer = perform() as { readonly Items?: readonly Item[] };
    const bytes = (answer.Items ?? []).reduce((sum, item) => sum + sizeOfItem(item), 0);
    spendRead(place, Math.max(1, Math.ceil(bytes / readUnitBytes)) * (IndexName === undefined ? 1 : 0.5));
    return answer;
  }

  return {
    used: () => total,
    free: (work) => {
      isFree = true;
      work();
      isFree = false;
    },
    serve: (operation, input, perform) => {
      switch (operation) {
        case 'PutItem':
        case 'UpdateItem':
        case 'DeleteItem':
          requireWrites(input);
          return write(input, false, perform);
        case 'TransactWriteItems':
          requireWrites(input);
          return write(input, true, perform);
        default:
      }
      if (!whole.reads.hasSome()) throw refuse('reads of the table');
      if (operation === 'BatchGetItem') return batchGet(input, perform);
      if (operation === 'Query') return query(input, perform);
      if (operation === 'GetItem') {
        const { Key: key = {} } = asTableRequest(input);
        const pk = key['pk']?.S ?? '';
        if (!reads.hasSome(pk)) throw refuse(`reads of the partition ${kindOf(pk)}`);
        spendRead(pk, unitsOf(get(pk, key['sk']?.S ?? ''), readUnitBytes));
      }
      return perform();
    },
    onCommit: (changes) => {
      if (isFree) return;
      for (const { pk, before, after } of changes) {
        const units = Math.max(unitsOf(before, writeUnitBytes), unitsOf(after, writeUnitBytes));
        spendWrite(pk, units * factor);
        for (const index of indexes) {
          const [old, next] = [entryOf(before, index), entryOf(after, index)];
          if (old === next) continue;
          for (const entry of [old, next]) {
            if (entry === undefined) continue;
            writes.spend(`${index.name} ${entry.slice(0, entry.indexOf(' '))}`, 1);
            whole.indexes.get(index)?.spend(1);
            total.writeUnits += 1;
          }
        }
      }
    },
  };
}

/** What an item costs, at least one unit. */
function unitsOf(item: Item | undefined, unitBytes: number): number {
  return item === undefined ? 1 : Math.max(1, Math.ceil(sizeOnce(item) / unitBytes));
}

/** Items are immutable, and each is measured several times. */
const sizes = new WeakMap<Item, number>();

function sizeOnce(item: Item): number {
  const known = sizes.get(item);
  if (known !== undefined) return known;
  const size = sizeOfItem(item);
  sizes.set(item, size);
  return size;
}

/** The entry of an item in an index. The indexes hold keys only. */
function entryOf(item: Item | undefined, { partition, sort }: Index): string | undefined {
  const [hash, range] = [item?.[partition], item?.[sort]];
  return hash === undefined || range === undefined
    ? undefined
    : `${hash.S ?? ''} ${range.S ?? range.N ?? ''}`;
}

function mentions({ Item, UpdateExpression, ExpressionAttributeNames }: ItemRequest, index: Index): boolean {
  if (Item) return Item[index.partition] !== undefined;
  if (UpdateExpression === undefined) return false;
  return [index.partition, index.sort].some(
    (name) => UpdateExpression.includes(name) || Object.values(ExpressionAttributeNames ?? {}).includes(name),
  );
}

/** The partitions of an index that a write changes: those of the item before, and those that it names. */
function partitionsOf(
  { Item: put, ExpressionAttributeValues = {} }: ItemRequest,
  index: Index,
  before: () => Item | undefined,
): readonly string[] {
  const own = (put ?? before())?.[index.partition]?.S;
  const named = Object.values(ExpressionAttributeValues).flatMap(({ S }) =>
    S !== undefined && /^(OPEN|WEBHOOK)#\d$/.test(S) ? [S] : [],
  );
  return [...(own === undefined ? [] : [own]), ...named];
}

/** The kind of a partition: its name up to the id, such as ACCOUNT. */
function kindOf(pk: string): string {
  return pk.split('#')[0] ?? '';
}
