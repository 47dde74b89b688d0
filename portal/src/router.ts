/** Which page is shown follows from the address. Links are ordinary links: a press on one changes the page here. */
import { createValue, useValue } from './value.ts';

/** The path of the portal, with a slash at both ends: the script lies there. */
const base = new URL('.', import.meta.url).pathname;

export interface Place {
  /** Of the entry in the history of the browser. Empty: the entry is not one of the pages' own. */
  readonly entry: string;
  /** Relative to the base, with a slash in front: "/keys". */
  readonly path: string;
  readonly query: URLSearchParams;
}

function here(): Place {
  const { pathname, search } = location;
  const { entry = '' } = (history.state ?? {}) as { entry?: string };
  const path = pathname.startsWith(base) ? `/${pathname.slice(base.length)}` : '/';
  return {
    entry,
    path: path.length > 1 ? path.replace(/\/$/, '') : path,
    query: new URLSearchParams(search),
  };
}

const newEntry = (): string => crypto.randomUUID();

const first = here();
const place = createValue({ ...first, entry: first.entry === '' ? newEntry() : first.entry });

export const usePlace = (): Place => useValue(place);

/** The address of a page, for a link. At "/", the page "//evil.test" would be another host. */
export const href = (path: string): string => base + path.replace(/^\/+/, '');

/** The page as it is shown, with its query, for the way back after a sign-in. */
export function currentPath(changes: Readonly<Record<string, string | undefined>> = {}): string {
  const { path, query } = place.get();
  return withQuery(path, query, changes);
}

/** Leaves out parameters that are empty or undefined. */
function withQuery(
  path: string,
  query: URLSearchParams,
  changes: Readonly<Record<string, string | undefined>>,
): string {
  const next = new URLSearchParams(query);
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(key);
    else next.set(key, value);
  }
  const text = next.toString();
  return `${path}${text === '' ? '' : `?${text}`}`;
}

export function go(path: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') {
    leave();
    // The first entry of all gets its name when it is left.
    history.replaceState({ ...(history.state as object), entry: place.get().entry }, '');
    const entry = newEntry();
    // A dialog over a page does not scroll the page.
    const isOver = path.split('?', 1)[0] === place.get().path;
    if (isOver) scrolled.set(entry, scrollY);
    history.pushState({ entry, isOver }, '', href(path));
  } else history.replaceState({ ...(history.state as object), entry: place.get().entry }, '', href(path));
  place.set(here());
}

/** Changes parameters of the query. A filter replaces its entry in the history. What opens over the page has its own. */
export function setQuery(
  changes: Readonly<Record<string, string | undefined>>,
  how: 'push' | 'replace' = 'replace',
): void {
  go(currentPath(changes), how);
}

/** Closes what was opened over the page: by the way back, or by the query when the address itself opened it. */
export function back(changes: Readonly<Record<string, string | undefined>>): void {
  const { isOver = false } = (history.state ?? {}) as { isOver?: boolean };
  if (isOver) history.back();
  else setQuery(changes);
}

/** The parameters of a path that fits the pattern "/creations/:id". */
export function match(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const found: Record<string, string> = {};
  for (const [index, step] of wanted.entries()) {
    const value = given[index] ?? '';
    if (!step.startsWith(':')) {
      if (step !== value) return undefined;
      continue;
    }
    try {
      found[step.slice(1)] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return found;
}

/** How far each entry of the history was scrolled when it was left. */
const scrolled = new Map<string, number>();

const leave = (): void => void scrolled.set(place.get().entry, scrollY);

/** Where the page of this entry begins: at its top, or where the person left it. */
export const scrollOf = ({ entry }: Place): number => scrolled.get(entry) ?? 0;

/** Follows links of the portal without a new load of the page. */
export function followLinks(): void {
  // The browser would scroll before the rows of the page are there.
  history.scrollRestoration = 'manual';
  addEventListener('popstate', () => {
    leave();
    place.set(here());
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || !url.pathname.startsWith(base) || url.hash !== '') return;
    const first = url.pathname.slice(base.length).split('/')[0] ?? '';
    if (first.includes('.') || isOutside(first)) return;
    event.preventDefault();
    go(`/${url.pathname.slice(base.length)}${url.search}`);
  });
}

/** Addresses of the same origin that are no page of the portal. */
const isOutside = (first: string): boolean =>
  ['api', 'auth', 'reference', 'images', '_local'].includes(first);
