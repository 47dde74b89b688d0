/** DynamoDB in memory. Everything is synchronous, so a simulation can decide what happens when. */
import { AwsError } from '../aws/aws-error.ts';
import type { Item } from './attributes.ts';
import { createCommittedTokens, createHolds } from './holds.ts';
import { batchGet, readBatchGet, readBatchWrite } from './operations/batches.ts';
import { type Output, query, scan } from './operations/queries.ts';
import {
  changeOf,
  projectionOf,
  readId,
  readWrite,
  returned,
  returnValuesOf,
} from './operations/single-items.ts';
import { describeTable, readTableDefinition, withTimeToLive } from './operations/tables.ts';
import { planOf, readGets, readSteps, tokenOf } from './operations/transactions.ts';
import { invalid, reasonOf, tableNotFound, transactionCanceled, transactionConflict } from './refusals.ts';
import { createPast } from './past.ts';
import type { StoredRecord, StoredToken, TableStorage } from './storage.ts';
import { type Change, createTable, idIn, keyOf, type Moment, type Stamp, type Table } from './table.ts';
import { type Input, numberOf, requireTableName, textOf } from './validation/values.ts';
import { memberOf } from './values.ts';

export type { Output } from './operations/queries.ts';
export type { Input } from './validation/values.ts';
export type { Moment } from './table.ts';

/** One item before and after a commit. An item that was only checked is the same in both. */
export interface CommittedChange {
  readonly table: string;
  readonly key: Item;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

export interface TableEngineOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly storage: TableStorage;
  /** Receives all changes of one commit together. */
  readonly onCommit?: (changes: readonly CommittedChange[]) => void;
  /** How far back an index can be read. The default is 0: only as it is now, or since it was pinned. */
  readonly historyMillis?: number;
  /** How far back a table can be restored. The default is 0: not at all. */
  readonly recoverMillis?: number;
}

export interface TableEngine {
  /** Gives the engine what the storage kept. Call this once, before anything else. */
  readonly load: () => Promise<void>;
  /** Creates the table, or builds its indexes anew when they differ. Throws when its key differs. */
  readonly ensureTable: (input: Input) => void;
  /** The tables, but for those that were restored. */
  readonly tableNames: () => string[];
  /** Performs an operation, or throws AwsError. Reads of an index see it as it was at `moment`. */
  readonly perform: (operation: string, input: Input, moment?: Moment) => Output;
  /** Accepts a TransactWriteItems, or throws AwsError. It holds its items until the returned function commits it. */
  readonly begin: (input: Input) => () => Output;
  /** Deletes the items past their time to live, except those that a transaction holds. Returns how many. */
  readonly expire: () => number;
  /** Keeps what is needed to read all indexes as they are now, until `unpin`. */
  readonly pin: () => { readonly moment: Moment; readonly unpin: () => void };
  readonly get: (table: string, key: Item) => Item | undefined;
  readonly all: (table: string) => Iterable<Item>;
  /** The rows of an index in the partitions whose names begin with `beginning`. */
  readonly indexed: (table: string, index: string, beginning: string) => Item[];
  /** Resolves once everything that was committed is kept for good. Undefined when it already is. */
  readonly settled: () => Promise<void> | undefined;
  readonly close: () => Promise<void>;
}

