/**
 * The name of an error, for the log. The message stays out of the log, because a message may hold a prompt or
 * a secret.
 */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
