/** The port between the engine, which holds everything in memory, and the storage of its changes. */
import type { Item } from './attributes.ts';

/** A key of a table or of an index, as CreateTable names it. */
export interface KeyElement {
  readonly AttributeName: string;
  readonly KeyType: 'HASH' | 'RANGE';
}

export interface IndexDefinition {
  readonly IndexName: string;
  readonly KeySchema: readonly KeyElement[];
  readonly Projection: {
    readonly ProjectionType?: 'ALL' | 'KEYS_ONLY' | 'INCLUDE';
    readonly NonKeyAttributes?: readonly string[];
  };
}

/** A table: the part of CreateTable's input that matters here, and its time to live. */
export interface TableDefinition {
  readonly TableName: string;
  readonly AttributeDefinitions: readonly {
    readonly AttributeName: string;
    readonly AttributeType: 'S' | 'N' | 'B';
  }[];
  readonly KeySchema: readonly KeyElement[];
  readonly GlobalSecondaryIndexes: readonly IndexDefinition[];
  /** Epoch milliseconds. */
  readonly createdAtMillis: number;
  readonly timeToLive?: { readonly AttributeName: string; readonly Enabled: boolean };
  /** Of a table that was restored: from which one, and to which moment in epoch milliseconds. */
  readonly restored?: { readonly from: string; readonly atMillis: number };
}

/** The new state of one item: the whole item, or the key of a deleted item. */
export type StoredChange =
  | { readonly table: string; readonly put: Item }
  | { readonly table: string; readonly delete: Item };

/** The token of a transaction that was committed. DynamoDB remembers it for ten minutes. */
export interface StoredToken {
  readonly text: string;
  readonly fingerprint: string;
  /** Epoch milliseconds. */
  readonly atMillis: number;
}

/** One thing that the engine has done. To apply a record twice, in order, gives the same state as once. */
export type StoredRecord =
  /** A table was created, or its definition changed. */
  | { readonly kind: 'table'; readonly table: TableDefinition }
  /** A table was deleted. Only earlier releases, which could delete tables, wrote this record. */
  | { readonly kind: 'table-deleted'; readonly name: string }
  /** A write or a transaction: all changes happen, or none. */
  | { readonly kind: 'commit'; readonly changes: readonly StoredChange[]; readonly token?: StoredToken };

export interface TableStorage {
  /**
   * Gives every kept record to `apply`, in order, before anything else. `state` lists the present records, tables
   * before items. It may be read slowly: an item that changes meanwhile may be in any of its states, or missing.
   */
  readonly load: (
    apply: (record: StoredRecord) => void,
    state: () => Iterable<StoredRecord>,
  ) => Promise<void>;
  /** Takes one record, in the turn of the event loop in which the engine changes its state. */
  readonly append: (record: StoredRecord) => void;
  /** Resolves once everything appended so far is kept for good. Undefined when there is nothing to wait for. */
  readonly settled: () => Promise<void> | undefined;
  /** Waits for open work and releases the storage. */
  readonly close: () => Promise<void>;
}

/** Keeps nothing: the tables live as long as their process. */
export function createNoStorage(): TableStorage {
  return {
    load: () => Promise.resolve(),
    append: () => undefined,
    settled: () => undefined,
    close: () => Promise.resolve(),
  };
}
