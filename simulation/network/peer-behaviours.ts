/** How the peers of the outside world behave, by the first part of their address's path. */
import { answerOf, headOf, type PeerAnswer } from './peer-connections.ts';

/** What a peer does that is no plain answer. A policy for each: nothing of it may hold or break the service. */
const rude = {
  /** Takes the request and never says anything. */
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

export type Rudeness = keyof typeof rude;
export const rudenesses = Object.keys(rude) as [Rudeness, ...Rudeness[]];

/** How a receiver of webhooks behaves. */
export type Behaviour = 'ok' | 'flaky' | 'broken' | 'gone' | Rudeness;

/** What an attempt at a receiver has to tell of it, where that does not depend on how often the receiver was asked. */
export const toldOf: Readonly<Record<Exclude<Behaviour, 'flaky'>, string>> = {
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
};

/** What a receiver answers to its how-manieth request for the same event. */
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
    default:
      return rude[behaviour as Rudeness];
  }
}

/** What the origin of a source image answers; a redirect of its own leads to a picture once, and to itself for ever. */
export function originAnswer(path: string, picture: Uint8Array): PeerAnswer {
  if (path.startsWith('/absent')) return answerOf(404);
  if (path.startsWith('/moved')) return answerOf(302, '', { location: '/one.png' });
  if (path.startsWith('/circle')) return answerOf(302, '', { location: path });
  const known: Readonly<Record<string, PeerAnswer>> = rude;
  return (
    known[path.slice(1, path.lastIndexOf('.'))] ?? answerOf(200, picture, { 'content-type': 'image/png' })
  );
}
