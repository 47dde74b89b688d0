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

export type Looked = Pick<CreationRow, 'id' | 'look_after_seconds'>;

interface Look {
  readonly atMillis: number;
  /** The pause after a poll that failed. It grows. */
  readonly pauseMillis: number;
}

/** @param onSeen gets each creation as it is now, for as long as it is open and once when it has ended */
export function useOpenCreations(rows: readonly Looked[], onSeen: (creation: CreationDetail) => void): void {
  const seen = useRef(onSeen);
  seen.current = onSeen;
  const looks = useRef(new Map<string, Look>());
  const open = rows.flatMap(({ id, look_after_seconds: seconds }) =>
    seconds === null ? [] : [{ id, pauseMillis: seconds * 1000 }],
  );
  const asked = open.map(({ id }) => id).join(' ');
  const hasEnded = useValue(sessionEnded);
  useEffect(() => {
    if (open.length === 0 || hasEnded) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isLooking = false;
    const plan = (): void => {
      clearTimeout(timer);
      if (document.hidden || abort.signal.aborted || isLooking) return;
      const next = Math.min(...open.map(({ id }) => looks.current.get(id)?.atMillis ?? 0));
      timer = setTimeout(() => void look(), Math.max(0, next - Date.now()));
    };
    const look = async (): Promise<void> => {
      isLooking = true;
      const due = open.filter(({ id }) => (looks.current.get(id)?.atMillis ?? 0) <= Date.now());
      await Promise.all(due.slice(0, mostAtOnce).map(async (one) => lookAt(one)));
      isLooking = false;
      plan();
    };
    const lookAt = async ({ id, pauseMillis }: (typeof open)[number]): Promise<void> => {
      const last = looks.current.get(id)?.pauseMillis ?? pauseMillis;
      const next = (pause: number): void =>
        void looks.current.set(id, { atMillis: Date.now() + pause, pauseMillis: pause });
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
      if (!looks.current.has(id)) looks.current.set(id, { atMillis: Date.now() + pauseMillis, pauseMillis });
    plan();
    document.addEventListener('visibilitychange', plan);
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', plan);
    };
  }, [asked, hasEnded]);
}
