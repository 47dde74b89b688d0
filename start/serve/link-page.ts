/** The page of a link. Its script sends the token behind the #, which no browser sends by itself. */
import { createHash } from 'node:crypto';

const script = `
const token = location.hash.slice(1), isFirst = location.pathname.endsWith('/first');
const form = document.querySelector('form'), text = document.querySelector('p');
const say = (words) => { text.textContent = words; };
async function enter() {
  form.hidden = true;
  const email = isFirst ? form.elements.email.value : undefined;
  const answer = await fetch('/portal/link', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token, email }),
  });
  if (answer.ok) location.replace('/portal/');
  else say((await answer.json()).error.message);
}
form.addEventListener('submit', (event) => { event.preventDefault(); void enter(); });
if (token === '') say('Here people sign in by a link. The operator makes one: darkroom admin people link EMAIL');
else if (isFirst) { form.hidden = false; say('This link makes the first account, and you its owner and operator.'); }
else void enter();
`;
const style =
  'body{font:16px system-ui;max-width:32rem;margin:20vh auto;padding:0 1rem}input,button{font:inherit;padding:.5rem}';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const linkPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Sign in to Darkroom</title>
<meta name="viewport" content="width=device-width"><style>${style}</style>
<h1>Darkroom</h1><p></p>
<form hidden><label>Your address <input name="email" type="email" required autocomplete="email"></label>
<button>Begin</button></form>
<script>${script}</script></html>
`;

export const linkPageHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
};
