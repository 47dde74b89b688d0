/**
 * Polls creations that have not ended, each at the pace that the service says, and only while the page is
 * visible.
 */
import { useEffect, useRef } from 'preact/hooks';
import type { CreationDetail, CreationRow } from '../../../service/contract/portal-views.ts';
import { useValue } from '../value.ts';
import { call, sessionEnded } from './call.ts';

/** A page with many open creations polls at most this many at once. */
const mostAtOnce = 4;
const longestPauseMillis = 60_000;

export type PolledCreation = Pick<CreationRow, 'id' | 'look_after_seconds'>;

interface Poll {
  readonly atMillis: number;
  /** The pause after a poll that failed. It grows. */
  readonly pauseMillis: number;
}

/** @param onRead gets each creation as it is now, for as long as it is open and once when it has ended */
export function useOpenCreations(
  rows: readonly PolledCreation[],
  onRead: (creation: CreationDetail) => void,
): void {
  const seen = useRef(onRead);
  seen.current = onRead;
  const polls = useRef(new Map<string, Poll>());
  const open = rows.flatMap(({ id, look_after_seconds: seconds }) =>
    seconds === null ? [] : [{ id, pauseMillis: seconds * 1000 }],
  );
  const asked = open.map(({ id }) => id).join(' ');
  const hasEnded = useValue(sessionEnded);
  useEffect(() => {
    if (open.length === 0 || hasEnded) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isPolling = false;
    const plan = (): void => {
      clearTimeout(timer);
      if (document.hidden || abort.signal.aborted || isPolling) return;
      const next = Math.min(...open.map(({ id }) => polls.current.get(id)?.atMillis ?? 0));
      timer = setTimeout(() => void poll(), Math.max(0, next - Date.now()));
    };
    const poll = async (): Promise<void> => {
      isPolling = true;
      const due = open.filter(({ id }) => (polls.current.get(id)?.atMillis ?? 0) <= Date.now());
      await Promise.all(due.slice(0, mostAtOnce).map(async (one) => pollOne(one)));
      isPolling = false;
      plan();
    };
    const pollOne = async ({ id, pauseMillis }: (typeof open)[number]): Promise<void> => {
      const last = polls.current.get(id)?.pauseMillis ?? pauseMillis;
      const next = (pause: number): void =>
        void polls.current.set(id, { atMillis: Date.now() + pause, pauseMillis: pause });
      try {
        const creation = await call('getPortalCreation', { id }, abort.signal);
        next((creation.look_after_seconds ?? 0) * 1000 || pauseMillis);
        if (!abort.signal.aborted) seen.current(creation);
      } catch {
        if (abort.signal.aborted) return;
        next(Math.min(2 * last, longestPauseMillis));
      }
    };
    for (const { id, pauseMillis } of open)
      if (!polls.current.has(id)) polls.current.set(id, { atMillis: Date.now() + pauseMillis, pauseMillis });
    plan();
    document.addEventListener('visibilitychange', plan);
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', plan);
    };
  }, [asked, hasEnded]);
}
