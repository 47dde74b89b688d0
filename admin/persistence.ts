/** Repeats urgent work until it succeeds, such as revoking a leaked key, while its errors are temporary. */
import * as z from 'zod';
import { isShed } from '../service/aws/dynamodb/send.ts';
import { OutcomeUnknown, Overloaded } from '../service/values/errors.ts';
import type { OperatorServices } from './services.ts';

/** The error codes of Node's sockets and of its name resolution. */
const connectionCodes = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);
/** The error names of the SDK's request handler. */
const timeoutNames = new Set(['AbortError', 'NetworkingError', 'RequestTimeout', 'TimeoutError']);

/** The members of an error of the SDK or of Node; a member of another type counts as absent. */
const awsErrorSchema = z.object({
  code: z.string().optional().catch(undefined),
  $metadata: z.object({ httpStatusCode: z.number().optional() }).optional().catch(undefined),
});

/** True when the same call may succeed later: after a busy table, a lost connection or answer, or an error of AWS. */
function isPassing(error: unknown): boolean {
  if (error instanceof Overloaded || error instanceof OutcomeUnknown || isShed(error)) return true;
  return isLostConnection(error);
}

/** True when no answer came, or an answer with a status of 500 or above. */
export function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, $metadata: metadata } = awsErrorSchema.parse(error);
  if ((metadata?.httpStatusCode ?? 0) >= 500 || timeoutNames.has(error.name)) return true;
  return (code !== undefined && connectionCodes.has(code)) || isLostConnection(error.cause);
}

const firstPauseMillis = 200;
const longestPauseMillis = 5_000;
const printEveryMillis = 5_000;

export interface Persistence {
  readonly services: Pick<OperatorServices, 'clock' | 'randomBytes'>;
  /** Prints a line of progress. */
  readonly tell: (line: string) => void;
}

/**
 * Repeats the work while the table is busy, while there is no connection, and after a lost answer. The work
 * must therefore be safe to repeat. Throws every lasting error at once.
 * @param what the name of the work in the lines of progress, such as "revoke the key"
 */
export async function persist<Result>(
  what: string,
  work: () => Promise<Result>,
  { services, tell }: Persistence,
): Promise<Result> {
  const { clock, randomBytes } = services;
  const began = clock.elapsed();
  let printedAt = -Infinity;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await work();
      if (attempt > 1) tell(`Try ${attempt} to ${what} succeeded.`);
      return result;
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (clock.elapsed() - printedAt >= printEveryMillis) {
        printedAt = clock.elapsed();
        const seconds = Math.round((clock.elapsed() - began) / 1000);
        const why = error instanceof Error ? error.name : String(error);
        tell(
          `Try ${attempt} to ${what} failed after ${seconds} s (${why}). It is tried again until it succeeds; Ctrl-C ends the command.`,
        );
      }
      const most = Math.min(longestPauseMillis, firstPauseMillis * 2 ** (attempt - 1));
      // Half of the pause is random, so that the tries do not meet the same other transactions each time.
      await clock.sleep(most / 2 + ((randomBytes(1)[0] ?? 0) / 256) * (most / 2));
    }
  }
}
