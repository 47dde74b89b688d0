/** The checks that read the source text, and the tests, which run alone or after the checks. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pc from 'picocolors';
import * as z from 'zod';

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

/** What only CI runs, by `npm test -- --long`: it takes much of a processor, or proves what faster tests prove. */
const longTests = [
  'test/api/refusal-storm.test.ts',
  'test/tables/leases/releases.test.ts',
  // test/admin/evidence-rows.test.ts proves each row without a stack.
  'test/admin/evidence.test.ts',
  'test/admin/route-health.test.ts',
  'test/whole/concurrency-conflicts.test.ts',
  'test/whole/properties.test.ts',
  'test/client/ai-sdk.test.ts',
  'test/client/storm.test.ts',
  'test/whole/clients/openai-library.test.ts',
  'test/whole/clients/recipes.test.ts',
  'test/whole/clients/broken-calls.test.ts',
  'test/client/command/listen.test.ts',
  'test/audit/large-books.test.ts',
  'test/examples/generate.test.ts',
  'test/portal/ranges-long.test.ts',
  'test/local/wrong-catalog-or-settings.test.ts',
  'test/pages/generated-year.test.ts',
  // test/payments/worker.test.ts and audit.test.ts prove the same without a stack.
  'test/whole/payments.test.ts',
  'test/admin/payments.test.ts',
  // test/pages/payments.test.ts proves each page and state that this walk joins.
  'test/pages/pay-walk.test.ts',
  'test/pages/two-tabs.test.ts',
  // test/pages/pages.test.ts and every-page.test.ts prove each page that this walk joins.
  'test/pages/whole-walk.test.ts',
  'test/pages/year-in-browser.test.ts',
  'test/recorded/recorded.test.ts',
  'test/releases/stored-records.test.ts',
  'test/releases/take-over.test.ts',
  'test/lab/simulation/cancels.test.ts',
  'test/lab/simulation/scale-long.test.ts',
  'test/lab/simulation/every-call-site.test.ts',
  'test/lab/simulation/load.test.ts',
  'test/lab/simulation/outage.test.ts',
  'test/lab/simulation/provider-down.test.ts',
  // Real processes under load are killed, stopped and copied, and a browser walks from the first link to a picture.
  // test/admin/backup-enter.test.ts proves each case of a re-entry without kills.
  'test/serve/drill.test.ts',
  'test/serve/full-disk.test.ts',
  'test/serve/keeps.test.ts',
  'test/serve/power.test.ts',
  'test/serve/walk.test.ts',
  // The package is made three times. Each of its parts has tests of its own.
  'test/start/package.test.ts',
  // The package once more, with whole syntheses. test/stack/construct.test.ts proves the construct without bundles.
  'test/start/deployment.test.ts',
  'test/stack/canary.test.ts',
  // A finding of cdk-nag ends the synthesis of test/stack/synth.test.ts. This file adds every setting.
  'test/stack/nag.test.ts',
  'test/stack/used-grants.test.ts',
  'test/vendors/whole/callbacks.test.ts',
  'test/vendors/whole/cancel.test.ts',
  'test/vendors/whole/content-credentials.test.ts',
  'test/vendors/whole/every-row.test.ts',
  'test/vendors/whole/own-comfyui.test.ts',
  'test/vendors/whole/own-gpu.test.ts',
  'test/whole/workflow/kill.test.ts',
  // test/local/disk-room.test.ts and task-tokens.test.ts prove the parts without ten starts of a process.
  'test/whole/workflow/local-process.test.ts',
  'test/whole/workflow/smoke.test.ts',
  'test/whole/workflow/webhook-reseal.test.ts',
] as const;

/** `npm test`: first the checks, and the tests only when the checks are clean. */
export async function runEverything(): Promise<Count> {
  const checks = await runChecks();
  return checks.failed === 0 ? runTests(longTests.flatMap((file) => ['--exclude', file])) : checks;
}

/** `npm test -- --long`, five files at a time, so that no request waits until its time is over. */
export async function runLongTests(): Promise<Count> {
  return runTests(['--maxWorkers=5', ...longTests]);
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
