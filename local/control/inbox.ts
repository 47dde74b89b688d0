import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OnWriteFailed } from '../disk.ts';
import { joinedHeaders, readBody, refuseBody, sendJson, targetOf } from '../http.ts';
import { openJournal } from '../journal.ts';
import { isObject, parseJson } from '../json.ts';
import { inboxPage, type ReceivedWebhook } from './inbox-page.ts';
import { sendPage } from './page.ts';

/** Checks a webhook's signatures. Header names are in lower case. The body is the received text. */
export type VerifyWebhook = (webhook: {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}) => Promise<{ readonly verified: boolean; readonly detail: string }>;

export interface InboxOptions {
  /** The file of JSON lines. It is made when it is missing. */
  readonly file: string;
  readonly now: () => number;
  readonly verify: VerifyWebhook;
  readonly onReceived?: (webhook: ReceivedWebhook) => void;
  readonly onWriteFailed?: OnWriteFailed;
}

export const inboxPath = '/_local/inbox';
const maxBodyBytes = 1024 * 1024;

export type Inbox = ReturnType<typeof openInbox>;

/** A receiver for webhooks, whose content a person can read. */
export function openInbox(options: InboxOptions) {
  const { entries: webhooks, journal } = openJournal<ReceivedWebhook>(
    options.file,
    undefined,
    options.onWriteFailed,
  );

  async function receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await readBody(incoming, maxBodyBytes);
    if (body === undefined) {
      refuseBody(incoming, outgoing, 413, { message: 'Request Entity Too Large' });
      return;
    }
    const webhook = await readWebhook(incoming, body.toString('utf8'), options);
    journal.append(webhook);
    webhooks.push(webhook);
    options.onReceived?.(webhook);
    await answer(outgoing, new URLSearchParams(targetOf(incoming).query));
  }
  return {
    handle: async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
      if (incoming.method === 'POST') return receive(incoming, outgoing);
      const newestFirst = webhooks.toReversed();
      if (incoming.method !== 'GET') {
        refuseBody(incoming, outgoing, 405, { message: 'Method Not Allowed' });
        return;
      }
      if (!prefersHtml(incoming.headers.accept)) {
        sendJson(outgoing, 200, { data: newestFirst });
        return;
      }
      sendPage(outgoing, inboxPage(newestFirst, options.now()));
    },
    close: (): void => journal.close(),
  };
}

async function readWebhook(
  incoming: IncomingMessage,
  rawBody: string,
  { now, verify }: InboxOptions,
): Promise<ReceivedWebhook> {
  const headers = joinedHeaders(incoming);
  const body = parseJson(rawBody) ?? null;
  const members = isObject(body) ? body : {};
  const checked = await verify({ headers, body: rawBody }).catch((error: unknown) => ({
    verified: false,
    detail: `not checked: ${String(error)}`,
  }));
  const attempt = Number(headers['x-webhook-attempt']);
  return {
    received_at: new Date(now()).toISOString(),
    path: targetOf(incoming).path.slice(inboxPath.length),
    event: headers['x-webhook-event'] ?? headers['x-darkroom-notice'] ?? asText(members['event']),
    id: asText(members['id']),
    delivery_id: headers['x-webhook-delivery-id'] ?? null,
    attempt: Number.isInteger(attempt) ? attempt : null,
    status: asText(members['status']),
    verified: checked.verified,
    verification: checked.detail,
    image_urls: Array.isArray(members['result_urls'])
      ? members['result_urls'].filter((url) => typeof url === 'string')
      : [],
    headers,
    body,
    raw_body: rawBody,
  };
}

/** Answers 200, or as the query asks: ?status=500, ?hang=1, ?delay=2 (seconds), ?redirect=URL. */
async function answer(outgoing: ServerResponse, query: URLSearchParams): Promise<void> {
  if (query.has('hang')) return;
  const delaySeconds = Number(query.get('delay') ?? 0);
  if (delaySeconds > 0) await sleep(delaySeconds * 1_000, undefined, { ref: false });
  const redirect = query.get('redirect');
  if (redirect !== null)
    outgoing.setHeader('location', redirect.replace(/[^\x21-\x7e]/g, encodeURIComponent));
  const status = Number(query.get('status') ?? (redirect === null ? 200 : 302));
  sendJson(outgoing, status >= 200 && status <= 599 ? status : 200, { received: true });
}

function prefersHtml(accept = ''): boolean {
  const html = accept.indexOf('text/html');
  const json = accept.indexOf('application/json');
  return html >= 0 && (json < 0 || html < json);
}

function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
