/** The pages of the local issuer, for a developer. They need no script. */
import { escape, look } from '../control/look.ts';

const style = `${look}
  main { max-width: 30rem; margin: 0 auto; }
  h2 { margin: 2rem 0 .75rem; font-size: 1rem; }
  form { display: grid; gap: .75rem; margin: 0 0 .75rem; }
  button { padding: .7rem 1rem; border: 1px solid var(--edge); border-radius: .6rem; background: #1c1210; color: var(--paper); font: inherit; text-align: left; cursor: pointer; overflow-wrap: anywhere; }
  button:hover { background: #2a1915; }
  :focus-visible { outline: 2px solid var(--lamp); outline-offset: 2px; }
  input[type=email] { width: 100%; margin-top: .3rem; padding: .6rem .75rem; border: 1px solid #8a6f66; border-radius: .6rem; background: #0b0706; color: var(--paper); font: inherit; }
`;

function page(title: string, main: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${style}</style></head>
<body><main><h1>${title}</h1>
${main}
</main></body></html>
`;
}

/** @param people the addresses with a button of their own */
export function signInPage(people: readonly string[]): string {
  const buttons = people.map(
    (email) => `<form method="post"><input type="hidden" name="verified" value="on">
<button name="email" value="${escape(email)}">Sign in as ${escape(email)}</button></form>`,
  );
  return page(
    'Who are you today?',
    `<p class="dim">This page stands in for a sign-in service. It believes everybody, and runs on this machine only.</p>
${buttons.join('\n')}
<h2>Somebody else</h2>
<form method="post">
<label>Address <input type="email" name="email" required autocomplete="off"></label>
<label><input type="checkbox" name="verified" checked> The address is verified</label>
<button>Sign in</button>
</form>`,
  );
}

/** @param form the form of the provider, which the button below belongs to */
export function signOutPage(form: string): string {
  return page(
    'Sign out',
    `<p class="dim">You are signed out of the portal.</p>
${form}
<button form="op.logoutForm" name="logout" value="yes" autofocus>Sign out of the local sign-in service, too</button>`,
  );
}
