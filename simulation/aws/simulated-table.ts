/** The product's table on the table engine, and what the watches read of it. */
import { ttlAttribute } from '../../adapters/dynamodb/table.ts';
import type { Item } from '../../local/dynamodb/attributes.ts';
import { createTableEngine, type CommittedChange } from '../../local/dynamodb/engine.ts';
import { createNoStorage } from '../../local/dynamodb/storage.ts';
import { tableDefinition } from './table-definition.ts';
import type { Input } from './table-request.ts';

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
}

export interface SimulatedTable {
  /** Performs an operation, or throws AwsError. It reads an index as the index was `lagMillis` ago. */
  readonly perform: (operation: string, input: Input, lagMillis?: number) => Record<string, unknown>;
  /** Begins a transaction. The returned function commits and answers, or throws AwsError. */
  readonly begin: (input: Input) => () => Record<string, unknown>;
  readonly get: (pk: string, sk: string) => Item | undefined;
  readonly all: () => Iterable<Item>;
  /** The rows of an index in the partitions whose names begin with `beginning`. */
  readonly indexed: (index: string, beginning: string) => Item[];
  /** Deletes the items past their time to live, except those that a transaction holds. Returns how many. */
  readonly expire: () => number;
}

/** The largest lag of an index that a world draws. */
export const maxLagMillis = 20_000;

/** Creates the product's table, without items. */
export function createSimulatedTable({ now, onCommit }: SimulatedTableOptions): SimulatedTable {
  const engine = createTableEngine({
    now,
    storage: createNoStorage(),
    historyMillis: maxLagMillis,
    ...(onCommit && { onCommit: (changes) => onCommit(changes.map(asChange)) }),
  });
  engine.perform('CreateTable', tableDefinition(tableName));
  engine.perform('UpdateTimeToLive', {
    TableName: tableName,
    TimeToLiveSpecification: { AttributeName: ttlAttribute, Enabled: true },
  });
  return {
    perform: (operation, input, lagMillis = 0) =>
      engine.perform(operation, input, lagMillis === 0 ? undefined : { atMillis: now() - lagMillis }),
    begin: engine.begin,
    get: (pk, sk) => engine.get(tableName, { pk: { S: pk }, sk: { S: sk } }),
    all: () => engine.all(tableName),
    indexed: (index, beginning) => engine.indexed(tableName, index, beginning),
    expire: engine.expire,
  };
}

function asChange({ key, before, after }: CommittedChange): Change {
  return { pk: key['pk']?.S ?? '', sk: key['sk']?.S ?? '', before, after };
}
