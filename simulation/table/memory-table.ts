/**
 * DynamoDB for the simulation: one table in memory, synchronous, so that a seed alone
 * decides what happens when. It knows exactly the operations that the adapters use, and
 * memory-table.test.ts holds it against the dynalite stand-in, call for call.
 */
import { createHash } from 'node:crypto';
import { bySort, createMemoryIndexes, indexKeys, type Change, type IndexName } from './memory-indexes.ts';
import {
  assign,
  condition,
  InvalidUpdate,
  projection,
  update,
  type Attribute,
  type Item,
  type Scope,
} from './expressions.ts';
import { cancelled, Refused } from './aws-refusal.ts';
import { createTableHolds, mismatch, type Flight } from './table-holds.ts';

export interface MemoryTableOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onCommit?: (changes: readonly Change[]) => void;
}

export interface MemoryTable {
  /** Answers or throws Refused; an index is read as it was `lagMillis` ago. */
  readonly perform: (operation: string, input: Input, lagMillis?: number) => Record<string, unknown>;
  /**
   * The arrival of a TransactWriteItems: its items are held until the returned function ends the transaction.
   * That function commits and answers, or throws Refused when a condition fails. A read between the two sees
   * the items as they were. Throws Refused when an item is held, or the transaction is in flight already.
   */
  readonly begin: (input: Input) => () => Record<string, unknown>;
  readonly get: (pk: string, sk: string) => Item | undefined;
  readonly all: () => Iterable<Item>;
  /** Whether an index holds anything in a partition that begins so. */
  readonly indexed: (index: string, beginning: string) => Item[];
  /** Deletes what is past its time to live; an item that a transaction holds is left for the next time. */
  readonly expire: () => number;
}

export type Input = Readonly<Record<string, unknown>>;

interface Expressions {
  readonly Key?: Item;
  readonly Item?: Item;
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly ProjectionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, Attribute>>;
  readonly ReturnValues?: string;
  readonly ReturnValuesOnConditionCheckFailure?: string;
}

const tokenMillis = 600_000;
const refusedCondition = 'The conditional request failed';

