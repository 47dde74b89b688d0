/** A fake vendor: a server on loopback that speaks the vendor's protocol and remembers every request. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { FailureName } from '../../../service/contract/failures.ts';

/**
 * One way in which a vendor answers, and how the creation then ends. A prompt that contains `[row:name]`
 * makes the fake answer in this way.
 */
export interface VendorRow {
  readonly row: string;
  readonly says: string;
  readonly ends: FailureName | 'completed';
  /** How many source images the request must have, so that the vendor can answer in this way. */
  readonly sources?: number;
}

export interface Received {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** The parsed body; undefined when the body is not JSON. */
  readonly json: unknown;
}

export interface Reply {
  /**
   * 'hang': the fake never answers. 'break': the fake closes the connection after it has read the request.
   */
  readonly status: number | 'hang' | 'break';
  readonly headers?: Readonly<Record<string, string>>;
  /** A plain object is sent as JSON. */
  readonly body?: object | string | Uint8Array;
}

export interface FakeVendor {
  /** The base URL for the provider. */
  readonly url: string;
  readonly received: readonly Received[];
  stop(): Promise<void>;
}

/** What can stand between us and every vendor. Each fake answers these rows, and they stand in each vendor's table. */
export const everywhereRows: readonly (VendorRow & { readonly reply: Reply })[] = [
  {
    row: 'throttled-for-a-second',
    says: '429 with Retry-After',
    ends: 'ServiceUnavailable',
    reply: { status: 429, headers: { 'retry-after': '1' }, body: 'Too many requests' },
  },
];

/**
 * A fake on a free port of loopback. `answer` gets the fake's own origin, for the addresses in its answers.
 */
export async function startFakeVendor(
  answer: (request: Received, origin: string) => Reply | Promise<Reply>,
): Promise<FakeVendor> {
  const received: Received[] = [];
  let origin = '';
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const request = await readRequest(incoming);
      received.push(request);
      const everywhere = everywhereRows.find(({ row }) => request.body.includes(`[row:${row}]`));
      const reply = everywhere?.reply ?? (await answer(request, origin));
      if (reply.status === 'hang') return;
      if (reply.status === 'break') return void incoming.socket.destroy();
      const { body = '' } = reply;
      const isJson = typeof body === 'object' && !(body instanceof Uint8Array);
      outgoing.writeHead(reply.status, {
        ...(isJson && { 'content-type': 'application/json' }),
        ...reply.headers,
      });
      outgoing.end(isJson ? JSON.stringify(body) : body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${portOf(server)}`;
  return {
    url: origin,
    received,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the fake vendor has no port');
  return address.port;
}

async function readRequest(incoming: IncomingMessage): Promise<Received> {
  const body = await buffer(incoming);
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: Object.fromEntries(
      Object.entries(incoming.headersDistinct).map(([name, lines]) => [name, lines?.join(', ')]),
    ),
    body,
    json: parsed(body),
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

export type Fields = Readonly<Record<string, unknown>>;

/** The members of a JSON object. Any other value has none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** The name of the row that a prompt asks for; undefined means an ordinary success. */
export function rowOf(prompt: unknown): string | undefined {
  return typeof prompt === 'string' ? /\[row:([\w-]+)\]/.exec(prompt)?.[1] : undefined;
}

const read = new Map<string, Fields>();

/**
 * One recorded answer of a vendor, by its name in the vendor's file. An answer has names in angle brackets, such
 * as <id>, where a real answer differs each time. Each name is replaced by its value; a name without a value
 * becomes empty. Throws when the file has no answer of this name.
 */
export function recordedAnswer(
  vendor: string,
  name: string,
  values: Readonly<Record<string, string>> = {},
): Fields {
  const answer = answersOf(vendor)[name];
  if (answer === undefined) throw new Error(`lab/vendors/answers/${vendor}.json has no answer "${name}"`);
  const text = JSON.stringify(answer);
  const filled = text.replaceAll(/<([a-z]+)>/g, (_whole, placeholder: string) => values[placeholder] ?? '');
  return fieldsOf(JSON.parse(filled));
}

function answersOf(vendor: string): Fields {
  const answers =
    read.get(vendor) ??
    fieldsOf(JSON.parse(readFileSync(new URL(`../answers/${vendor}.json`, import.meta.url), 'utf8')));
  read.set(vendor, answers);
  return answers;
}
