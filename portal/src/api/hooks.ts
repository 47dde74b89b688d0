/** How pages read and change data, with the states of loading and failure. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { PortalOperationName } from '../../../service/contract/operations.ts';
import type { AnswerOf, Input } from '../../../service/contract/portal-calls.ts';
import { finishBegun, waiting } from '../kept.ts';
import { usePlace } from '../router.ts';
import { call, Refusal } from './call.ts';

export interface Resource<Data> {
  /** Undefined until the first answer. It stays while the page reads again. */
  readonly data: Data | undefined;
  readonly error: Refusal | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

const asRefusal = (error: unknown): Refusal =>
  error instanceof Refusal
    ? error
    : new Refusal('PAGE', 'This page failed. Reload it.', { cause: String(error) });

/**
 * The last data of each history entry, for the way back, and the last answer of each read, for a page that is
 * opened again. Both are dropped when the page is loaded, and when another person or account is signed in.
 */
const remembered = new Map<string, unknown>();
const mostRemembered = 200;

/** Another tab may have changed the person or the account. The new one must not see earlier data. */
export const forget = (): void => remembered.clear();

function remember(places: readonly string[], data: unknown): void {
  for (const place of places) {
    remembered.delete(place);
    remembered.set(place, data);
  }
  while (remembered.size > mostRemembered) {
    const [oldest = ''] = remembered.keys();
    remembered.delete(oldest);
  }
}

/** Reads an operation, and again when the input changes. A page opened before shows its last data at once. */
export function useResource<Name extends PortalOperationName>(
  name: Name,
  input: Input<Name> = {},
): Resource<AnswerOf<Name>> & { readonly set: (data: AnswerOf<Name>) => void } {
  const asked = JSON.stringify(input);
  const read = useCallback(
    (signal: AbortSignal) => call(name, JSON.parse(asked) as Input<Name>, signal),
    [name, asked],
  );
  return useRead(`${name} ${asked}`, read);
}

/**
 * @param key identifies the data
 * @param read is called again when it changes, with the data that the page shows
 * @param beginOf the part of earlier data that a page shows when it is opened again
 */
function useRead<Data>(
  key: string,
  read: (signal: AbortSignal, shown: Data | undefined) => Promise<Data>,
  beginOf: (seen: Data) => Data = (seen) => seen,
): Resource<Data> & { readonly set: (data: Data) => void } {
  const { entry } = usePlace();
  const place = `${entry} ${key}`;
  const recall = (): Data | undefined => {
    if (entry !== '' && remembered.has(place)) return remembered.get(place) as Data;
    return remembered.has(key) ? beginOf(remembered.get(key) as Data) : undefined;
  };
  const [state, setState] = useState<Omit<Resource<Data>, 'reload'>>(() => ({
    data: recall(),
    error: undefined,
    isLoading: true,
  }));
  const [turn, setTurn] = useState(0);
  const shown = useRef(key);
  const set = (data: Data): void => {
    remember([place, key], data);
    setState({ data, error: undefined, isLoading: false });
  };
  useEffect(() => {
    const abort = new AbortController();
    const isOther = shown.current !== key;
    shown.current = key;
    const before = recall();
    setState(({ data }) => ({ data: isOther ? before : data, error: undefined, isLoading: true }));
    read(abort.signal, turn === 0 ? before : undefined)
      .then((data) => {
        if (!abort.signal.aborted) set(data);
      })
      .catch((error: unknown) => {
        if (abort.signal.aborted) return;
        setState(({ data }) => ({ data, error: asRefusal(error), isLoading: false }));
      });
    return () => abort.abort();
  }, [read, turn]);
  const reload = useCallback(() => setTurn((one) => one + 1), []);
  return { ...state, reload, set };
}

export interface Rows<Row> extends Resource<readonly Row[]> {
  /** Replaces rows by their newer versions. */
  readonly change: (newer: (row: Row) => Row) => void;
  readonly hasMore: boolean;
  readonly more: () => void;
}

type PagedName = {
  [Name in PortalOperationName]: AnswerOf<Name> extends {
    readonly data: readonly unknown[];
    readonly next_cursor: string | null;
  }
    ? Name
    : never;
}[PortalOperationName];
type RowOf<Name extends PagedName> =
  AnswerOf<Name> extends { readonly data: readonly (infer Row)[] } ? Row : never;

