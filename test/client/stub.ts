/** A client whose fetch is a list of answers, and whose time passes only while the client waits. */
import { Darkroom, type DarkroomOptions, type Retry } from '../../client/src/index.ts';
import { withMachinery } from '../../client/src/http/machinery.ts';

const rootUrl = 'https://darkroom.test/api/public/v1';
export const testKey = `dk_live_${'k'.repeat(40)}`;

export interface Sent {
  readonly url: string;
  /** The path behind the root of the API, with its query. */
  readonly path: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly redirect: string | undefined;
  /** Milliseconds since the first moment of the test. */
  readonly at: number;
}

/** An answer, the error of a broken connection, or silence until the request is aborted. */
export type Reply = Response | Error | 'silence';

export interface Stub {
  readonly darkroom: Darkroom;
  readonly sent: Sent[];
  readonly retries: Retry[];
  /** Milliseconds since the first moment of the test. */
  readonly now: () => number;
}

export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

export function refusal(
  status: number,
  code: string,
  details: object = {},
  headers: Readonly<Record<string, string>> = {},
): Response {
  return json({ error: { code, message: `The message of ${code}.`, details } }, status, headers);
}

/** `replies` are the answers in order, or a function of the request. `random` is the lot of every jitter. */
export function stub(
  replies: readonly Reply[] | ((sent: Sent) => Reply),
  options: DarkroomOptions & { readonly random?: number } = {},
): Stub {
  const started = Date.UTC(2026, 10, 22, 12);
  const sent: Sent[] = [];
  const retries: Retry[] = [];
  let now = started;
  let uuids = 0;
  const open = Array.isArray(replies) ? [...(replies as readonly Reply[])] : undefined;
  const fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input);
    const one: Sent = {
      url,
      path: url.replace(rootUrl, ''),
      method: init.method ?? 'GET',
      headers: new Headers(init.headers),
      body: typeof init.body === 'string' ? JSON.parse(init.body) : init.body,
      redirect: init.redirect,
      at: now - started,
    };
    sent.push(one);
    const reply = open ? open.shift() : (replies as (sent: Sent) => Reply)(one);
    if (reply === undefined) throw new Error(`the test has no answer to ${one.method} ${one.path}`);
    if (reply === 'silence') return silence(init.signal);
    if (reply instanceof Error) throw reply;
    return reply;
  };
  const { random = 0, ...given } = options;
  const darkroom = new Darkroom(
    withMachinery(
      { apiKey: testKey, baseUrl: rootUrl, fetch, onRetry: (retry) => retries.push(retry), ...given },
      {
        now: () => now,
        random: () => random,
        uuid: () => `uuid-${(uuids += 1)}`,
        sleep: async (millis, signal) => {
          signal?.throwIfAborted();
          now += millis;
          await Promise.resolve();
        },
      },
    ),
  );
  return { darkroom, sent, retries, now: () => now - started };
}

async function silence(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    // fetch rejects with the reason of the signal, whatever the reason is.
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

export async function thrownBy(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
