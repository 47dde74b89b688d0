/** The checks that read the source text, and the tests, which run alone or after the checks. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pc from 'picocolors';
import * as z from 'zod';
import { synthesizedTemplate } from '../start/synthesized-template.ts';
import { longTests } from './long-tests.ts';

interface Check {
  /** By which `npm run check -- KEY` runs this check alone. */
  readonly key: string;
  readonly name: string;
  readonly command: Command;
}

/** The folders whose imports have rules. */
const rooms = 'admin bin client functions lab lib local portal service start test'.split(' ');

const checks: readonly Check[] = [
  {
    key: 'types',
    name: 'types',
    // The compiler keeps what it knows in node_modules/.cache. Both packages have a program called tsc.
    command: ['node', 'node_modules/typescript-7/bin/tsc', '--build', '.', 'client', 'portal'],
  },
  { key: 'lint', name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  {
    key: 'imports',
    name: 'rules of import',
    command: ['depcruise', '--config', '.dependency-cruiser.mjs', ...rooms],
  },
  { key: 'format', name: 'format', command: ['oxfmt', '--check'] },
  { key: 'unused', name: 'unused code', command: ['knip', '--no-progress'] },
];

interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** All checks, or those of the keys, at the same time and each to its end, so that one run shows all findings. */
export async function runChecks(keys: readonly string[] = []): Promise<Count> {
  const unknown = keys.find((key) => !checks.some((check) => check.key === key));
  if (unknown !== undefined) {
    const known = checks.map(({ key }) => key).join(', ');
    console.error(`npm run check -- NAME: "${unknown}" is no check. The names are ${known}.`);
    return { passed: 0, failed: 1 };
  }
  const chosen = checks.filter(({ key }) => keys.length === 0 || keys.includes(key));
  const results = await Promise.all(chosen.map(runCheck));
  const passed = results.filter((isClean) => isClean).length;
  return { passed, failed: results.length - passed };
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

const root = fileURLToPath(new URL('../', import.meta.url));

type Command = readonly [program: string, ...args: string[]];

interface Ended {
  readonly code: number;
  /** The output of the program; empty when the program wrote to the terminal itself. */
  readonly output: string;
  readonly seconds: string;
}

/** The program has no standard input, so that it cannot wait for an answer. */
async function runProgram(
  [program, ...args]: Command,
  printing: 'to the terminal' | 'to the result',
  environment: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const started = performance.now();
  const out = printing === 'to the terminal' ? 'inherit' : 'pipe';
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...environment },
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

function printResult(name: string, isGood: boolean, seconds: string): void {
  console.log(`${isGood ? pc.green('✓') : pc.red('✗')} ${name.padEnd(16)} ${seconds.padStart(6)} s`);
}

// Runs the tests, alone or after the checks, and counts them.

/** What this program reads of the report that `vitest --reporter=json` writes. */
const reportSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  testResults: z.array(
    z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) }),
  ),
});

/** `npm test`: first the checks, and the tests only when the checks are clean. */
export async function runEverything(): Promise<Count> {
  // The bundles of the functions are made at the same time. If that fails, the tests say why.
  const [checks] = await Promise.all([runChecks(), synthesizedTemplate().catch(() => undefined)]);
  if (checks.failed > 0) return checks;
  const count = await runTests(longTests.flatMap((file) => ['--exclude', file]));
  console.log(`CI runs ${longTests.length} more files: npm test -- --long`);
  return count;
}

/** `npm test -- --long`. */
export async function runLongTests(): Promise<Count> {
  return runTests(longTests);
}

/**
 * Where tests have their folders. A service of a test flushes each write, which takes no time in memory. Linux may
 * forbid programs in its memory, or have little of it: then the tests have their usual folder.
 */
async function testFolders(): Promise<NodeJS.ProcessEnv> {
  const memory = '/dev/shm';
  const program = join(memory, `darkroom-${process.pid}.sh`);
  try {
    const { bavail, bsize } = await statfs(memory);
    if (process.env['TMPDIR'] !== undefined || bavail * bsize < leastMemoryBytes) return {};
    await writeFile(program, '#!/bin/sh\n', { mode: 0o700 });
    await promisify(execFile)(program);
    return { TMPDIR: memory };
  } catch {
    return {};
  } finally {
    await rm(program, { force: true });
  }
}

const leastMemoryBytes = 8 * 2 ** 30;

export async function runTests(args: readonly string[]): Promise<Count> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-report-'));
  try {
    const file = join(folder, 'report.json');
    const ended = await runProgram(
      ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...args],
      'to the terminal',
      await testFolders(),
    );
    const text = await readFile(file, 'utf8').catch(() => undefined);
    const count = countTests(text, ended.code);
    printResult('tests', count.failed === 0, ended.seconds);
    return count;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The count of a vitest report. A file that does not load, or a missing report, is one failure. */
function countTests(text: string | undefined, code: number): Count {
  if (text === undefined) return { passed: 0, failed: 1 };
  const report = reportSchema.parse(JSON.parse(text));
  const broken = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  if (report.numPendingTests > 0) console.log(pc.yellow(`${report.numPendingTests} skipped`));
  const failed = report.numFailedTests + broken.length;
  return { passed: report.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
}