/** An empty table with the indexes of adapters/dynamodb/table.ts. */
export function createMemoryTable({ now, onCommit }: MemoryTableOptions): MemoryTable {
  const items = new Map<string, Map<string, Item>>();
  const indexes = createMemoryIndexes(now);
  const tokens = new Map<string, { readonly fingerprint: string; readonly at: number }>();
  const holds = createTableHolds();

  const get = (pk: string, sk: string): Item | undefined => items.get(pk)?.get(sk);

  function commit(changes: readonly Change[]): void {
    for (const change of changes) {
      const { pk, sk, after } = change;
      let partition = items.get(pk);
      if (!partition) items.set(pk, (partition = new Map<string, Item>()));
      if (after) partition.set(sk, after);
      else partition.delete(sk);
      indexes.follow(change);
    }
    onCommit?.(changes);
  }

  /** What a write would change. Throws Refused where its condition fails or the item does not allow it. */
  function planned(kind: string, input: Expressions): Change {
    const { pk, sk } = keyOf(input.Key ?? input.Item);
    const before = get(pk, sk);
    const scope = scopeOf(input, before ?? {});
    if (input.ConditionExpression !== undefined && !condition(input.ConditionExpression)(scope)) {
      const isWanted = input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && before !== undefined;
      throw new Refused(
        'ConditionalCheckFailedException',
        refusedCondition,
        isWanted ? { Item: before } : {},
      );
    }
    switch (kind) {
      case 'Put':
        return { pk, sk, before, after: input.Item };
      case 'Update':
        return { pk, sk, before, after: updated(input, scope, before ?? input.Key ?? {}) };
      case 'ConditionCheck':
        return { pk, sk, before, after: before };
      case 'Delete':
        return { pk, sk, before, after: undefined };
    }
    throw new Error(`the simulation's table has no ${kind}`);
  }

  function begin(input: Input): () => Record<string, unknown> {
    const wanted = input['TransactItems'] as readonly Readonly<Record<string, Expressions | undefined>>[];
    const text = input['ClientRequestToken'] as string | undefined;
    const fingerprint = createHash('sha1').update(JSON.stringify(wanted)).digest('hex');
    const known = text === undefined ? undefined : tokens.get(text);
    if (known && known.at > now() - tokenMillis) {
      if (known.fingerprint === fingerprint) return () => ({});
      throw mismatch();
    }
    const steps = wanted.map(
      (item) => Object.entries(item).find(([, value]) => value !== undefined) as [string, Expressions],
    );
    const places = steps.map(([, step]) => placeOf(keyOf(step.Key ?? step.Item)));
    if (new Set(places).size < places.length)
      throw invalid('Transaction request cannot include multiple operations on one item');
    const flight = holds.take(places, text === undefined ? undefined : { text, fingerprint });
    return () => {
      endFlight(flight, steps);
      if (text !== undefined) tokens.set(text, { fingerprint, at: now() });
      return {};
    };
  }

  /** Commits all steps, or throws Refused with a reason for each of them. */
  function endFlight(flight: Flight, steps: readonly [string, Expressions][]): void {
    flight.end();
    const changes: Change[] = [];
    const reasons = steps.map(([kind, step]) => {
      try {
        changes.push(planned(kind, step));
        return { Code: 'None' };
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        const code =
          error.code === 'ValidationException' ? 'ValidationError' : error.code.replace(/Exception$/, '');
        return { Code: code, Message: error.message, ...error.fields };
      }
    });
    if (reasons.some(({ Code }) => Code !== 'None')) throw cancelled(reasons);
    commit(changes);
  }

  function write(kind: 'Put' | 'Update' | 'Delete', input: Expressions): Record<string, unknown> {
    holds.checkSingleWrite(placeOf(keyOf(input.Key ?? input.Item)));
    const change = planned(kind, input);
    commit([change]);
    switch (input.ReturnValues) {
      case undefined:
      case 'NONE':
        return {};
      case 'ALL_NEW':
        return { Attributes: change.after };
      case 'ALL_OLD':
        return change.before ? { Attributes: change.before } : {};
      case 'UPDATED_NEW': {
        const scope = scopeOf(input, {});
        const names = update(input.UpdateExpression ?? '').map((one) => String(one.path(scope)[0]));
        return { Attributes: pickOf(change.after ?? {}, names) };
      }
    }
    throw new Error(`the simulation's table has no ReturnValues ${input.ReturnValues}`);
  }

  function query(input: Input, lagMillis: number): Record<string, unknown> {
    const options = input as unknown as QueryInput;
    const found =
      options.IndexName === undefined
        ? partitionOf(options)
        : indexes.partition(options.IndexName, stringsOf(options), now() - lagMillis);
    const matches = condition(options.KeyConditionExpression);
    const kept = found.filter((item) => matches(scopeOf(options, item)));
    if (options.ScanIndexForward === false) kept.reverse();
    const from = options.ExclusiveStartKey;
    const start = from
      ? kept.findIndex((item) => item['pk']?.S === from['pk']?.S && item['sk']?.S === from['sk']?.S) + 1
      : 0;
    const page = kept.slice(start, options.Limit === undefined ? undefined : start + options.Limit);
    const isMore = options.Limit !== undefined && page.length === options.Limit;
    const last = page.at(-1);
    const keyNames = ['pk', 'sk', ...(options.IndexName === undefined ? [] : indexKeys[options.IndexName])];
    return {
      Count: page.length,
      ScannedCount: page.length,
      ...(options.Select !== 'COUNT' && { Items: page }),
      ...(isMore && last && { LastEvaluatedKey: pickOf(last, keyNames) }),
    };
  }

  function partitionOf(options: QueryInput): Item[] {
    const pk = stringsOf(options).find((text) => items.has(text));
    return [...(items.get(pk ?? '')?.values() ?? [])].sort((a, b) => bySort(a['sk'], b['sk']));
  }

  return {
    get,
    all: function* () {
      for (const partition of items.values()) yield* partition.values();
    },
    indexed: indexes.beginning,
    begin,
    expire: () => {
      const over = [...items.values()]
        .flatMap((partition) => [...partition.values()])
        .filter((item) => {
          const seconds = item['expiresAtSeconds']?.N;
          return (
            seconds !== undefined && Number(seconds) * 1000 <= now() && !holds.isHeld(placeOf(keyOf(item)))
          );
        });
      commit(over.map((item) => ({ ...keyOf(item), before: item, after: undefined })));
      return over.length;
    },
    perform: (operation, input, lagMillis = 0) => {
      switch (operation) {
        case 'GetItem': {
          const { pk, sk } = keyOf(input['Key'] as Item);
          const item = get(pk, sk);
          return item ? { Item: projected(input, item) } : {};
        }
        case 'BatchGetItem': {
          const [[name, request] = ['', { Keys: [] }]] = Object.entries(
            input['RequestItems'] as Record<string, { Keys: Item[] }>,
          );
          return {
            Responses: { [name]: request.Keys.flatMap((key) => get(keyOf(key).pk, keyOf(key).sk) ?? []) },
            UnprocessedKeys: {},
          };
        }
        case 'PutItem':
          return write('Put', input);
        case 'UpdateItem':
          return write('Update', input);
        case 'DeleteItem':
          return write('Delete', input);
        case 'Query':
          return query(input, lagMillis);
        case 'TransactWriteItems':
          return begin(input)();
      }
      throw new Error(`the simulation's table has no ${operation}`);
    },
  };
}

interface QueryInput extends Expressions {
  readonly IndexName?: IndexName;
  readonly KeyConditionExpression: string;
  readonly ScanIndexForward?: boolean;
  readonly Limit?: number;
  readonly Select?: string;
  readonly ExclusiveStartKey?: Item;
}

function updated(input: Expressions, scope: Scope, start: Item): Item {
  try {
    let item = start;
    for (const { path, value } of update(input.UpdateExpression ?? ''))
      item = assign(item, path(scope), value(scope));
    return item;
  } catch (error) {
    throw error instanceof InvalidUpdate ? invalid(error.message) : error;
  }
}

function projected(input: Expressions, item: Item): Item {
  if (input.ProjectionExpression === undefined) return item;
  const scope = scopeOf(input, item);
  return pickOf(
    item,
    projection(input.ProjectionExpression).map((path) => String(path(scope)[0])),
  );
}

function pickOf(item: Item, names: readonly string[]): Item {
  return Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));
}

function scopeOf(input: Expressions, item: Item): Scope {
  return { item, names: input.ExpressionAttributeNames ?? {}, values: input.ExpressionAttributeValues ?? {} };
}

function keyOf(key: Item | undefined): { pk: string; sk: string } {
  const pk = key?.['pk']?.S;
  const sk = key?.['sk']?.S;
  if (pk === undefined || sk === undefined)
    throw invalid('The provided key element does not match the schema');
  return { pk, sk };
}

function placeOf(key: { readonly pk: string; readonly sk: string }): string {
  return JSON.stringify([key.pk, key.sk]);
}

/** Strings among the values: one of them is the partition that is asked for. */
function stringsOf({ ExpressionAttributeValues: values = {} }: QueryInput): string[] {
  return Object.values(values).flatMap(({ S }) => (S === undefined ? [] : [S]));
}

function invalid(message: string): Refused {
  return new Refused('ValidationException', message);
}
