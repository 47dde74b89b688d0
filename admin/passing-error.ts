/** Tells temporary errors of AWS and of the network from lasting errors. */
import * as z from 'zod';
import { isShed } from '../service/aws/dynamodb/send.ts';
import { OutcomeUnknown, Overloaded } from '../service/values/errors.ts';

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

/**
 * True when the same call may succeed later: after a busy table, a lost connection or answer, or an error of
 * AWS.
 */
export function isPassing(error: unknown): boolean {
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
