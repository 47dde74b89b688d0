/** What a line of the log may say of something thrown: its name, since a message may hold what no log may. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
