/** Loads the pages of the operator when a person of the operator is signed in. */
import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { Refusal } from './api/call.ts';
import { later } from './later.ts';
import type * as pages from './pages/operator/pages.tsx';
import { useSession } from './session.tsx';
import { Button } from './ui/basics.tsx';
import { Failed, Loading } from './ui/states.tsx';
import { createValue, useValue } from './value.ts';

type Pages = typeof pages;

const operator = later(() => import('./pages/operator/pages.tsx'));

const isSearching = createValue(false);

export function SearchButton() {
  if (!useSession().me.is_operator) return null;
  return (
    <Button
      text="Search"
      class="search"
      aria-keyshortcuts="Control+K"
      onClick={() => isSearching.set(true)}
    />
  );
}

/** The search of the operator, which Ctrl-K opens on every page. */
export function OperatorSearch() {
  const { is_operator: isOperator } = useSession().me;
  const isOpen = useValue(isSearching);
  // A layout effect, so that the key works as soon as the page is visible.
  useLayoutEffect(() => {
    if (!isOperator) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      // Only one dialog may be open.
      if (!document.querySelector('dialog[open]')) isSearching.set(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [isOperator]);
  return isOpen && isOperator ? <Search onClose={() => isSearching.set(false)} /> : null;
}

/** Starts loading the pages before the first one is opened. */
export function useOperatorPages(): void {
  const { is_operator: isOperator } = useSession().me;
  useEffect(() => {
    // The page that needs them reports the failure.
    if (isOperator) void operator.load().catch(() => undefined);
  }, [isOperator]);
}

/** @param choose the component of the loaded pages */
export function operatorPage<Props extends object>(
  choose: (pages: Pages) => ComponentType<Props>,
): ComponentType<Props> {
  return function OperatorPage(props: Props) {
    const found = operator.useFile();
    if (found instanceof Refusal) return <Failed error={found} onRetry={() => location.reload()} />;
    if (!found) return <Loading rows={8} />;
    const Page = choose(found);
    return <Page {...props} />;
  };
}

const Search = operatorPage<{ onClose: () => void }>((found) => found.Search);
