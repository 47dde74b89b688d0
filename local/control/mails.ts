/** The page of the e-mails that SNS would send, with the links that they have. It is for a person and for tests. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SentMail, Topics } from '../aws/topics.ts';
import { refuseBody, sendJson, targetOf } from '../http.ts';
import { escape, look, sendPage } from './page.ts';

export const mailsPath = '/_local/mails';

const style = `${look}  header, main { max-width: 48rem; margin: 0 auto; }
  article { margin: 1.25rem 0; padding: 1rem; border: 1px solid var(--edge); border-radius: .75rem; background: #1c1210; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; }
  a { color: var(--lamp); }
`;

export function createMailPage(topics: Pick<Topics, 'mails' | 'confirm' | 'unsubscribe'>) {
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (incoming.method !== 'GET') {
      refuseBody(incoming, outgoing, 405, { message: 'Method Not Allowed' });
      return;
    }
    const { path, query } = targetOf(incoming);
    const parameters = new URLSearchParams(query);
    const newestFirst = topics.mails().toReversed();
    if (path === `${mailsPath}/confirm`) {
      const isDone = topics.confirm(parameters.get('token') ?? '');
      sendPage(outgoing, pageOf(isDone ? 'The subscription is confirmed.' : 'The link is not valid.', []));
    } else if (path === `${mailsPath}/unsubscribe`) {
      const isDone = topics.unsubscribe(parameters.get('subscription') ?? '');
      sendPage(outgoing, pageOf(isDone ? 'The subscription has ended.' : 'The link is not valid.', []));
    } else if (incoming.headers.accept?.includes('text/html') === true)
      sendPage(outgoing, pageOf(`${newestFirst.length} e-mails`, newestFirst));
    else sendJson(outgoing, 200, { data: newestFirst });
  };
}

function pageOf(words: string, mails: readonly SentMail[]): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Darkroom e-mails</title><style>${style}</style></head>
<body><header><h1>Darkroom e-mails</h1><p class="dim">${escape(words)} · <a href="${mailsPath}">all e-mails</a></p></header>
<main>${mails.map(card).join('\n')}</main></body></html>
`;
}

function card({ at, to, from, subject, text, token, subscription }: SentMail): string {
  const link =
    token === undefined
      ? `<a href="${mailsPath}/unsubscribe?subscription=${encodeURIComponent(subscription ?? '')}">Unsubscribe</a>`
      : `<a href="${mailsPath}/confirm?token=${encodeURIComponent(token)}">Confirm subscription</a>`;
  return `<article><h2>${escape(subject)}</h2><p class="dim">${escape(at)} · from ${escape(from)} · to ${escape(to)}</p>
<pre>${escape(text)}</pre><p>${link}</p></article>`;
}
