/** The invariant of the POST rate: a minute lets through as many requests as the account's rate says, no more and no fewer. */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Asked } from '../clients/sent-request.ts';
import type { Accuse } from './money-books.ts';
import type { Invocation, World } from '../world/simulated-world.ts';

/** What a POST was in the eyes of the rate. */
type Verdict = 'counted' | 'refused' | 'not counted';

export interface RateWatch {
  /** A request is handed to its function. */
  readonly onSent: (invocation: Invocation, account: string) => void;
  /** A function answered. The answer may be lost on its way to the client. */
  readonly onServed: (invocation: Invocation) => void;
  readonly onAnswer: (
    asked: Asked,
    invocation: Invocation,
    limit: number,
    answer: APIGatewayProxyStructuredResultV2,
  ) => void;
}

interface Minute {
  sent: number;
  counted: number;
  /** A fault, or a request on both sides of the minute's turn: nothing exact can be said any more. */
  isBlurred: boolean;
}

const posts = new Set(['generate', 'quote']);
const minuteMillis = 60_000;
/** Clocks and a late answer aside, requests near the turn of the minute may be counted on the other side. */
const marginMillis = 3_000;

function verdictOf({ statusCode = 0, body }: APIGatewayProxyStructuredResultV2): Verdict {
  const { error } = JSON.parse(body ?? '{}') as { error?: { details?: { reason?: string } } };
  const reason = error?.details?.reason;
  if (reason === 'account_rate') return 'refused';
  if (
    statusCode === 401 ||
    statusCode === 403 ||
    reason === 'burst_block' ||
    reason === 'overloaded' ||
    statusCode >= 500
  )
    return 'not counted';
  return 'counted';
}

export function createRateWatch(world: World, accuse: Accuse): RateWatch {
  const minutes = new Map<string, Minute>();
  /** Whose request an invocation serves. */
  const accounts = new Map<string, string>();
  const minuteOf = (account: string, at: number): Minute => {
    const name = `${account} ${Math.floor(at / minuteMillis)}`;
    const known = minutes.get(name) ?? { sent: 0, counted: 0, isBlurred: false };
    minutes.set(name, known);
    return known;
  };

  return {
    onSent: (invocation, account) => {
      if (!posts.has(invocation.name)) return;
      accounts.set(invocation.id, account);
      const minute = minuteOf(account, invocation.startedAt);
      minute.sent += 1;
      const next = minuteOf(account, invocation.startedAt + marginMillis);
      // What comes shortly before the turn may be counted behind it.
      if (next !== minute) next.isBlurred = true;
      if (next !== minute) minute.isBlurred = true;
    },
    onServed: (invocation) => {
      const account = accounts.get(invocation.id);
      // A counter whose answer is lost counts again, and a request without an answer counts as well.
      if (account !== undefined && invocation.faults.length > 0)
        minuteOf(account, invocation.startedAt).isBlurred = true;
    },
    onAnswer: ({ account, operation }, invocation, limit, answer) => {
      if (!posts.has(operation)) return;
      const minute = minuteOf(account, invocation.startedAt);
      const end = minuteOf(account, world.time.now() + marginMillis);
      if (invocation.faults.length > 0 || end !== minute || world.clocks.largestSkew() > 0) {
        minute.isBlurred = true;
        end.isBlurred = true;
      }
      const verdict = verdictOf(answer);
      if (verdict === 'counted') minute.counted += 1;
      if (minute.isBlurred) return;
      if (minute.counted > limit)
        accuse(
          'a minute lets through no more POSTs than its rate',
          `${account}: ${minute.counted} of ${limit}`,
        );
      if (verdict === 'refused' && minute.sent <= limit)
        accuse('a POST is counted once', `${account}: refused at ${minute.sent} of ${limit}`);
    },
  };
}