export function createTableEngine({
  now,
  storage,
  onCommit,
  historyMillis = 0,
  recoverMillis = 0,
}: TableEngineOptions): TableEngine {
  const tables = new Map<string, Table>();
  const holds = createHolds();
  const tokens = createCommittedTokens(now);
  const past = createPast(recoverMillis, now);
  const pinned = new Set<{ readonly commit: number }>();
  let commits = 0;

  /** The time from which on the past of an index may still be read. */
  function oldest(): Stamp | undefined {
    const commit =
      pinned.size > 0 ? Math.min(...[...pinned].map((one) => one.commit)) : Number.POSITIVE_INFINITY;
    if (historyMillis === 0) return pinned.size > 0 ? { millis: 0, commit } : undefined;
    return { millis: now() - historyMillis, commit: pinned.size > 0 ? commit : 0 };
  }

  function find(name: unknown): Table {
    const table = tables.get(requireTableName(typeof name === 'string' ? name : undefined));
    if (table === undefined) throw tableNotFound();
    return table;
  }

  /** Makes changes visible and hands them to the storage, all together. */
  function commit(changes: readonly Change[], token?: StoredToken): void {
    commits += 1;
    const stamp = { millis: now(), commit: commits };
    const stored = [];
    for (const { table, id, before, after } of changes) {
      if (before === after) continue;
      const { TableName } = table.definition;
      table.put(id, after, stamp);
      past.keep({ table, id, before, millis: stamp.millis });
      stored.push(
        after === undefined
          ? { table: TableName, delete: keyOf(table, before ?? {}) }
          : { table: TableName, put: after },
      );
    }
    if (token !== undefined) tokens.remember(token);
    if (stored.length > 0 || token !== undefined)
      storage.append({ kind: 'commit', changes: stored, ...(token !== undefined && { token }) });
    onCommit?.(
      changes.map(({ table, before, after }) => ({
        table: table.definition.TableName,
        key: keyOf(table, after ?? before ?? {}),
        before,
        after,
      })),
    );
  }

  function write(kind: 'Put' | 'Update' | 'Delete', input: Input): Output {
    const table = find(input['TableName']);
    const wanted = returnValuesOf(kind, input);
    const one = readWrite(kind, table, input);
    if (holds.isHeld(table, one.id)) throw transactionConflict();
    const change = changeOf(one);
    commit([change]);
    return returned(wanted, change, one);
  }

  function begin(input: Input): () => Output {
    const token = tokenOf(input);
    const steps = readSteps(input, find);
    if (token !== undefined && tokens.isReplay(token)) return () => ({});
    const release = holds.take(
      steps.map(({ write: one }) => one),
      token,
    );
    return () => {
      release();
      commit(planOf(steps), token && { ...token, atMillis: now() });
      return {};
    };
  }

  function getItem(input: Input): Output {
    const table = find(input['TableName']);
    const project = projectionOf(input, table);
    const item = table.get(readId(table, input['Key']));
    return item === undefined ? {} : { Item: project ? project(item) : item };
  }

  function transactGet(input: Input): Output {
    const gets = readGets(input, find);
    holds.check(gets);
    if (gets.some(({ refusal }) => refusal !== undefined))
      throw transactionCanceled(
        gets.map(({ refusal }) => (refusal === undefined ? { Code: 'None' } : reasonOf(refusal))),
      );
    return {
      Responses: gets.map(({ table, id, project }) => {
        const item = table.get(id);
        return item === undefined ? {} : { Item: project === undefined ? item : project(item) };
      }),
    };
  }

  function batchWrite(input: Input): Output {
    const writes = readBatchWrite(input, find);
    const unprocessed: Record<string, unknown[]> = {};
    for (const { name, request, write: one } of writes) {
      // Each write of a batch stands alone, and one that meets a conflict comes back.
      if (holds.isHeld(one.table, one.id)) (unprocessed[name] ??= []).push(request);
      else commit([changeOf(one)]);
    }
    return { UnprocessedItems: unprocessed };
  }

  function addTable(definition: Table['definition']): Table {
    const table = createTable(definition, oldest);
    tables.set(definition.TableName, table);
    return table;
  }

  function createTableFrom(input: Input): Output {
    const definition = readTableDefinition(input, now());
    const { TableName } = definition;
    if (tables.has(TableName))
      throw new AwsError('ResourceInUseException', `Table already exists: ${TableName}`);
    const table = addTable(definition);
    storage.append({ kind: 'table', table: definition });
    return { TableDescription: describeTable(table) };
  }

  /** The restored table has the items and indexes of that moment, and nothing else: no time to live, no protection. */
  function restoreTable(input: Input): Output {
    const { from, to, atMillis } = past.read(input);
    const source = tables.get(from);
    if (source === undefined) throw new AwsError('TableNotFoundException', `Table not found: ${from}`);
    if (tables.has(to)) throw new AwsError('TableAlreadyExistsException', `Table already exists: ${to}`);
    const { timeToLive: _timeToLive, ...shape } = source.definition;
    const definition = { ...shape, TableName: to, createdAtMillis: now(), restored: { from, atMillis } };
    const table = addTable(definition);
    storage.append({ kind: 'table', table: definition });
    for (const item of past.itemsAt(source, atMillis))
      commit([{ table, id: idIn(table, item), before: undefined, after: item }]);
    return { TableDescription: describeTable(table) };
  }

  function ensureTable(input: Input): void {
    const wanted = readTableDefinition(input, now());
    const known = tables.get(wanted.TableName)?.definition;
    if (known === undefined) {
      createTableFrom(input);
      return;
    }
    const { createdAtMillis, timeToLive, restored } = known;
    const next = {
      ...wanted,
      createdAtMillis,
      ...(timeToLive && { timeToLive }),
      ...(restored && { restored }),
    };
    if (indexesOf(next) === indexesOf(known)) return;
    if (JSON.stringify(next.KeySchema) !== JSON.stringify(known.KeySchema))
      throw new Error(`the table ${wanted.TableName} has another key than before`);
    define(next);
    storage.append({ kind: 'table', table: next });
  }

  /** Gives the table another definition. Other indexes are built from the items. */
  function define(definition: Table['definition']): void {
    const known = tables.get(definition.TableName);
    if (known && indexesOf(known.definition) === indexesOf(definition)) {
      known.definition = definition;
      return;
    }
    const table = addTable(definition);
    const stamp = { millis: now(), commit: commits };
    for (const item of known?.items() ?? []) table.put(idIn(table, item), item, stamp);
  }

  function listTables(input: Input): Output {
    const limit = numberOf(input, 'Limit') ?? 100;
    if (limit < 1) throw invalid('Limit must be greater than or equal to 1');
    const after = textOf(input, 'ExclusiveStartTableName') ?? '';
    const names = [...tables.keys()].sort().filter((name) => name > after);
    const TableNames = names.slice(0, limit);
    return { TableNames, ...(names.length > limit && { LastEvaluatedTableName: TableNames.at(-1) }) };
  }

  function updateTimeToLive(input: Input): Output {
    const table = find(input['TableName']);
    table.definition = withTimeToLive(table.definition, input);
    storage.append({ kind: 'table', table: table.definition });
    return { TimeToLiveSpecification: table.definition.timeToLive };
  }

  function describeTimeToLive(input: Input): Output {
    const { timeToLive } = find(input['TableName']).definition;
    return {
      TimeToLiveDescription:
        timeToLive?.Enabled === true
          ? { TimeToLiveStatus: 'ENABLED', AttributeName: timeToLive.AttributeName }
          : { TimeToLiveStatus: 'DISABLED' },
    };
  }

  function expire(): number {
    let deleted = 0;
    for (const table of tables.values()) {
      const { timeToLive } = table.definition;
      if (timeToLive?.Enabled !== true) continue;
      const over: Change[] = [];
      for (const item of table.items()) {
        const seconds = memberOf(item, timeToLive.AttributeName)?.N;
        if (seconds === undefined || Number(seconds) * 1000 > now()) continue;
        const id = idIn(table, item);
        if (!holds.isHeld(table, id)) over.push({ table, id, before: item, after: undefined });
      }
      if (over.length > 0) commit(over);
      deleted += over.length;
    }
    return deleted;
  }

  function apply(record: StoredRecord): void {
    if (record.kind === 'table') define(record.table);
    else if (record.kind === 'table-deleted') tables.delete(record.name);
    else {
      commits += 1;
      const stamp = { millis: now(), commit: commits };
      for (const change of record.changes) {
        const table = tables.get(change.table);
        // A snapshot may be newer than the journal that follows it, and know that the table is gone.
        if (table === undefined) continue;
        const item = 'put' in change ? change.put : change.delete;
        table.put(idIn(table, item), 'put' in change ? item : undefined, stamp);
      }
      if (record.token !== undefined) tokens.remember(record.token);
    }
  }

  function* state(): Iterable<StoredRecord> {
    for (const table of tables.values()) {
      yield { kind: 'table', table: table.definition };
      for (const item of table.items())
        yield { kind: 'commit', changes: [{ table: table.definition.TableName, put: item }] };
    }
    for (const token of tokens.all()) yield { kind: 'commit', changes: [], token };
  }

  function operate(operation: string, input: Input, moment: Moment | undefined): Output {
    switch (operation) {
      case 'GetItem':
        return getItem(input);
      case 'PutItem':
        return write('Put', input);
      case 'UpdateItem':
        return write('Update', input);
      case 'DeleteItem':
        return write('Delete', input);
      case 'Query':
        return query(find(input['TableName']), input, moment);
      case 'Scan':
        return scan(find(input['TableName']), input, moment);
      case 'BatchGetItem':
        return batchGet(readBatchGet(input, find));
      case 'BatchWriteItem':
        return batchWrite(input);
      case 'TransactWriteItems':
        return begin(input)();
      case 'TransactGetItems':
        return transactGet(input);
      case 'CreateTable':
        return createTableFrom(input);
      case 'DescribeTable':
        return { Table: describeTable(find(input['TableName'])) };
      case 'ListTables':
        return listTables(input);
      case 'RestoreTableToPointInTime':
        return restoreTable(input);
      case 'DescribeContinuousBackups':
        find(input['TableName']);
        return past.describe();
      case 'UpdateTimeToLive':
        return updateTimeToLive(input);
      case 'DescribeTimeToLive':
        return describeTimeToLive(input);
    }
    throw new AwsError('UnknownOperationException', `the local dynamodb has no operation ${operation}`);
  }

  return {
    load: () => storage.load(apply, state),
    ensureTable,
    tableNames: () =>
      [...tables.values()].flatMap(({ definition }) => (definition.restored ? [] : [definition.TableName])),
    perform: operate,
    begin,
    expire,
    pin: () => {
      const pin = { commit: commits };
      pinned.add(pin);
      return { moment: { afterCommit: pin.commit }, unpin: () => void pinned.delete(pin) };
    },
    get: (name, key) => {
      const table = tables.get(name);
      return table?.get(idIn(table, key));
    },
    all: (name) => tables.get(name)?.items() ?? [],
    indexed: (name, indexName, beginning) => {
      const index = tables.get(name)?.indexes.get(indexName);
      if (index === undefined) return [];
      return [...index.partitions()].flatMap((hash) =>
        hash.startsWith(beginning) ? index.partition(hash).map(({ item }) => item) : [],
      );
    },
    settled: storage.settled,
    close: storage.close,
  };
}

/** All definitions are made by the same schema, so their members have one order. */
function indexesOf(definition: Table['definition']): string {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes } = definition;
  return JSON.stringify([KeySchema, AttributeDefinitions, GlobalSecondaryIndexes]);
}
