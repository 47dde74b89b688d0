import type { Callback, Store, TableRecord } from './dynalite.ts';

/**
 * A store that reads each table's record only once. dynalite itself reads it for each item of each request.
 */
export interface KnownTables {
  readonly store: Store;
  /** Forgets all records. Call this after every change of a table. */
  readonly forget: () => void;
}

/**
 * Keeps the records of active tables. A caller that passes `false` for checkStatus, to describe or change a
 * table in any state, gets the record from the database.
 */
export function knowTables(base: Store): KnownTables {
  const known = new Map<string, TableRecord>();
  // dynalite omits the second argument where it means `true`.
  const getTable = (
    name: string,
    checkStatus: boolean | Callback<TableRecord>,
    last?: Callback<TableRecord>,
  ): void => {
    const callback = typeof checkStatus === 'function' ? checkStatus : last;
    if (callback === undefined) throw new Error('getTable needs a callback');
    if (checkStatus === false) {
      base.getTable(name, false, callback);
      return;
    }
    const table = known.get(name);
    if (table !== undefined) {
      queueMicrotask(() => callback(null, table));
      return;
    }
    base.getTable(name, true, (error, found) => {
      if (!error && found !== undefined) known.set(name, found);
      callback(error, found);
    });
  };
  return { store: { ...base, getTable }, forget: () => known.clear() };
}
