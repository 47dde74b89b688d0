/** Runs one program of node_modules/.bin at the root of the project. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import pc from 'picocolors';

const root = fileURLToPath(new URL('../..', import.meta.url));

export type Command = readonly [program: string, ...args: string[]];

export interface Ended {
  readonly code: number;
  /** The output of the program; empty when the program wrote to the terminal itself. */
  readonly output: string;
  readonly seconds: string;
}

/** The program has no standard input, so that it cannot wait for an answer. */
export async function runProgram(
  [program, ...args]: Command,
  printing: 'to the terminal' | 'to the result',
): Promise<Ended> {
  const started = performance.now();
  const out = printing === 'to the terminal' ? 'inherit' : 'pipe';
  const child = spawn(program, args, {
    cwd: root,
    stdio: ['ignore', out, out],
    shell: process.platform === 'win32',
  });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve(status ?? 1));
  });
  return {
    code,
    output: Buffer.concat(chunks).toString('utf8'),
    seconds: ((performance.now() - started) / 1000).toFixed(1),
  };
}

/** Prints one line about a finished check. */
export function printResult(name: string, isGood: boolean, seconds: string): void {
  console.log(`${isGood ? pc.green('✓') : pc.red('✗')} ${name.padEnd(16)} ${seconds.padStart(6)} s`);
}
