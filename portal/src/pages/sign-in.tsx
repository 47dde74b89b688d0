/** The page for somebody who is not signed in: one button, and why the last sign-in failed. */
import { useEffect } from 'preact/hooks';
import { signInAddress } from '../fresh.ts';
import { currentPath, usePlace } from '../router.ts';
import { signInError } from '../words/sign-in-errors.ts';

export function SignIn() {
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
