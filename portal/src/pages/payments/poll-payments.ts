/** Polls payments that have not ended, while the page is visible. */
import { useEffect, useRef } from 'preact/hooks';
import type { PaymentView } from '../../../../service/contract/portal-views.ts';
import { call, Refusal, sessionEnded } from '../../api/call.ts';
import { useValue } from '../../value.ts';

/** A payment from which a person comes back is polled each second for this long. */
const waitedForMillis = 10_000;
const shortestPauseMillis = 1_000;
const firstPauseMillis = 5_000;
const longestPauseMillis = 60_000;

export const isPending = ({ state }: PaymentView): boolean => state === 'open' || state === 'processing';

/** @param seen null: the account has no such payment */
type OnRead = (id: string, seen: PaymentView | null) => void;

/**
 * @param returned the payment from which the person comes back. Empty: none.
 * @param onRead is called with each payment after each poll, the last time when the payment has ended
 */
export function usePaymentPolls(rows: readonly PaymentView[], returned: string, onRead: OnRead): void {
  const seen = useRef(onRead);
  seen.current = onRead;
  const others = rows.filter((row) => isPending(row) && row.id !== returned).map(({ id }) => id);
  const asked = others.join(' ');
  const hasEnded = useValue(sessionEnded);
  useEffect(() => {
    if (hasEnded) return;
    const ends = others.map((id) => poll(id, false, seen));
    return () => {
      for (const end of ends) end();
    };
  }, [asked, hasEnded]);
  useEffect(
    () => (hasEnded || returned === '' ? undefined : poll(returned, true, seen)),
    [returned, hasEnded],
  );
}

/** Polls until the payment has ended, or until the returned function is called. */
function poll(id: string, isWaitedFor: boolean, onRead: { readonly current: OnRead }): () => void {
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let fromMillis = 0;
  let pauseMillis = 0;
  let isOver = false;
  const again = (): void => {
    clearTimeout(timer);
    if (document.hidden || abort.signal.aborted || isOver) return;
    const isEarly = isWaitedFor && Date.now() - fromMillis < waitedForMillis;
    pauseMillis = isEarly ? shortestPauseMillis : Math.min(2 * pauseMillis, longestPauseMillis);
    timer = setTimeout(() => void once(), pauseMillis);
  };
  const once = async (): Promise<void> => {
    try {
      const payment = await call('getPayment', { id }, abort.signal);
      if (abort.signal.aborted) return;
      isOver = !isPending(payment);
      onRead.current(id, payment);
    } catch (error) {
      if (abort.signal.aborted) return;
      if (error instanceof Refusal && error.code === 'ERR_NOT_FOUND') {
        isOver = true;
        onRead.current(id, null);
      }
    }
    again();
  };
  const begin = (): void => {
    clearTimeout(timer);
    if (document.hidden || isOver) return;
    fromMillis = Date.now();
    pauseMillis = isWaitedFor ? shortestPauseMillis : firstPauseMillis / 2;
    if (isWaitedFor) void once();
    else again();
  };
  document.addEventListener('visibilitychange', begin);
  begin();
  return () => {
    abort.abort();
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', begin);
  };
}
