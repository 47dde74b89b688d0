import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Keeps what a person reads where it is while newer rows are put above. Rows are the elements with `data-row`. At the
 * top of the page, newer rows come into sight instead.
 */
export function useSteady(rows: unknown): void {
  /** The first visible row, and its position in the whole page. */
  const read = useRef<{ readonly row: string; readonly place: number }>(undefined);
  const note = (): void => {
    read.current = undefined;
    for (const element of document.querySelectorAll<HTMLElement>('[data-row]')) {
      const { top, bottom } = element.getBoundingClientRect();
      if (bottom <= 0) continue;
      read.current = { row: element.dataset['row'] ?? '', place: top + scrollY };
      return;
    }
  };
  useLayoutEffect(() => {
    const { row, place } = read.current ?? {};
    const element = row === undefined ? null : document.querySelector(`[data-row="${CSS.escape(row)}"]`);
    // The browser reports a scroll later, so the page may have been scrolled since.
    if (element && place !== undefined && scrollY >= 1)
      scrollBy(0, element.getBoundingClientRect().top + scrollY - place);
    note();
  }, [rows]);
  useEffect(() => {
    addEventListener('scroll', note, { passive: true });
    return () => removeEventListener('scroll', note);
  }, []);
}
