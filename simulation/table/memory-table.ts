/**
 * DynamoDB for the simulation: one table in memory. It is synchronous, so that the seed alone decides what
 * happens when. It knows exactly the operations that the adapters use. memory-table.test.ts compares it with
 * the local stand-in of DynamoDB, call for call.
 */
import { createHash } from 'node:crypto';
import type { Item } from './attributes.ts';
import { cancelled, Refused } from './aws-refusal.ts';
import { condition } from './condition-expressions.ts';
import { invalid, keyOf, pickOf, placeOf, projected, scopeOf, updated } from './items.ts';
import { bySort, createMemoryIndexes, type Change, type IndexName } from './memory-indexes.ts';
import { pageOf, stringsOf } from './query-page.ts';
import { createTableHolds, mismatch, type Flight } from './table-holds.ts';
import { asTableRequest, type Input, type ItemRequest, type TableRequest } from './table-request.ts';
import { update } from './update-expressions.ts';

export type { Input } from './table-request.ts';

export interface MemoryTableOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onCommit?: (changes: readonly Change[]) => void;
}

export interface MemoryTable {
  /** Performs an operation, or throws Refused. It reads an index as the index was `lagMillis` ago. */
  readonly perform: (operation: string, input: Input, lagMillis?: number) => Record<string, unknown>;
  /**
   * Accepts a TransactWriteItems, which holds its items until the returned function ends it. That function
   * commits and answers, or throws Refused when a condition fails. Until then reads see the items as they
   * were. `begin` itself throws Refused when another transaction holds an item, or when the same transaction
   * is already in flight.
   */
  readonly begin: (input: Input) => () => Record<string, unknown>;
  readonly get: (pk: string, sk: string) => Item | undefined;
  readonly all: () => Iterable<Item>;
  /** The rows of an index in the partitions whose names begin with `beginning`. */
  readonly indexed: (index: IndexName, beginning: string) => Item[];
  /** Deletes the items past their time to live, except those that a transaction holds. Returns how many. */
  readonly expire: () => number;
}

/** DynamoDB keeps the token of a transaction for ten minutes. */
const tokenMillis = 600_000;
const refusedCondition = 'The conditional request failed';

/** Creates an empty table with the indexes of adapters/dynamodb/table.ts. */
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

  /**
   * The change that a write makes. Throws Refused when its condition fails or the item does not allow the
   * update.
   */
  function planned(kind: string, input: ItemRequest): Change {
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
    const { TransactItems: wanted = [], ClientRequestToken: text } = asTableRequest(input);
    const fingerprint = createHash('sha1').update(JSON.stringify(wanted)).digest('hex');
    const known = text === undefined ? undefined : tokens.get(text);
    if (known && known.at > now() - tokenMillis) {
      if (known.fingerprint === fingerprint) return () => ({});
      throw mismatch();
    }
    const steps = wanted.flatMap((item) =>
      Object.entries(item).flatMap(([kind, step]): [string, ItemRequest][] => (step ? [[kind, step]] : [])),
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

  /** Commits all steps, or throws Refused with one reason for each step. */
  function endFlight(flight: Flight, steps: readonly [string, ItemRequest][]): void {
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

  function write(kind: 'Put' | 'Update' | 'Delete', input: ItemRequest): Record<string, unknown> {
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

  function query(request: TableRequest, lagMillis: number): Record<string, unknown> {
    const found =
      request.IndexName === undefined
        ? partitionOf(request)
        : indexes.partition(request.IndexName, stringsOf(request), now() - lagMillis);
    return pageOf(request, found);
  }

  function partitionOf(request: TableRequest): Item[] {
    const pk = stringsOf(request).find((text) => items.has(text));
    return [...(items.get(pk ?? '')?.values() ?? [])].sort((a, b) => bySort(a['sk'], b['sk']));
  }

  function getItem(request: TableRequest): Record<string, unknown> {
    const { pk, sk } = keyOf(request.Key);
    const item = get(pk, sk);
    return item ? { Item: projected(request, item) } : {};
  }

  function batchGetItem({ RequestItems: wanted = {} }: TableRequest): Record<string, unknown> {
    const [[name, request] = ['', { Keys: [] }]] = Object.entries(wanted);
    return {
      Responses: { [name]: request.Keys.flatMap((key) => get(keyOf(key).pk, keyOf(key).sk) ?? []) },
      UnprocessedKeys: {},
    };
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
      const request = asTableRequest(input);
      switch (operation) {
        case 'GetItem':
          return getItem(request);
        case 'BatchGetItem':
          return batchGetItem(request);
        case 'PutItem':
          return write('Put', request);
        case 'UpdateItem':
          return write('Update', request);
        case 'DeleteItem':
          return write('Delete', request);
        case 'Query':
          return query(request, lagMillis);
        case 'TransactWriteItems':
          return begin(input)();
      }
      throw new Error(`the simulation's table has no ${operation}`);
    },
  };
}
