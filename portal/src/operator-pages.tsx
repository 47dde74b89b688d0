/** Loads the pages of the operator when a person of the operator is signed in. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Refusal } from './api/call.ts';
import type * as pages from './pages/operator/pages.tsx';
import { useSession } from './session.tsx';
import { Failed, Loading } from './ui/states.tsx';

type Pages = typeof pages;

let loaded: Pages | undefined;

async function load(): Promise<Pages> {
  loaded = await import('./pages/operator/pages.tsx');
  return loaded;
}

/** Begins to load them before the first one is opened. */
export function useOperatorPages(): void {
  const { is_operator: isOperator } = useSession().me;
  useEffect(() => {
    // The page that needs them says why they did not come.
    if (isOperator) void load().catch(() => undefined);
  }, [isOperator]);
}

type Shown = ComponentType<{ readonly id: string; readonly tab: string }>;

/** @param choose the component of the loaded pages */
export function operatorPage(choose: (pages: Pages) => Shown): Shown {
  return function OperatorPage(props) {
    const [found, setFound] = useState(loaded);
    const [hasFailed, setFailed] = useState(false);
    useEffect(() => {
      if (!found) load().then(setFound, () => setFailed(true));
    }, [found]);
    if (hasFailed) {
      // A release has replaced the file since this page was loaded, or there is no connection.
      const error = new Refusal('PAGE', 'This part of the portal could not be loaded. Reload the page.');
      return <Failed error={error} onRetry={() => location.reload()} />;
    }
    if (!found) return <Loading rows={8} />;
    const Page = choose(found);
    return <Page {...props} />;
  };
}
