/** Sends a webhook to a server of the developer, once. */
import * as http from 'node:http';
import * as https from 'node:https';

export interface Forwarding {
  readonly url: URL;
  /** Accepts every certificate of an https server. */
  readonly skipVerify: boolean;
  readonly timeoutMillis: number;
  readonly signal: AbortSignal;
}

/** How an attempt ended. */
export type Forwarded =
  | { readonly kind: 'answered'; readonly status: number }
  /** The server has taken the request, and said nothing in time. */
  | { readonly kind: 'silent' }
  /** The connection was refused, or the server ended before its answer. */
  | { readonly kind: 'away'; readonly code: string }
  /** The certificate is not trusted. No repetition changes this. */
  | { readonly kind: 'untrusted'; readonly code: string };

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS/;

export async function forward(
  { url, skipVerify, timeoutMillis, signal }: Forwarding,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<Forwarded> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      // A kept connection may have been closed by a server that restarted.
      agent: false as const,
      signal,
    };
    const request =
      url.protocol === 'https:'
        ? https.request(url, { ...options, rejectUnauthorized: !skipVerify })
        : http.request(url, options);
    const timer = setTimeout(() => {
      resolve({ kind: 'silent' });
      request.destroy();
    }, timeoutMillis);
    request.on('response', (response) => {
      resolve({ kind: 'answered', status: response.statusCode ?? 0 });
      response.on('error', () => undefined);
      response.resume();
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The reason of a signal is thrown as it is.
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors
      if (signal.aborted) reject(signal.reason);
      const code = error.code ?? error.message;
      resolve({ kind: certificateCodes.test(code) ? 'untrusted' : 'away', code });
    });
    request.on('close', () => {
      clearTimeout(timer);
      resolve({ kind: 'away', code: 'ECONNRESET' });
    });
    request.end(body);
  });
}

/** The address may lack its scheme: `localhost:3000/hooks`. */
export function forwardUrl(text: string): URL | undefined {
  const full = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  try {
    return new URL(full);
  } catch {
    return undefined;
  }
}
