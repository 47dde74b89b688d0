/** The checks that read the source text and run no test. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import pc from 'picocolors';

interface Check {
  /** By which `npm run check -- KEY` runs this check alone. */
  readonly key: string;
  readonly name: string;
  readonly command: Command;
}

/** The folders whose imports have rules. */
const rooms = [
  'admin',
  'bin',
  'client',
  'functions',
  'lab',
  'lib',
  'local',
  'portal',
  'service',
  'start',
  'test',
];

const checks: readonly Check[] = [
  {
    key: 'types',
    name: 'types and lint',
    command: ['oxlint', '--type-aware', '--type-check', '--deny-warnings'],
  },
  {
    key: 'imports',
    name: 'rules of import',
    command: ['depcruise', '--config', '.dependency-cruiser.mjs', ...rooms],
  },
  { key: 'format', name: 'format', command: ['oxfmt', '--check'] },
  { key: 'unused', name: 'unused code', command: ['knip', '--no-progress'] },
];

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

function countChecks(results: readonly boolean[]): Count {
  const passed = results.filter((isClean) => isClean).length;
  return { passed, failed: results.length - passed };
}

/**
 * All checks at the same time, and each to its end, so that one run shows all findings.
 * @param keys the checks to run; none: all of them
 */
export async function runChecks(keys: readonly string[] = []): Promise<Count> {
  const unknown = keys.find((key) => !checks.some((check) => check.key === key));
  if (unknown !== undefined) {
    const known = checks.map(({ key }) => key).join(', ');
    console.error(`npm run check -- NAME: "${unknown}" is no check. The names are ${known}.`);
    return { passed: 0, failed: 1 };
  }
  const chosen = checks.filter(({ key }) => keys.length === 0 || keys.includes(key));
  return countChecks(await Promise.all(chosen.map(runCheck)));
}

/** Runs one check, and prints its findings when there are any. True when there are none. */
async function runCheck({ name, command }: Check): Promise<boolean> {
  const { code, seconds, output } = await runProgram(command, 'to the result');
  printResult(name, code === 0, seconds);
  if (code !== 0) console.log(`\n${pc.bold(name)}\n${output.trimEnd()}`);
  return code === 0;
}

/** Prints the last line of `npm test` and of `npm run check`. Gives the exit code. */
export function printCount({ passed, failed }: Count): number {
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

type Command = readonly [program: string, ...args: string[]];

interface Ended {
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
