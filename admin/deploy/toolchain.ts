/**
 * The packages of the CDK, which only a deployment needs: installed at their first use, in exact versions.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { OperatorError } from '../operator-error.ts';

const lockSchema = z.object({ packages: z.object({ '': z.record(z.string(), z.unknown()) }) });

/**
 * Returns the folder with node_modules, in the user's cache.
 * @param lockFile the shipped package-lock.json
 */
export async function toolchain(lockFile: URL, tell: (line: string) => void): Promise<string> {
  const lock = readFileSync(lockFile, 'utf8');
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: windows } = process.env;
  const cache = join(xdg ?? windows ?? join(homedir(), '.cache'), 'darkroom');
  const folder = join(cache, `cdk-${createHash('sha256').update(lock).digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  tell(`Installing the CDK into ${folder}, once …`);
  mkdirSync(cache, { recursive: true });
  // A broken installation must not leave a folder that seems complete.
  const fresh = mkdtempSync(`${folder}-`);
  try {
    writeFileSync(
      join(fresh, 'package.json'),
      JSON.stringify(lockSchema.parse(JSON.parse(lock)).packages['']),
    );
    writeFileSync(join(fresh, 'package-lock.json'), lock);
    const code = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: fresh,
      shell: process.platform === 'win32',
    });
    if (code !== 0) throw new OperatorError('The CDK could not be installed: npm says above why.');
    try {
      renameSync(fresh, folder);
    } catch (error) {
      // Another command installed the same at the same time.
      if (!existsSync(folder)) throw error;
    }
    return folder;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/**
 * Runs a program on the terminal of the command. Returns its exit code, which is 1 when a signal ended it.
 */
export async function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly shell?: boolean } = {},
): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', ...options });
  return new Promise((resolve, reject) => {
    child.on('error', ({ message }) => reject(new OperatorError(`${program} cannot be started: ${message}`)));
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
