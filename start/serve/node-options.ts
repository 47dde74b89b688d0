/** Node's own options for the service, which a program cannot give itself while it runs. */

/** The young generation of `npm start` (package.json), and half of the memory for the tables. */
export function nodeOptions(memoryMegabytes: number | undefined): readonly string[] {
  const semiSpace = '--max-semi-space-size=8';
  if (memoryMegabytes === undefined) return [semiSpace];
  return [semiSpace, `--max-old-space-size=${Math.floor(memoryMegabytes / 2)}`];
}

/** The words after Node that begin `darkroom serve`, in a clone or in the package. */
export function serveWords(program: string, serve: string): readonly string[] {
  return program.endsWith('.ts') ? [serve] : [program, 'serve'];
}

/**
 * Starts the program again, as the same process, unless it has its options. On Windows it continues without
 * them.
 */
export function beginWith(wanted: readonly string[], words: readonly string[]): void {
  const given = process.execArgv.map((one) => one.split('=', 1)[0]);
  const missing = wanted.filter((one) => !given.includes(one.split('=', 1)[0]));
  if (missing.length === 0 || process.platform === 'win32') return;
  const all = [process.execPath, ...process.execArgv, ...missing, ...words];
  process.execve?.(process.execPath, all, process.env);
}
