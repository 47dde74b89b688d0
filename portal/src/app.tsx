/** Who is signed in decides what is shown: the sign-in page, or the shell with the page of the address. */
import { useEffect, useMemo } from 'preact/hooks';
import { useResource } from './api/hooks.ts';
import { takeTyped } from './kept.ts';
import { SignIn } from './pages/sign-in.tsx';
import { SessionContext } from './session.ts';
import { Shell } from './shell.tsx';
import { Announcements } from './ui/announce.tsx';
import { Failed, Loading } from './ui/states.tsx';

export function App() {
  const { data: me, error, reload } = useResource('getMe');
  const session = useMemo(() => {
    if (me) takeTyped(me);
    return me && { me, reload };
  }, [me, reload]);
  // Another tab may have signed in or out, or changed the account.
  useEffect(() => {
    const look = (): void => {
      if (!document.hidden) reload();
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [reload]);
  if (session) {
    return (
      <SessionContext.Provider value={session}>
        <Shell key={session.me.account?.id ?? '-'} />
        <Announcements />
      </SessionContext.Provider>
    );
  }
  if (error?.code === 'ERR_SESSION_REQUIRED') return <SignIn />;
  return (
    <main class="alone">
      <div class="card">
        <h1 class="brand">Darkroom</h1>
        {error ? <Failed error={error} onRetry={reload} /> : <Loading rows={2} />}
      </div>
    </main>
  );
}
