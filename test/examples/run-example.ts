/** Runs a program of client/examples/ as a client's developer would: as it stands, in a process of its own. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from '../docs/pages.ts';

export interface Ran {
  readonly code: number | null;
  readonly printed: string;
  readonly complained: string;
}

/** The commands that run the examples, by the ending of the file. Node is the one that runs the tests. */
const interpreters = { mjs: process.execPath, py: 'python3', sh: 'bash' } as const;

export type Ending = keyof typeof interpreters;

/** What the example needs and this machine does not have; undefined when everything is there. */
export function missingFor(ending: Ending): string | undefined {
  const needed = { mjs: [], py: ['python3'], sh: ['bash', 'curl'] }[ending];
  return needed.find((program) => spawnSync(program, ['--version']).status !== 0);
}

export async function runExample(
  ending: Ending,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ran> {
  const child = spawn(interpreters[ending], [join(root, `client/examples/generate.${ending}`), ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { printed: '', complained: '' };
  child.stdout.on('data', (chunk: Buffer) => (texts.printed += String(chunk)));
  child.stderr.on('data', (chunk: Buffer) => (texts.complained += String(chunk)));
  await once(child, 'close');
  return { code: child.exitCode, ...texts };
}
