/** What the tests of outbound calls share: a server that records requests, and services that a test controls. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import { afterAll, beforeEach } from 'vitest';
import { createOutbound, type OutboundServices } from '../../service/outbound/outbound.ts';
import type { Connect } from '../../service/outbound/pinned-exchange.ts';
import type { Clock, TimeLimit } from '../../service/values/runtime.ts';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

interface ReceivedRequest {
  /** The method and the path. */
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  body: string;
}

interface RecordingServer {
  readonly port: number;
  readonly url: (path?: string) => string;
  /** The requests so far, which a test may clear. */
  readonly received: ReceivedRequest[];
  /** Decides how the server answers from now on. */
  readonly answerBy: (handle: Handle) => void;
  readonly stop: () => void;
}

/** A recording server for the tests of one file. It forgets its requests before each test. */
export async function recordingServer(): Promise<RecordingServer> {
  const server = await startRecordingServer();
  beforeEach(() => {
    server.received.length = 0;
  });
  afterAll(() => server.stop());
  return server;
}

/** Starts a server on loopback that records each request. */
async function startRecordingServer(): Promise<RecordingServer> {
  let handle: Handle = () => undefined;
  const received: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const entry = {
      line: `${request.method ?? ''} ${request.url ?? ''}`,
      headers: request.headers,
      body: '',
    };
    received.push(entry);
    request.on('data', (chunk: Buffer) => (entry.body += chunk.toString()));
    request.on('end', () => handle(request, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: (path = '/') => `http://127.0.0.1:${port}${path}`,
    received,
    answerBy: (next) => (handle = next),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Answers every request with this status, body and headers. */
export const answering =
  (
    status: number,
    body: string | Buffer = '',
    headers: Readonly<Record<string, string | string[]>> = {},
  ): Handle =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

/** Time limits that never end. They count how many of them were released. */
export function openLimits(): Pick<Clock, 'timeout'> & {
  readonly asked: number[];
  readonly released: () => number;
} {
  const asked: number[] = [];
  let released = 0;
  return {
    asked,
    released: () => released,
    timeout: (millis): TimeLimit => {
      asked.push(millis);
      return { signal: new AbortController().signal, release: () => (released += 1) };
    },
  };
}

/** A signal that never aborts. */
export const never = new AbortController().signal;

/** Outbound calls whose time limits never end, unless the test gives another clock. */
export const outbound = (
  services: Partial<OutboundServices> = {},
  rules: 'public' | 'loopback-too' = 'loopback-too',
) => createOutbound(rules, { clock: openLimits(), ...services });

/** A connection that ends before a byte is sent, with this error if there is one. */
export const failing =
  (error?: Error): Connect =>
  () => {
    const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
    setImmediate(() => socket.destroy(error));
    return socket;
  };
