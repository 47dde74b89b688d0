/** Connections to the outside world, in memory: peers that read HTTP requests as text, and answer as they please. */
import { Duplex } from 'node:stream';
import type { World } from '../world/simulated-world.ts';

/** A request as it came over the wire; names of headers are in lower case. */
export interface PeerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a peer does behind a request: what it writes, in its order, and how it ends. */
export interface PeerAnswer {
  readonly writes: readonly (string | Uint8Array)[];
  /** 'keep' leaves the connection open for good; 'reset' breaks it; 'repeat' writes the last piece again and again. */
  readonly then: 'close' | 'reset' | 'keep' | 'repeat';
}

/** How often a piece is written again, and when. Each limit of the product lies far below the whole. */
const repeatMillis = 1_000;
const mostRepeats = 30;

/**
 * One connection. `answer` is asked once, with the first whole request; when it rejects, the connection breaks.
 * What the peer writes reaches the invocation that opened the connection as long as that invocation is awake.
 */
export function openPeer(world: World, answer: (request: PeerRequest) => Promise<PeerAnswer>): Duplex {
  const invocation = world.current();
  let received = '';
  let isAsked = false;

  /** Runs what the network does to the connection, unless the caller has closed it. */
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

/** The request, once its header and as much of a body as the header says are there. */
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
  // A header is latin1 on the wire, a body is UTF-8.
  return { method, path, headers, body: Buffer.from(body, 'latin1').toString('utf8') };
}

/** A whole answer, with its length. */
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

/** The head of an answer. */
export function headOf(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Simulated\r\n${lines.join('')}\r\n`;
}
