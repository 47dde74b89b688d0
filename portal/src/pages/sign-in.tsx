/** The page for somebody who is not signed in: one button, and why the last sign-in failed. */
import { useEffect } from 'preact/hooks';
import { signInAddress } from '../fresh.ts';
import { currentAddress, usePlace } from '../router.ts';

/** The words with which a sign-in comes back. */
const reasons: Readonly<Record<string, string>> = {
  cancelled: 'You stopped the sign-in.',
  expired: 'The sign-in took longer than ten minutes, or was begun in another tab. Begin again.',
  unverified: 'Your address is not verified where you signed in. Verify it there, then sign in again.',
  not_invited: 'Nobody has invited this address. Ask an owner of your account, or the operator.',
  not_fresh: 'The sign-in was not fresh. Enter your password or passkey again.',
  issuer_unavailable: 'The sign-in service does not answer. Try again in a minute.',
  refused: 'The sign-in service refused the sign-in. Try again; if it stays, ask the operator.',
};

export function SignIn() {
  const { query } = usePlace();
  useEffect(() => {
    document.title = 'Sign in · Darkroom';
  }, []);
  const word = query.get('error');
  const back = new URL(currentAddress(), location.origin);
  back.searchParams.delete('error');
  return (
    <main class="alone">
      <div class="card sign-in">
        <h1 class="brand">Darkroom</h1>
        <p class="lead">Keys, webhooks, deliveries and the wallet of your account.</p>
        {word !== null && (
          <p class="failed" role="alert">
            {reasons[word] ?? 'The sign-in did not succeed. Try again.'}
          </p>
        )}
        <a class="button primary large" href={signInAddress(back.pathname + back.search)}>
          Sign in
        </a>
        <p class="dim">You need an invitation. An owner of your account or the operator sends it.</p>
      </div>
    </main>
  );
}
