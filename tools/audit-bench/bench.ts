/**
 * `npm run lab -- audit`: the function AuditBooks audits generated books, in a process of its own with the limits
 * of V8 that Lambda sets for 512 MB. One account has a cent too much, and the audit has to find nothing else.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';
import { bundleText } from '../../lib/bundling/bundle-text.ts';
import type { Row } from '../../terminal/output.ts';
import { startBooks } from './books-process.ts';

export interface AuditBench {
  readonly creations: number;
  readonly accounts: number;
  /** Lambda ends an invocation after this time. The next one continues. */
  readonly secondsEach: number;
  readonly tell: (line: string) => void;
}

const mebibyte = 1_048_576;
const megabytes = 512;
const childFile = fileURLToPath(new URL('audit-child.ts', import.meta.url));
const entry = fileURLToPath(new URL('../../functions/schedule/audit-books.ts', import.meta.url));
const run = promisify(execFile);

const reportSchema = z.object({
  seconds: z.number(),
  invocations: z.number(),
  peakBytes: z.number(),
  cpuMillis: z.number(),
  report: z.object({
    accounts: z.number(),
    creations: z.number(),
    rows: z.number(),
    differences: z.number(),
    unsettled: z.number(),
  }),
});
const differenceSchema = z.object({ what: z.string(), expected: z.number(), found: z.number() });
const alarmSchema = z.object({
  event: z.literal('books_out_of_balance'),
  accountId: z.string(),
  differences: z.array(differenceSchema),
});

export interface AuditBenchResult {
  readonly row: Row;
  /** Whether the audit found the wrong cent alone, counted everything, and stayed within 512 MB. */
  readonly isGood: boolean;
}

export async function benchAudit(bench: AuditBench): Promise<AuditBenchResult> {
  const { creations, accounts, secondsEach, tell } = bench;
  const wrong = Math.floor(accounts / 2);
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-audit-'));
  const books = await startBooks(bench, wrong);
  try {
    const file = join(folder, 'index.mjs');
    await writeFile(file, bundleText({ entryPoints: [entry] }, false));
    tell(`The audit reads ${creations} creations in ${accounts} accounts.`);
    const limits = [
      `--max-old-space-size=${Math.floor(megabytes * 0.9)}`,
      `--max-semi-space-size=${Math.floor(megabytes * 0.05)}`,
    ];
    const { stdout } = await run(process.execPath, [...limits, childFile, file, String(secondsEach)], {
      env: { ...environment, AWS_ENDPOINT_URL: books.url },
      maxBuffer: 64 * mebibyte,
    });
    const lines = stdout.trim().split('\n');
    const { seconds, invocations, peakBytes, cpuMillis, report } = reportSchema.parse(
      JSON.parse(lines.at(-1) ?? ''),
    );
    const alarms = lines.flatMap((line) => alarmSchema.safeParse(JSON.parse(line)).data ?? []);
    const readUnits = await books.readUnits();
    const [alarm] = alarms;
    const [difference] = alarm?.differences ?? [];
    const isFound =
      alarms.length === 1 &&
      alarm?.accountId.endsWith(String(wrong)) === true &&
      alarm.differences.length === 1 &&
      difference?.what === 'available' &&
      difference.found - difference.expected === 10_000;
    const each = Math.ceil(creations / accounts);
    const isCounted =
      report.accounts === accounts &&
      report.creations === each * accounts &&
      report.rows === (1 + each + Math.ceil(each / 8)) * accounts;
    const peak = Math.round(peakBytes / mebibyte);
    return {
      isGood: isFound && isCounted && report.differences === 1 && peak <= megabytes,
      row: {
        accounts: report.accounts,
        creations: report.creations,
        ledger_rows: report.rows,
        seconds: Math.round(seconds),
        invocations,
        peak_mb: peak,
        cpu_seconds: Math.round(cpuMillis / 1000),
        read_units: Math.round(readUnits),
        read_units_per_creation: Math.round((readUnits / report.creations) * 1000) / 1000,
        wrong_cent: isFound ? 'found' : 'missed',
        differences: report.differences,
        unsettled: report.unsettled,
      },
    };
  } finally {
    books.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const environment = {
  TABLE_NAME: 'books',
  METRICS_NAMESPACE: 'Darkroom',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'bench',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
};
