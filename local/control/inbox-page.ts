import { resultsPath } from '../front/objects.ts';
import { escape, look } from './page.ts';

const maxShown = 100;

const style = `${look}  header, main { max-width: 72rem; margin: 0 auto; }
  header { display: flex; align-items: baseline; gap: 1rem; flex-wrap: wrap; margin-bottom: 2rem; }
  main { display: grid; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); gap: 1.25rem; }
  article { overflow: hidden; border: 1px solid var(--edge); border-radius: .75rem; background: #1c1210; }
  .image { display: grid; place-items: center; height: 13rem; background: #0b0706; }
  .image img { width: 100%; height: 13rem; object-fit: cover; }
  .image span { padding: 0 1.5rem; text-align: center; }
  .facts { padding: 1rem; }
  .facts p { margin: .35rem 0 0; overflow-wrap: anywhere; }
  .row { display: flex; justify-content: space-between; gap: .5rem; align-items: center; font-weight: 600; }
  .badge { padding: .1rem .55rem; border-radius: 1rem; font-size: .8rem; font-weight: 600; white-space: nowrap; }
  .good { color: #b9f5c9; background: #12361f; } .bad { color: #ffd0c8; background: #5b1a13; }
  code { font: .82rem ui-monospace, monospace; }
  pre { overflow: auto; max-height: 16rem; margin: .75rem 0 0; padding: .75rem; border-radius: .5rem; background: #0b0706; font: .78rem/1.45 ui-monospace, monospace; }
  a { color: inherit; }
  summary { margin-top: .6rem; cursor: pointer; color: var(--dim); }
`;

// Reloads the page only when a webhook has come in, so that an opened card stays open.
const script = `
  const latest = document.body.dataset.latest;
  setInterval(async () => {
    if (document.hidden) return;
    const { data } = await (await fetch(location.href, { headers: { accept: 'application/json' } })).json();
    if (String(data.length) !== latest) location.reload();
  }, 2000);
`;

/** The inbox as one self-contained page for a person, newest first. `now` is milliseconds since 1970. */
export function inboxPage(webhooks: readonly ReceivedWebhook[], now: number): string {
  const cards = webhooks.slice(0, maxShown).map(card).join('\n');
  const empty =
    '<p class="dim">Nothing yet. Give this page\'s address as <code>webhook_url</code>, and what the service sends appears here.</p>';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Darkroom inbox</title><style>${style}</style></head>
<body data-latest="${webhooks.length}">
<header><h1>Darkroom inbox</h1><span class="dim">${webhooks.length} received · service clock ${escape(new Date(now).toISOString())} · <a href="/_local/mails">e-mails</a></span></header>
<main>${webhooks.length === 0 ? empty : cards}</main>
<script>${script}</script></body></html>
`;
}

function card(webhook: ReceivedWebhook): string {
  const badge = webhook.verified
    ? '<span class="badge good">signature verified</span>'
    : '<span class="badge bad">not verified</span>';
  const attempt = webhook.attempt === null ? '' : ` · attempt ${webhook.attempt}`;
  return `<article>${image(webhook)}<div class="facts">
<div class="row"><span>${escape(webhook.event ?? 'webhook')}</span>${badge}</div>
<p class="dim">${escape(webhook.received_at)}${attempt}${escape(webhook.path)}</p>
<p><code>${escape(webhook.id ?? '')}</code></p>
<p class="dim">${escape(webhook.verification)}</p>
<details><summary>body</summary><pre>${escape(JSON.stringify(webhook.body, null, 2))}</pre></details>
</div></article>`;
}

function image({ image_urls: [url], body }: ReceivedWebhook): string {
  const address = url === undefined ? undefined : imageAddress(url);
  if (address === undefined)
    return `<div class="image dim"><span>${escape(errorIn(body) ?? 'no image')}</span></div>`;
  return `<div class="image"><img src="${escape(address)}" alt="rendered image" loading="lazy"></div>`;
}

/** The reason of a failed creation, in the words that its client reads. */
function errorIn(body: unknown): string | undefined {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  return typeof error === 'string' ? error : undefined;
}

/** The web address to show, without this server's own port, which may have changed. */
function imageAddress(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  return url.pathname.startsWith(resultsPath) ? url.pathname : url.href;
}

/** A received webhook. A member is null when the request did not have it. */
export interface ReceivedWebhook {
  /** RFC 3339, of the virtual clock. */
  readonly received_at: string;
  /** The part of the path after /_local/inbox, such as `/name`. Empty for the inbox itself. */
  readonly path: string;
  readonly event: string | null;
  readonly id: string | null;
  readonly delivery_id: string | null;
  readonly attempt: number | null;
  readonly status: string | null;
  readonly verified: boolean;
  /** The verification's findings, for a person. */
  readonly verification: string;
  readonly image_urls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body. Null when the body is not JSON. */
  readonly body: unknown;
  readonly raw_body: string;
}