const firstPage = <Answer>(pages: readonly Answer[]): readonly Answer[] => pages.slice(0, 1);

/**
 * Reads a list that comes in pages. `first` is the whole first answer. The way back shows as many pages again.
 * @param id of the path
 */
export function useRows<Name extends PagedName>(
  name: Name,
  query: Readonly<Record<string, string | undefined>> = {},
  id = '',
): Rows<RowOf<Name>> & { readonly first: AnswerOf<Name> | undefined } {
  type Answer = AnswerOf<Name> & {
    readonly data: readonly RowOf<Name>[];
    readonly next_cursor: string | null;
  };
  const asked = JSON.stringify(query);
  const page = useCallback(
    async (cursor: string | undefined, signal?: AbortSignal) =>
      (await call(name, { id, query: { ...(JSON.parse(asked) as typeof query), cursor } }, signal)) as Answer,
    [name, asked, id],
  );
  const read = useCallback(
    async (signal: AbortSignal, shown: readonly Answer[] = []) => {
      const pages = [await page(undefined, signal)];
      let cursor = pages[0]?.next_cursor ?? null;
      while (cursor !== null && pages.length < shown.length) {
        const next = await page(cursor, signal);
        pages.push(next);
        cursor = next.next_cursor;
      }
      return pages;
    },
    [page],
  );
  const pages = useRead<readonly Answer[]>(`${name} ${id} ${asked}`, read, firstPage);
  const [more, setMore] = useState<{ readonly isLoading: boolean; readonly error?: Refusal }>();
  const cursor = pages.data?.at(-1)?.next_cursor ?? null;
  const latest = useRef(pages.data);
  latest.current = pages.data;
  return {
    data: pages.data?.flatMap(({ data }) => data),
    first: pages.data?.[0],
    error: more?.error ?? pages.error,
    isLoading: pages.isLoading || more?.isLoading === true,
    reload: () => {
      setMore(undefined);
      pages.reload();
    },
    change: (newer) => {
      const shown = latest.current;
      if (shown) pages.set(shown.map((one) => ({ ...one, data: one.data.map(newer) })));
    },
    hasMore: cursor !== null,
    more: () => {
      const { data } = pages;
      if (cursor === null || data === undefined || pages.isLoading || more?.isLoading === true) return;
      setMore({ isLoading: true });
      page(cursor)
        .then((next) => {
          // A filter or a reload has replaced these pages.
          if (latest.current === data) pages.set([...data, next]);
          setMore(undefined);
        })
        .catch((error: unknown) => setMore({ isLoading: false, error: asRefusal(error) }));
    },
  };
}

export interface Action<Name extends PortalOperationName> {
  readonly isBusy: boolean;
  readonly error: Refusal | undefined;
  readonly run: (input: Input<Name>) => void;
  readonly clear: () => void;
}

/**
 * Changes something. When the service asks for a fresh sign-in, the person signs in, comes back to this page, and the
 * same call is made again, so a page has one action for each operation.
 */
export function useAction<Name extends PortalOperationName>(
  name: Name,
  onDone: (answer: AnswerOf<Name>, input: Input<Name>) => void,
): Action<Name> {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Refusal>();
  const done = useRef(onDone);
  done.current = onDone;
  const run = useCallback(
    (input: Input<Name>): void => {
      setBusy(true);
      setError(undefined);
      call(name, input)
        .then((answer) => {
          setBusy(false);
          done.current(answer, input);
        })
        .catch((failure: unknown) => {
          setBusy(false);
          const refusal = asRefusal(failure);
          if (refusal.needsFreshSignIn) waiting.set({ operation: name, input });
          else setError(refusal);
        });
    },
    [name],
  );
  useEffect(() => {
    const input = finishBegun(name);
    if (input) run(input);
  }, [name, run]);
  return { isBusy, error, run, clear: useCallback(() => setError(undefined), []) };
}

/** The time, read again at this pace. For countdowns and ages. */
export function useNow(everyMillis: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMillis);
    return () => clearInterval(timer);
  }, [everyMillis]);
  return now;
}

/** Calls `onReturn` each time the person comes back to the page. */
export function useReturn(onReturn: () => void): void {
  useEffect(() => {
    const handle = (): void => {
      if (!document.hidden) onReturn();
    };
    document.addEventListener('visibilitychange', handle);
    return () => document.removeEventListener('visibilitychange', handle);
  }, [onReturn]);
}
