/**
 * How long Node takes to import a bundle. A cold start of the function takes this time beside Lambda's own.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Prints the milliseconds of one import. Node caches an imported module, so each measurement has its own
 * process.
 */
const measure = `
  const began = performance.now();
  const { handler } = await import(process.argv[1]);
  const millis = performance.now() - began;
  if (typeof handler !== 'function') throw new Error('the bundle has no handler');
  process.stdout.write(String(millis));
  process.exit(0);
`;

/** The milliseconds of one import. Throws when the bundle cannot be imported. */
export async function importMillis(
  module: string,
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const { stdout } = await run(
    process.execPath,
    ['--input-type=module', '-e', measure, pathToFileURL(module).href],
    {
      env: {
        ...environment,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'bench',
        AWS_SECRET_ACCESS_KEY: 'bench',
        AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      },
    },
  );
  return Number(stdout);
}

/** Gives `work` the path of a handler that does nothing. Its import time is the share of Node itself. */
export async function withBareHandler<Result>(work: (module: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-bare-'));
  try {
    const module = join(folder, 'index.mjs');
    await writeFile(module, 'export const handler = async () => ({ statusCode: 204 });\n');
    return await work(module);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
