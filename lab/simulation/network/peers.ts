/**
 * How webhook receivers and the origins of source images behave. The first part of the path in an address
 * decides.
 */
import { Duplex } from 'node:stream';
import type { World } from '../world/simulated-world.ts';

// Connections to the outside world, in memory. A peer reads an HTTP request as text and writes its answer as
// text.

/** A request as it arrived at the peer. The names of its headers are in lower case. */
export interface PeerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body as it arrived. */
  readonly bytes: Buffer;
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
  const bytes = Buffer.from(body, 'latin1');
  return { method, path, headers, body: bytes.toString('utf8'), bytes };
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
function headOf(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Simulated\r\n${lines.join('')}\r\n`;
}

/** The misbehaviours of peers. None of them may block or break the service. */
const rude = {
  /** Accepts the request and never answers. */
  slow: { writes: [], then: 'keep' },
  switch: { writes: [headOf(101, { connection: 'upgrade', upgrade: 'websocket' })], then: 'keep' },
  drip: { writes: [headOf(200, { 'content-length': '1000000' }), '.'], then: 'repeat' },
  'closes-at-once': { writes: [], then: 'close' },
  resets: { writes: [], then: 'reset' },
  'closes-in-the-body': {
    writes: [headOf(200, { 'content-length': '1000' }), 'the beginning'],
    then: 'close',
  },
  nonsense: { writes: ['\u0000\u0007SSH-2.0-what?\r\n\r\n'], then: 'keep' },
  'endless-header': { writes: ['HTTP/1.1 200 OK\r\n', `x-more: ${'x'.repeat(7_000)}\r\n`], then: 'repeat' },
  redirect: answerOf(302, '', { location: 'https://elsewhere.test/ok' }),
} satisfies Readonly<Record<string, PeerAnswer>>;

const rudeAnswers = new Map<string, PeerAnswer>(Object.entries(rude));

export type Rudeness = keyof typeof rude;
/** Their names, in the order of the table above. The order belongs to the seeds. */
export const rudenesses: readonly [Rudeness, ...Rudeness[]] = [
  'slow',
  'switch',
  'drip',
  'closes-at-once',
  'resets',
  'closes-in-the-body',
  'nonsense',
  'endless-header',
  'redirect',
];

/** How a receiver of webhooks behaves. */
export type Behaviour = 'ok' | 'flaky' | 'broken' | 'gone' | Rudeness;

const results = {
  ok: 'answered 204',
  broken: 'answered 500',
  gone: 'answered 410',
  slow: 'unanswered timeout',
  switch: 'answered 101',
  drip: 'unanswered timeout',
  'closes-at-once': 'unanswered connection closed',
  resets: 'unanswered connection closed',
  'closes-in-the-body': 'unanswered connection closed',
  nonsense: 'unanswered no valid http answer',
  'endless-header': 'unanswered no valid http answer',
  redirect: 'answered 302',
} satisfies Readonly<Record<Exclude<Behaviour, 'flaky'>, string>>;

/**
 * The result that an attempt must report for each behaviour of its receiver. A flaky receiver is absent,
 * because its answer depends on how often it was asked.
 */
export const expectedResults: ReadonlyMap<string, string> = new Map(Object.entries(results));

/** The answer of a receiver. `times` counts the requests for the same event, this one included. */
export function receiverAnswer(behaviour: string, times: number): PeerAnswer {
  switch (behaviour) {
    case 'ok':
      return answerOf(204);
    case 'flaky':
      return answerOf(times < 3 ? 503 : 200);
    case 'broken':
      return answerOf(500);
    case 'gone':
      return answerOf(410);
  }
  const misbehaviour = rudeAnswers.get(behaviour);
  if (!misbehaviour) throw new Error(`no receiver behaves as ${behaviour}`);
  return misbehaviour;
}

/** The answer of a source image's origin. One redirect leads to a picture, another one to itself for ever. */
export function originAnswer(path: string, picture: Uint8Array): PeerAnswer {
  if (path.startsWith('/absent')) return answerOf(404);
  if (path.startsWith('/moved')) return answerOf(302, '', { location: '/one.png' });
  if (path.startsWith('/circle')) return answerOf(302, '', { location: path });
  return (
    rudeAnswers.get(path.slice(1, path.lastIndexOf('.'))) ??
    answerOf(200, picture, { 'content-type': 'image/png' })
  );
}
