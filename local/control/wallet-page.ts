/**
 * The page to which a 402 of the local service sends its reader. There is no portal here, so the page shows
 * the command that tops up a wallet.
 */

export const walletPath = '/_local/wallet';

/** The page. It contains no part of the request. */
export function walletPage(): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Top up · Darkroom</title>
<style>
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: #140d0c; color: #f2e6e1; font: 16px/1.6 system-ui, sans-serif; }
  main { max-width: 42rem; padding: 2rem; }
  h1 { font-weight: 600; color: #ff6b57; }
  pre { overflow-x: auto; padding: 1rem 1.25rem; border-radius: .5rem; background: #241614; color: #ffd9cf; }
</style>
<main>
  <h1>Top up a wallet</h1>
  <p>This service runs on one machine; its operator tops up from the project's folder:</p>
  <pre>npm run admin -- accounts list
npm run admin -- wallet top-up ACCOUNT --amount 25 --reference "first top-up"</pre>
  <p>A reference counts once: the same command sent twice is one top-up.</p>
</main>
</html>`;
}
