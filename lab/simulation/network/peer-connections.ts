/**
 * Connections to the outside world, in memory. A peer reads an HTTP request as text and writes its answer as
 * text.
 */
import { Duplex } from 'node:stream';
import type { World } from '../world/simulated-world.ts';

/** A request as it arrived at the peer. The names of its headers are in lower case. */
export interface PeerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a peer writes after a request, piece by piece, and how it ends. */
export interface PeerAnswer {
  readonly writes: readonly (string | Uint8Array)[];
  /** 'keep' leaves the connection open; 'reset' breaks it; 'repeat' writes the last piece again and again. */
  readonly then: 'close' | 'reset' | 'keep' | 'repeat';
}

/**
 * How often a piece is written again, and at which interval. Every limit of the product is reached much
 * earlier.
 */
const repeatMillis = 1_000;
const mostRepeats = 30;

/**
 * Opens one connection. It asks `answer` once, with the first complete request. When `answer` rejects, the
 * connection breaks. The invocation that opened the connection receives the pieces only while it is awake.
 */
export function openPeer(world: World, answer: (request: PeerRequest) => Promise<PeerAnswer>): Duplex {
  const invocation = world.current();
  let received = '';
  let isAsked = false;

  /** Runs an action on the connection at the caller's end, unless the caller has closed the connection. */
  const atCaller = (action: () => void): void => {
    world.whenAwake(invocation, () => {
      if (!peer.destroyed) action();
    });
  };
  const breakOff = (): void => {
    atCaller(() => peer.destroy(Object.assign(new Error('the connection broke'), { code: 'ECONNRESET' })));
  };
  const repeat = (piece: string | Uint8Array, left: number): void => {
    if (left === 0 || peer.destroyed || invocation?.dead === true) return;
    world.time.after(repeatMillis, () => {
      atCaller(() => peer.push(piece));
      repeat(piece, left - 1);
    });
  };
  const write = ({ writes, then }: PeerAnswer): void => {
    for (const piece of writes) atCaller(() => peer.push(piece));
    if (then === 'close') atCaller(() => peer.push(null));
    if (then === 'reset') breakOff();
    if (then === 'repeat') repeat(writes.at(-1) ?? '', mostRepeats);
  };

  const peer = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      received += chunk.toString('latin1');
      const request = isAsked ? undefined : wholeRequest(received);
      if (request) {
        isAsked = true;
        answer(request).then(write, breakOff);
      }
      done();
    },
  });
  return peer;
}

/** The request, once its header and its whole body have arrived. */
function wholeRequest(text: string): PeerRequest | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const body = text.slice(end + 4);
  if (body.length < Number(headers['content-length'] ?? 0)) return undefined;
  const [method = '', path = ''] = first.split(' ');
  // The header is latin1, and the body is UTF-8.
  return { method, path, headers, body: Buffer.from(body, 'latin1').toString('utf8') };
}

/** A complete answer with its content-length. */
export function answerOf(
  status: number,
  body: string | Uint8Array = '',
  headers: Readonly<Record<string, string>> = {},
): PeerAnswer {
  const bytes = Buffer.from(body);
  return {
    writes: [
      Buffer.concat([
        Buffer.from(headOf(status, { ...headers, 'content-length': String(bytes.length) })),
        bytes,
      ]),
    ],
    then: 'close',
  };
}

/** The status line and the headers of an answer. */
export function headOf(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Simulated\r\n${lines.join('')}\r\n`;
}
