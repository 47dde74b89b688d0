/** How pages read and change: with the states of each on the way. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { PortalOperationName } from '../../../core/contract.ts';
import { finishBegun, waiting } from '../fresh.ts';
import { call } from './call.ts';
import type { AnswerOf, Input } from '../../../core/portal/calls.ts';
import { Refusal } from './refusal.ts';

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

/** Reads an operation, and again when the input changes. */
export function useResource<Name extends PortalOperationName>(
  name: Name,
  input: Input<Name> = {},
): Resource<AnswerOf<Name>> {
  const [state, setState] = useState<Omit<Resource<AnswerOf<Name>>, 'reload'>>({
    data: undefined,
    error: undefined,
    isLoading: true,
  });
  const [turn, setTurn] = useState(0);
  const asked = JSON.stringify(input);
  const shown = useRef(asked);
  useEffect(() => {
    const abort = new AbortController();
    const isOther = shown.current !== asked;
    shown.current = asked;
    setState(({ data }) => ({ data: isOther ? undefined : data, error: undefined, isLoading: true }));
    call(name, JSON.parse(asked) as Input<Name>, abort.signal)
      .then((data) => setState({ data, error: undefined, isLoading: false }))
      .catch((error: unknown) => {
        if (abort.signal.aborted) return;
        setState(({ data }) => ({ data, error: asRefusal(error), isLoading: false }));
      });
    return () => abort.abort();
  }, [name, asked, turn]);
  const reload = useCallback(() => setTurn((one) => one + 1), []);
  return { ...state, reload };
}

export interface Rows<Row> extends Resource<readonly Row[]> {
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

/** Reads a list that comes in pages. `first` is the whole first answer. */
export function useRows<Name extends PagedName>(
  name: Name,
  query: Readonly<Record<string, string | undefined>> = {},
): Rows<RowOf<Name>> & { readonly first: AnswerOf<Name> | undefined } {
  const first = useResource(name, { query });
  const [rest, setRest] = useState<{ rows: readonly unknown[]; cursor: string | null; of: unknown }>();
  const [error, setError] = useState<Refusal>();
  const [isLoading, setLoading] = useState(false);
  const page = first.data as { data: readonly unknown[]; next_cursor: string | null } | undefined;
  const current = rest?.of === page ? rest : undefined;
  const cursor = current ? current.cursor : (page?.next_cursor ?? null);
  const more = (): void => {
    if (cursor === null || isLoading) return;
    setLoading(true);
    setError(undefined);
    call(name, { query: { ...query, cursor } })
      .then((answer) => {
        const next = answer as { data: readonly unknown[]; next_cursor: string | null };
        setRest({ rows: [...(current?.rows ?? []), ...next.data], cursor: next.next_cursor, of: page });
      })
      .catch((failure: unknown) => setError(asRefusal(failure)))
      .finally(() => setLoading(false));
  };
  return {
    data: page && ([...page.data, ...(current?.rows ?? [])] as RowOf<Name>[]),
    first: first.data,
    error: error ?? first.error,
    isLoading: first.isLoading || isLoading,
    reload: first.reload,
    hasMore: cursor !== null,
    more,
  };
}

export interface Action<Name extends PortalOperationName> {
  readonly isBusy: boolean;
  readonly error: Refusal | undefined;
  readonly run: (input: Input<Name>) => void;
  readonly clear: () => void;
}

/**
 * Changes something. When the service asks for a fresh sign-in, the person signs in, comes back to this page, and
 * the same call is made again. So a page has one action for each operation, and `onDone` needs nothing but what it
 * is given.
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
