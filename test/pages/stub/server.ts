/**
 * A stand-in of the portal's API over a real socket, with the built pages and their content security policy. It
 * answers samples, or what a test sets instead: refusals, conflicts, silence.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import {
  type PortalOperationName,
  portalOperations,
  portalRoot,
  signInParameters,
} from '../../../service/contract/operations.ts';
import { type Answers, answersOf, type Asked } from './answers.ts';
import { picture } from './picture.ts';
import { type Samples, samplesAt } from './samples.ts';

export interface Refused {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Received {
  readonly operation: PortalOperationName;
  readonly id: string;
  readonly query: string;
  readonly body: unknown;
  readonly headers: IncomingMessage['headers'];
}

export interface Stub {
  readonly url: string;
  readonly samples: Samples;
  /** Every request since the last reset. */
  readonly received: readonly Received[];
  /** Paths outside of the API, such as those of the sign-in. */
  readonly visited: readonly string[];
  /** Answers the operation in another way, until the reset. */
  answer<Name extends PortalOperationName>(name: Name, answer: Answers[Name]): void;
  refuse(name: PortalOperationName, refusal: Refused): void;
  /** Breaks the connection instead of answering. */
  breakOff(name: PortalOperationName): void;
  /** Gives no answer until the reset. */
  hold(name: PortalOperationName): void;
  reset(): void;
  end(): Promise<void>;
}

/** The answer of one operation. Which one it is, the type does not say. */
type Answer = (asked: Asked<PortalOperationName>) => unknown;
type Reply = Answer | Refused | 'broken' | 'held';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** @param folder what buildPortal made with the base */
export async function startStub(folder: string, base: string, nowMillis: number): Promise<Stub> {
  const samples = samplesAt(nowMillis);
  const usual = answersOf(samples);
  const others = new Map<PortalOperationName, Reply>();
  const received: Received[] = [];
  const visited: string[] = [];

  const server = createServer((incoming, outgoing) => {
    void handle(incoming, outgoing).catch((error: unknown) => {
      outgoing.statusCode = 500;
      outgoing.end(String(error));
    });
  });

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://stub');
    if (url.pathname.startsWith(portalRoot)) return api(url, incoming, outgoing);
    if (url.pathname.startsWith('/stub/picture')) {
      outgoing.setHeader('content-type', 'image/svg+xml');
      outgoing.end(picture(url.pathname));
      return;
    }
    if (!url.pathname.startsWith(base)) {
      visited.push(`${incoming.method ?? ''} ${url.pathname}${url.search}`);
      // As the issuer does after the sign-in: it leads back to the page.
      const back = url.searchParams.get(signInParameters.returnTo);
      if (back !== null) outgoing.setHeader('location', back);
      outgoing.statusCode = back === null ? 204 : 302;
      outgoing.end();
      return;
    }
    const name = url.pathname.slice(base.length);
    const file = name.includes('.') ? name : 'index.html';
    outgoing.setHeader('content-security-policy', policy);
    outgoing.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream');
    outgoing.end(await readFile(join(folder, file)));
  }

  async function api(url: URL, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const found = operationAt(incoming.method ?? '', url.pathname.slice(portalRoot.length));
    if (!found) throw new Error(`No operation at ${incoming.method ?? ''} ${url.pathname}`);
    const text = await textOf(incoming);
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const { name, id } = found;
    received.push({ operation: name, id, query: url.search, body, headers: incoming.headers });
    const reply = others.get(name) ?? usual[name];
    outgoing.setHeader('x-request-id', 'req_5f0b7c1e');
    if (reply === 'broken') {
      incoming.socket.destroy();
      return;
    }
    if (reply === 'held') return;
    if (typeof reply !== 'function') {
      outgoing.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
      const { code, message, details = {} } = reply;
      outgoing.end(JSON.stringify({ error: { code, message, details } }));
      return;
    }
    const headers: Record<string, string> = {};
    const answer = reply({ id, query: url.searchParams, body, headers } as never);
    for (const [header, value] of Object.entries(headers)) outgoing.setHeader(header, value);
    outgoing.setHeader('content-type', typeof answer === 'string' ? 'text/csv' : 'application/json');
    outgoing.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  }

  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${base}`,
    samples,
    received,
    visited,
    answer: (name, answer) => void others.set(name, answer),
    refuse: (name, refusal) => void others.set(name, refusal),
    breakOff: (name) => void others.set(name, 'broken'),
    hold: (name) => void others.set(name, 'held'),
    reset: () => {
      others.clear();
      received.length = 0;
      visited.length = 0;
    },
    end: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function operationAt(
  method: string,
  path: string,
): { readonly name: PortalOperationName; readonly id: string } | undefined {
  const steps = path.split('/');
  for (const [name, operation] of Object.entries(portalOperations)) {
    const pattern = operation.path.split('/');
    if (operation.method !== method || pattern.length !== steps.length) continue;
    const fits = pattern.every((step, index) => step === '{id}' || step === steps[index]);
    if (!fits) continue;
    const place = pattern.indexOf('{id}');
    return { name: name as PortalOperationName, id: decodeURIComponent(steps[place] ?? '') };
  }
  return undefined;
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of incoming) parts.push(chunk as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
