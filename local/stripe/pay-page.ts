/** The payment page, instead of Stripe's own. It needs no script. */
import { escape, titledPage } from '../control/page.ts';
import { cards } from './cards.ts';
import type { Session } from './objects.ts';

const style = `
  main { max-width: 30rem; margin: 0 auto; }
  .amount { margin: 1.5rem 0 .25rem; font-size: 2.25rem; font-weight: 650; letter-spacing: -.01em; }
  h2 { margin: 2rem 0 .75rem; font-size: 1rem; }
  form { display: grid; gap: .6rem; margin: 0 0 1.5rem; }
  button { display: flex; justify-content: space-between; gap: 1rem; padding: .7rem 1rem; border: 1px solid #8a6f66; border-radius: .6rem; background: #1c1210; color: var(--paper); font: inherit; text-align: left; cursor: pointer; }
  button:hover { background: #2a1915; }
  button span:last-child { white-space: nowrap; color: var(--dim); font: .85rem/1.6 ui-monospace, monospace; }
  :focus-visible { outline: 2px solid var(--lamp); outline-offset: 2px; }
  .refused { margin: 1.5rem 0 0; padding: .7rem 1rem; border-radius: .6rem; color: #ffd0c8; background: #5b1a13; }
  a { color: var(--paper); }
`;

/** @param declined why the last card was declined */
export function payPage(session: Session, declined?: string): string {
  const amount = amountOf(session.amount_total, session.currency);
  const taxCents = session.amount_total - session.amount_subtotal;
  const tax = taxCents === 0 ? '' : `<p class="dim">of which ${amountOf(taxCents, session.currency)} tax</p>`;
  const back =
    session.cancel_url === null
      ? ''
      : `<p><a href="${escape(session.cancel_url)}">Cancel and go back</a></p>`;
  return page(
    'Pay',
    `<p class="dim">This page stands in for Stripe. No money moves, and nobody types a card number.</p>
<p class="amount">${amount}</p>
${tax}${declined === undefined ? '' : `<p class="refused" role="alert">${escape(declined)} Choose another one.</p>`}
<h2>Pay with</h2>
<form method="post">
${Object.entries(cards)
  .map(
    ([name, { label, last4 }]) =>
      `<button name="card" value="${name}"><span>${escape(label)}</span><span>···· ${last4}</span></button>`,
  )
  .join('\n')}
</form>
${back}`,
  );
}

/** @param sentence why nothing can be paid here */
export function closedPage(sentence: string): string {
  return page('Nothing to pay', `<p>${escape(sentence)}</p>`);
}

export function receiptPage(id: string): string {
  return page('Receipt', `<p>Stripe would show the receipt of ${escape(id)} here.</p>`);
}

const page = (title: string, main: string): string => titledPage(title, style, main);

function amountOf(cents: number, currency: string): string {
  return escape((cents / 100).toLocaleString('en-US', { style: 'currency', currency }));
}
