/** A REST API of the tests, with one small function behind it that streams its answer. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
  type Server,
} from 'node:http';
import { afterEach } from 'vitest';
import { createRestApi } from '../../local/gateway/rest-api.ts';
import { listenOnLoopback } from '../../local/http.ts';
import type { LocalRestApi } from '../../local/template/apis.ts';
import { createRunner, type Running, type RunOptions } from './lambda-fixture.ts';

interface RestOptions extends RunOptions {
  readonly routes?: readonly string[];
  readonly silenceMillis?: number;
  /** How long API Gateway waits for the end of an answer. */
  readonly waitMillis?: number;
  readonly throttles?: () => boolean;
}

export interface Sent {
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

export interface Whole {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Whether the answer came to its end. */
  readonly isWhole: boolean;
}

export interface Rest extends Running {
  readonly port: number;
  /** Sends a request, and gives the whole answer. */
  readonly send: (method: string, path: string, sent?: Sent) => Promise<Whole>;
  /** Sends a request, and gives the answer as soon as its head is there. */
  readonly open: (method: string, path: string, sent?: Sent) => Promise<IncomingMessage>;
}

const answerOf = (
  status: number,
  code: string,
  retryAfter?: string,
): LocalRestApi['answers']['THROTTLED'] => ({
  status,
  headers: {
    'x-request-id': 'context.requestId',
    ...(retryAfter !== undefined && { 'Retry-After': `'${retryAfter}'` }),
  },
  body: JSON.stringify({ code }),
});

/** Makes the `rest` of one test file. Each call starts one API at the stage `shop`; the API ends with its test. */
export function createRestRunner(): (code: string, options?: RestOptions) => Promise<Rest> {
  const run = createRunner();
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });
  return async (code, options = {}) => {
    const running = run(code, { streams: true, ...options });
    const api = createRestApi({
      api: {
        id: 'Shop',
        stage: 'shop',
        routes: (options.routes ?? ['ANY /']).map((routeKey) => ({
          routeKey,
          functionId: running.id,
          timeoutMillis: options.waitMillis ?? 10_000,
        })),
        binaryTypes: ['multipart/form-data'],
        answers: {
          DEFAULT_4XX: answerOf(404, 'unknown'),
          DEFAULT_5XX: answerOf(503, 'busy', '5'),
          REQUEST_TOO_LARGE: answerOf(413, 'large'),
          THROTTLED: answerOf(429, 'throttled', '5'),
          WAF_FILTERED: answerOf(403, 'blocked'),
        },
      },
      functions: running.functions,
      now: () => Date.UTC(2026, 10, 21, 3, 4, 5),
      ...(options.silenceMillis !== undefined && { silenceMillis: options.silenceMillis }),
      ...(options.throttles && { throttles: options.throttles }),
    });
    server = createServer((incoming, outgoing) => void api.handle(incoming, outgoing));
    const port = await listenOnLoopback(server);
    const open: Rest['open'] = (method, path, { headers = {}, body } = {}) =>
      new Promise((resolve, reject) => {
        const outgoing = httpRequest(
          { port, host: '127.0.0.1', method, path, headers, agent: false },
          resolve,
        );
        outgoing.on('error', reject);
        outgoing.end(body);
      });
    return { ...running, port, open, send: async (...request) => wholeOf(await open(...request)) };
  };
}

/** Reads an answer to its end, or until its connection is cut. */
export async function wholeOf(incoming: IncomingMessage): Promise<Whole> {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => {
    incoming.on('end', resolve);
    incoming.on('error', resolve);
  });
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    body: Buffer.concat(chunks),
    isWhole: incoming.complete,
  };
}
