import { Readable } from 'node:stream';
import type { BatchStep, LevelSnapshot, RangeOptions, Store, SubDatabase } from './dynalite.ts';

/**
 * A store whose writes wait in memory until commit() writes them as one atomic batch. Reads through the store
 * see them before.
 */
export interface WriteBuffer {
  readonly store: Store;
  /** Writes all buffered steps and the extra steps, or none of them. */
  readonly commit: (extra?: readonly BatchStep[]) => Promise<void>;
}

/**
 * Puts a buffer in front of the store. The caller holds the one write lock, so dynalite's own locks per key
 * do nothing here.
 */
export function bufferWrites(base: Store): WriteBuffer {
  const pending = new Map<string, unknown>();
  const over = (prefix: string, below: SubDatabase): SubDatabase => ({
    lock: (_key, work) => work((callback) => callback),
    get: (key, callback) => {
      if (!pending.has(prefix + key)) below.get(key, callback);
      else queueMicrotask(() => callback(null, pending.get(prefix + key)));
    },
    put: (key, value, callback) => {
      pending.set(prefix + key, value);
      queueMicrotask(() => callback(null));
    },
    del: (key, callback) => {
      pending.set(prefix + key, undefined);
      queueMicrotask(() => callback(null));
    },
    createValueStream: (options) => below.createValueStream(options),
  });
  const store: Store = {
    ...base,
    tableDb: { ...base.tableDb, ...over('table~', base.tableDb) },
    getItemDb: (table) => over(itemPrefix(table), base.getItemDb(table)),
    getIndexDb: (type, table, index) =>
      over(indexPrefix(type, table, index), base.getIndexDb(type, table, index)),
  };
  return {
    store,
    commit: (extra = []) => {
      const steps = [...pending].map(([key, value]): BatchStep =>
        value === undefined ? { type: 'del', key } : { type: 'put', key, value },
      );
      return base.db.batch([...steps, ...extra]);
    },
  };
}

/**
 * The store for Query and Scan. dynalite never closes the iterator behind a stream, and an open iterator
 * holds its view of LevelDB for ever. A Readable over the iterator closes it at the end. With a snapshot,
 * queries read the indexes as they were then.
 */
export function readingStore(base: Store, indexSnapshot?: LevelSnapshot): Store {
  const streaming = (prefix: string, below: SubDatabase, snapshot?: LevelSnapshot): SubDatabase => ({
    ...below,
    createValueStream: (options) =>
      Readable.from(base.db.values({ ...withPrefix(prefix, options), ...(snapshot && { snapshot }) })),
  });
  return {
    ...base,
    getItemDb: (table) => streaming(itemPrefix(table), base.getItemDb(table)),
    getIndexDb: (type, table, index) =>
      streaming(indexPrefix(type, table, index), base.getIndexDb(type, table, index), indexSnapshot),
  };
}

// dynalite's db/index.js keeps its sub-databases under these names.
function itemPrefix(table: string): string {
  return `item-${table}~`;
}

function indexPrefix(type: string, table: string, index: string): string {
  return `index-${type.toLowerCase()}~${table}~${index}~`;
}

function withPrefix(prefix: string, options: RangeOptions): RangeOptions {
  const { gt, gte, lt, lte, reverse = false, limit = -1 } = options;
  return {
    reverse,
    limit,
    ...(gt !== undefined ? { gt: prefix + gt } : { gte: prefix + (gte ?? '') }),
    // Keys consist of hexadecimal digits, `/` and `~`, so all of them are below this bound.
    ...(lt !== undefined ? { lt: prefix + lt } : { lte: prefix + (lte ?? '\u00ff') }),
  };
}
