/** The pages of the portal start here. */
import { render } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { forget, useResource, useReturn } from './api/hooks.ts';
import { readBegun, signInAddress, takeTyped } from './kept.ts';
import { currentPath, followLinks, usePlace } from './router.ts';
import { SessionContext, signInError } from './session.tsx';
import { applyTheme, Shell } from './shell.tsx';
import { Announcements } from './ui/page.tsx';
import { Failed, Loading } from './ui/states.tsx';

/** The page for somebody who is not signed in: one button, and why the last sign-in failed. */
function SignIn() {
  const { query } = usePlace();
  useEffect(() => {
    document.title = 'Sign in · Darkroom';
  }, []);
  const error = signInError(query.get('error'));
  return (
    <main class="alone">
      <div class="card sign-in">
        <h1 class="brand">Darkroom</h1>
        <p class="lead">Keys, webhooks, deliveries and the wallet of your account.</p>
        {error !== undefined && (
          <p class="failed" role="alert">
            {error}
          </p>
        )}
        <a class="button primary large" href={signInAddress(currentPath({ error: undefined }))}>
          Sign in
        </a>
        <p class="dim">You need an invitation. An owner of your account or the operator sends it.</p>
      </div>
    </main>
  );
}

/** The sign-in page, or for a signed-in person the shell with the page of the address. */
function App() {
  const { data: me, error, reload } = useResource('getMe');
  const owner = useRef<string>(undefined);
  const session = useMemo(() => {
    const now = me && `${me.person.id} ${me.account?.id ?? ''}`;
    if (owner.current !== undefined && owner.current !== now) forget();
    owner.current = now;
    if (me) takeTyped(me);
    return me && { me, reload };
  }, [me, reload]);
  // Another tab may have signed in or out, or changed the account.
  useReturn(reload);
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

applyTheme();
readBegun();
followLinks();
const root = document.getElementById('app');
if (root) render(<App />, root);
