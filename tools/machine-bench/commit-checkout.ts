/** A checkout of another commit, with the packages of that commit, for a comparison in one run. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Gives `work` the folder of the checkout, and removes the folder afterwards. */
export async function withCommit<Result>(
  root: string,
  commit: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-commit-'));
  try {
    await run('git', ['clone', '--quiet', '--no-checkout', root, folder]);
    await run('git', ['checkout', '--quiet', commit], { cwd: folder });
    await run('npm', ['ci', '--loglevel=error'], { cwd: folder });
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
