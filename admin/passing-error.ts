/** Which errors of AWS and of the network pass by themselves. */
import { isShed } from '../adapters/dynamodb/shed.ts';
import { OutcomeUnknown, Overloaded } from '../core/ports/requests.ts';

/** Of Node's sockets and of its look-up of names. */
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
/** Of the SDK's handler of requests. */
const timeoutNames = new Set(['AbortError', 'NetworkingError', 'RequestTimeout', 'TimeoutError']);

/** True when the same call may succeed later: a busy table, a lost connection or answer, an error of AWS's own. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Overloaded || error instanceof OutcomeUnknown || isShed(error)) return true;
  return isLostConnection(error);
}

/** True when no answer came, or one of 500 and above. */
export function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, $metadata } = error as { code?: unknown; $metadata?: { httpStatusCode?: number } };
  if (($metadata?.httpStatusCode ?? 0) >= 500 || timeoutNames.has(error.name)) return true;
  return (typeof code === 'string' && connectionCodes.has(code)) || isLostConnection(error.cause);
}
