/** Runs the tests, alone or after the checks, and counts them. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import * as z from 'zod';
import { type Count, printResult, runChecks, runProgram } from './checks.ts';

/** What this program reads of the report that `vitest --reporter=json` writes. */
const reportSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  testResults: z.array(
    z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) }),
  ),
});

/**
 * What only CI runs, by `npm test -- --long`, because it takes much of a processor: the recorded answers of the API and
 * of the command, the work of a stored release, two outages, crowds, a thousand cancels and a fault at every call site
 * in the simulation, every row of every vendor from request to webhook, own GPUs, the audit and the pages of a year of
 * 100,000 ledger rows, the portal in two tabs, the snippets of the portal in every language, a client and the openai
 * library behind a hostile network, limits under conflicts, the grants that a whole run uses, the canary over a whole
 * service, the audit of large books, ten thousand ranges of days, two thousand strange bodies, kill -9,
 * and a few files that prove over a whole service what faster tests prove, too.
 */
const longTests = [
  'test/tables/leases/releases.test.ts',
  'test/admin/route-health.test.ts',
  'test/whole/concurrency-conflicts.test.ts',
  'test/whole/properties.test.ts',
  'test/client/ai-sdk.test.ts',
  'test/client/storm.test.ts',
  'test/whole/clients/openai-library.test.ts',
  'test/whole/clients/recipes.test.ts',
  'test/whole/clients/thousand-requests.test.ts',
  'test/client/command/listen.test.ts',
  'test/audit/large-books.test.ts',
  'test/examples/generate.test.ts',
  'test/portal/ranges-long.test.ts',
  'test/local/wrong-catalog-or-settings.test.ts',
  'test/pages/generated-year.test.ts',
  'test/pages/two-tabs.test.ts',
  'test/pages/year-in-browser.test.ts',
  'test/recorded/recorded.test.ts',
  'test/releases/stored-records.test.ts',
  'test/releases/take-over.test.ts',
  'test/lab/simulation/cancels.test.ts',
  'test/lab/simulation/crowds.test.ts',
  'test/lab/simulation/every-call-site.test.ts',
  'test/lab/simulation/load.test.ts',
  'test/lab/simulation/outage.test.ts',
  'test/lab/simulation/provider-down.test.ts',
  'test/stack/canary.test.ts',
  'test/stack/used-grants.test.ts',
  'test/vendors/whole/callbacks.test.ts',
  'test/vendors/whole/cancel.test.ts',
  'test/vendors/whole/content-credentials.test.ts',
  'test/vendors/whole/every-row.test.ts',
  'test/vendors/whole/own-comfyui.test.ts',
  'test/vendors/whole/own-gpu.test.ts',
  'test/whole/workflow/kill.test.ts',
  'test/whole/workflow/smoke.test.ts',
  'test/whole/workflow/webhook-reseal.test.ts',
] as const;

/**
 * `npm test`: first the checks, since a program that does not compile makes the failures of its tests hard to
 * understand. The tests run only when the checks are clean, and then the count is that of the tests. Otherwise
 * the count is that of the checks.
 */
export async function runEverything(): Promise<Count> {
  const checks = await runChecks();
  return checks.failed === 0 ? runTests(longTests.flatMap((file) => ['--exclude', file])) : checks;
}

/**
 * `npm test -- --long`: the tests that `npm test` leaves out. Many of them use whole processors: with four at a time,
 * no request of one waits for the others until its time is over.
 */
export async function runLongTests(): Promise<Count> {
  return runTests(['--maxWorkers=4', ...longTests]);
}

/** Runs vitest with these arguments. */
export async function runTests(args: readonly string[]): Promise<Count> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-report-'));
  try {
    const file = join(folder, 'report.json');
    const ended = await runProgram(
      ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...args],
      'to the terminal',
    );
    const text = await readFile(file, 'utf8').catch(() => undefined);
    const count = countTests(text, ended.code);
    printResult('tests', count.failed === 0, ended.seconds);
    return count;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The count of a vitest report. A test file that cannot be loaded has no failed test of its own, and a run
 * that breaks off writes no report: each of these counts as one failure.
 */
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
