import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Keeps what a person reads where it is while newer rows are put above. Rows are the elements with `data-row`. At the
 * top of the page, newer rows come into sight instead.
 */
export function useSteady(rows: unknown): void {
  const read = useRef<{ readonly row: string; readonly top: number }>(undefined);
  const note = (): void => {
    read.current = undefined;
    if (scrollY < 1) return;
    for (const element of document.querySelectorAll<HTMLElement>('[data-row]')) {
      const { top, bottom } = element.getBoundingClientRect();
      if (bottom <= 0) continue;
      read.current = { row: element.dataset['row'] ?? '', top };
      return;
    }
  };
  useLayoutEffect(() => {
    const { row, top } = read.current ?? {};
    const element = row === undefined ? null : document.querySelector(`[data-row="${CSS.escape(row)}"]`);
    if (element && top !== undefined) scrollBy(0, element.getBoundingClientRect().top - top);
    note();
  }, [rows]);
  useEffect(() => {
    addEventListener('scroll', note, { passive: true });
    return () => removeEventListener('scroll', note);
  }, []);
}
