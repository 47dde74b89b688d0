/**
 * `npm test`: everything that has to hold, cheapest first. Types, rules of import and
 * unused code are looked at side by side; the tests run when they are clean, since a
 * program that does not compile makes every test's failure a riddle. Lint takes longest
 * and makes no riddles: it goes on beside the tests.
 *
 *   npm test                      all of it
 *   npm test -- test/core -t key  vitest alone, with these arguments
 *
 * The last line is always "N passed, N failed": of the tests, a failed lint counted as
 * one, or of the checks when they kept the tests from running.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pc from 'picocolors';

const root = fileURLToPath(new URL('..', import.meta.url));
const rooms = [
  'adapters',
  'admin',
  'bin',
  'catalog',
  'config',
  'core',
  'functions',
  'lib',
  'local',
  'simulation',
  'start',
  'test',
  'tools',
];

interface Check {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

const lint: Check = { name: 'lint', command: ['eslint', '.'] };
const checks: readonly Check[] = [
  { name: 'types', command: ['tsc', '--noEmit', '-p', '.'] },
  { name: 'rules of import', command: ['depcruise', '--config', '.dependency-cruiser.mjs', ...rooms] },
  { name: 'format', command: ['prettier', '--check', '--log-level', 'warn', '--cache', '.'] },
  { name: 'unused code', command: ['knip', '--no-progress'] },
];

interface Count {
  readonly passed: number;
  readonly failed: number;
}

interface Ended {
  readonly code: number;
  /** What it printed; empty when it printed to the terminal itself. */
  readonly output: string;
  readonly seconds: string;
}

/** Runs a program of node_modules/.bin without a terminal to ask anything of. */
async function run(
  [program, ...args]: readonly [string, ...string[]],
  printing: 'shown' | 'kept',
): Promise<Ended> {
  const started = performance.now();
  const out = printing === 'shown' ? 'inherit' : 'pipe';
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

function report(name: string, isGood: boolean, seconds: string): void {
  console.log(`${isGood ? pc.green('✓') : pc.red('✗')} ${name.padEnd(16)} ${seconds.padStart(6)} s`);
}

/** Whether it is clean; what it found is printed when it is not. */
async function runCheck({ name, command }: Check): Promise<boolean> {
  const { code, seconds, output } = await run(command, 'kept');
  report(name, code === 0, seconds);
  if (code !== 0) console.log(`\n${pc.bold(name)}\n${output.trimEnd()}`);
  return code === 0;
}

function countChecks(results: readonly boolean[]): Count {
  const passed = results.filter((isClean) => isClean).length;
  return { passed, failed: results.length - passed };
}

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

async function runTests(args: readonly string[]): Promise<Count> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-report-'));
  try {
    const file = join(folder, 'report.json');
    const ended = await run(
      ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...args],
      'shown',
    );
    const text = await readFile(file, 'utf8').catch(() => undefined);
    const count = countOf(text, ended.code);
    report('tests', count.failed === 0, ended.seconds);
    return count;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A file that could not be loaded has no failed test, and a run without a report not even a file: both count as one failure. */
function countOf(text: string | undefined, code: number): Count {
  if (text === undefined) return { passed: 0, failed: 1 };
  const {
    numPassedTests: passed,
    numFailedTests,
    numPendingTests: skipped,
    testResults,
  } = JSON.parse(text) as VitestReport;
  const broken = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  if (skipped > 0) console.log(pc.yellow(`${skipped} skipped`));
  const failed = numFailedTests + broken.length;
  return { passed, failed: failed === 0 && code !== 0 ? 1 : failed };
}

async function everything(args: readonly string[]): Promise<Count> {
  if (args.length > 0) return runTests(args);
  const linting = runCheck(lint);
  // All of them, so that one run tells everything that is wrong.
  const results = await Promise.all(checks.map(runCheck));
  if (results.includes(false)) return countChecks([...results, await linting]);
  const tests = await runTests([]);
  return (await linting) ? tests : { ...tests, failed: tests.failed + 1 };
}

const { passed, failed } = await everything(process.argv.slice(2));
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
