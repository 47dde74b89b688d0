import type { Callback, Store, TableRecord } from './dynalite.ts';

/** A store that reads a table's record once, where dynalite reads it for each item of each request. */
export interface KnownTables {
  readonly store: Store;
  /** After whatever changes a table. */
  readonly forget: () => void;
}

/** Whoever wants a table in any state (to describe or change it) says `false`, and gets it as it is. */
export function knowTables(base: Store): KnownTables {
  const known = new Map<string, TableRecord>();
  // dynalite leaves the second argument out where it wants what `true` gives.
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
