/** The product's table on the table engine, and what the invariants read of it. */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import { type CommittedChange, createTableEngine, type TableEngine } from '../../../local/dynamodb/engine.ts';
import { createNoStorage } from '../../../local/dynamodb/storage.ts';
import { listingIndex, openWorkIndex, ttlAttribute } from '../../../service/aws/dynamodb/table.ts';
import { asTableRequest, type Input } from './table-request.ts';

/** The name of the table in every world. */
export const tableName = 'table';

/** One item before and after a write. All changes of a transaction are reported together. */
export interface Change {
  readonly pk: string;
  readonly sk: string;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

export interface SimulatedTableOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onCommit?: (changes: readonly Change[]) => void;
  /** Whether reads of the past are possible. The default is true. */
  readonly remembers?: boolean;
  /** Of a table that is restored later: when the calling invocation began. Undefined: nobody's call, or no function's. */
  readonly callerSince?: () => number | undefined;
}

export interface SimulatedTable {
  /**
   * Performs an operation, or throws AwsError. It reads an index, and items without a consistent read, as they
   * were `lagMillis` ago. Items that were deleted since then stay absent.
   */
  readonly perform: (operation: string, input: Input, lagMillis?: number) => Record<string, unknown>;
  /** Begins a transaction. The returned function commits and answers, or throws AwsError. */
  readonly begin: (input: Input) => () => Record<string, unknown>;
  readonly get: (pk: string, sk: string) => Item | undefined;
  readonly all: () => Iterable<Item>;
  /** The rows of an index in the partitions whose names begin with `beginning`. */
  readonly indexed: (index: string, beginning: string) => Item[];
  /** Deletes the items past their time to live, except those that a transaction holds. Returns how many. */
  readonly expire: () => number;
  /**
   * Replaces this table by one with the items of `atMillis`. Invocations that have already begun go on with the old
   * table, which nobody sees any more. Returns the commits up to `atMillis`.
   */
  readonly restore: (atMillis: number) => (readonly Change[])[];
}

/** The largest lag of an index that a world draws. */
export const maxLagMillis = 20_000;

/** Creates the product's table, without items. */
export function createSimulatedTable({
  now,
  onCommit,
  remembers = true,
  callerSince,
}: SimulatedTableOptions): SimulatedTable {
  let past = createPast(now);
  const commits: { readonly at: number; readonly changes: readonly Change[] }[] = [];
  let engine = open([]);
  let [earlier, restoredAt] = [engine, -Infinity];

  function open(items: Iterable<Item>): TableEngine {
    const opened = createTableEngine({
      now,
      storage: createNoStorage(),
      historyMillis: remembers ? maxLagMillis : 0,
      onCommit: (committed) => {
        if (opened !== engine) return;
        const changes = committed.map(asChange);
        if (remembers) past.note(changes);
        if (callerSince) commits.push({ at: now(), changes });
        onCommit?.(changes);
      },
    });
    opened.perform('CreateTable', tableDefinition(tableName));
    opened.perform('UpdateTimeToLive', {
      TableName: tableName,
      TimeToLiveSpecification: { AttributeName: ttlAttribute, Enabled: true },
    });
    for (const item of items) opened.perform('PutItem', { TableName: tableName, Item: item });
    return opened;
  }

  const ofCaller = (): TableEngine => ((callerSince?.() ?? now()) < restoredAt ? earlier : engine);
  return {
    perform: (operation, input, lagMillis = 0) => {
      const table = ofCaller();
      const atMillis = Math.max(now() - lagMillis, restoredAt);
      if (lagMillis === 0) return table.perform(operation, input);
      const answer = table.perform(operation, input, { atMillis });
      const isOfTable = asTableRequest(input).IndexName === undefined && input['ConsistentRead'] !== true;
      return isOfTable ? { ...answer, Items: past.asOf(atMillis, answer['Items'] as Item[]) } : answer;
    },
    begin: (input) => ofCaller().begin(input),
    get: (pk, sk) => engine.get(tableName, { pk: { S: pk }, sk: { S: sk } }),
    all: () => engine.all(tableName),
    indexed: (index, beginning) => engine.indexed(tableName, index, beginning),
    expire: () => engine.expire(),
    restore: (atMillis) => {
      const until = commits.filter(({ at }) => at <= atMillis).map(({ changes }) => changes);
      const items = new Map<string, Item>();
      for (const { pk, sk, after } of until.flat()) {
        items.delete(`${pk} ${sk}`);
        if (after) items.set(`${pk} ${sk}`, after);
      }
      [earlier, restoredAt, past] = [engine, now(), createPast(now)];
      engine = open(items.values());
      return until;
    },
  };
}

function asChange({ key, before, after }: CommittedChange): Change {
  return { pk: key['pk']?.S ?? '', sk: key['sk']?.S ?? '', before, after };
}

interface Past {
  readonly note: (changes: readonly Change[]) => void;
  /** The items as they were, without those that did not exist. */
  readonly asOf: (atMillis: number, items: readonly Item[]) => Item[];
}

/** What items were before each change of the last seconds. */
function createPast(now: () => number): Past {
  const changesOf = new Map<string, { readonly at: number; readonly before: Item | undefined }[]>();
  const keyOf = (pk = '', sk = ''): string => `${pk} ${sk}`;
  return {
    note: (changes) => {
      const at = now();
      for (const { pk, sk, before } of changes) {
        const kept = (changesOf.get(keyOf(pk, sk)) ?? []).filter((one) => one.at > at - maxLagMillis);
        changesOf.set(keyOf(pk, sk), [...kept, { at, before }]);
      }
    },
    asOf: (atMillis, items) =>
      items.flatMap((item) => {
        const since = changesOf.get(keyOf(item['pk']?.S, item['sk']?.S))?.find(({ at }) => at > atMillis);
        const then = since ? since.before : item;
        return then ? [then] : [];
      }),
  };
}

const key = (
  AttributeName: string,
  KeyType: 'HASH' | 'RANGE',
): { AttributeName: string; KeyType: 'HASH' | 'RANGE' } => ({ AttributeName, KeyType });
const type = (
  AttributeName: string,
  AttributeType: 'S' | 'N',
): { AttributeName: string; AttributeType: 'S' | 'N' } => ({ AttributeName, AttributeType });

/** The input of CreateTable for the service's table, from the declaration in lib/. */
export function tableDefinition(TableName: string) {
  const index = ({ name, partition, sort }: typeof openWorkIndex | typeof listingIndex) => ({
    IndexName: name,
    KeySchema: [key(partition, 'HASH'), key(sort, 'RANGE')],
    Projection: { ProjectionType: 'KEYS_ONLY' as const },
  });
  return {
    TableName,
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: [
      type('pk', 'S'),
      type('sk', 'S'),
      type('openShard', 'S'),
      type('dueAt', 'N'),
      type('listing', 'S'),
      type('listed', 'S'),
    ],
    KeySchema: [key('pk', 'HASH'), key('sk', 'RANGE')],
    GlobalSecondaryIndexes: [index(openWorkIndex), index(listingIndex)],
  };
}
