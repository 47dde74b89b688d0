/**
 * How webhook receivers and the origins of source images behave. The first part of the path in an address
 * decides.
 */
import { answerOf, headOf, type PeerAnswer } from './peer-connections.ts';

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
