/** `npm run simulate -- --load crowd` and `--load one-account`: its flags, its workers, and what it prints. */
import { wholeNumber } from '../../../../client/command/terminal/whole-number.ts';
import { runWorker } from '../../workers.ts';
import type { LoadProgress } from '../run-load.ts';
import {
  type AskedCrowd,
  crowdPlan,
  type CrowdPlan,
  type CrowdReport,
  quotaKinds,
  vendorKinds,
} from './scale-measures.ts';

export interface CrowdFlags {
  readonly load: string;
  readonly rate?: string;
  readonly minutes?: string;
  readonly seconds: string;
  readonly vendor?: string;
  readonly quotas?: string;
  readonly accounts?: string;
  readonly capacity?: string;
  readonly start: string;
  readonly seed?: string;
  readonly workers: string;
  readonly json?: boolean;
}

export const crowdSituations: readonly string[] = ['crowd', 'one-account'];

/** The rates of the table in docs/simulation.md. */
const usualRates = { crowd: [10, 100, 300, 1_000], 'one-account': [20, 50] } as const;
const starts = ['warm', 'cold'] as const;
const progressMillis = 5_000;

/** Runs one crowd for each rate, vendor and kind of quotas. Resolves with whether all promises held. */
export async function simulateCrowd(flags: CrowdFlags): Promise<boolean> {
  const plans = plansOf(flags);
  if (!plans) return false;
  const running = new Map<CrowdPlan, LoadProgress>();
  const timer = setInterval(() => {
    for (const [plan, progress] of running) console.error(lineOf(plan, progress));
  }, progressMillis);
  const done: { readonly report: CrowdReport; readonly wrong: readonly string[] }[] = [];
  const queue = plans.values();
  const runLane = async (): Promise<void> => {
    for (const plan of queue) {
      await runWorker({ kind: 'crowd', plan }, (message) => {
        if (message.kind === 'loading') running.set(plan, message.progress);
        if (message.kind !== 'crowd') return;
        done.push(message);
        if (!flags.json) printOne(message.report, message.wrong);
      });
      running.delete(plan);
    }
  };
  await Promise.all(Array.from({ length: wholeNumber('--workers', flags.workers) }, runLane));
  clearInterval(timer);
  if (flags.json) console.log(JSON.stringify(done, undefined, 2));
  return done.length === plans.length && done.every(({ wrong }) => wrong.length === 0);
}

function printOne(report: CrowdReport, wrong: readonly string[]): void {
  printCrowd(report);
  for (const line of wrong) console.log(`VIOLATION ${line}`);
}

/** Undefined when a flag has a wrong value, which is printed. */
function plansOf(flags: CrowdFlags): CrowdPlan[] | undefined {
  const situation = flags.load === 'one-account' ? 'one-account' : 'crowd';
  const vendors = chosen('--vendor', flags.vendor, vendorKinds);
  // One account meets the limits of its own items, which no quota raises.
  const quotas = chosen('--quotas', flags.quotas, situation === 'crowd' ? quotaKinds : (['raised'] as const));
  const [start] = chosen('--start', flags.start, starts) ?? [];
  if (!vendors || !quotas || !start) return undefined;
  const rates = flags.rate === undefined ? usualRates[situation] : [wholeNumber('--rate', flags.rate)];
  const asked: Omit<AskedCrowd, 'perSecond' | 'vendor' | 'quotas'> = {
    situation,
    start,
    renderSeconds: wholeNumber('--seconds', flags.seconds),
    ...(flags.minutes !== undefined && { lengthSeconds: 60 * wholeNumber('--minutes', flags.minutes) }),
    ...(flags.accounts !== undefined && { accounts: wholeNumber('--accounts', flags.accounts) }),
    ...(flags.capacity !== undefined && { serviceCapacity: wholeNumber('--capacity', flags.capacity) }),
    ...(flags.seed !== undefined && { seed: wholeNumber('--seed', flags.seed, 0) }),
  };
  return rates.flatMap((perSecond) =>
    vendors.flatMap((vendor) =>
      quotas.map((kind) => crowdPlan({ ...asked, perSecond, vendor, quotas: kind })),
    ),
  );
}

/** The one value that a flag names, or all when it is absent. */
function chosen<Value extends string>(
  flag: string,
  text: string | undefined,
  values: readonly Value[],
): readonly Value[] | undefined {
  if (text === undefined) return values;
  const found = values.filter((value) => value === text);
  if (found.length > 0) return found;
  console.error(`${flag}: ${JSON.stringify(text)} must be one of ${values.join(', ')}.`);
  return undefined;
}

function lineOf(
  { perSecond, vendor, quotas }: CrowdPlan,
  { seconds, ofSeconds, accepted, open }: LoadProgress,
): string {
  const name = `${perSecond}/s, ${vendor}, ${quotas}`;
  return `${name}: ${seconds} of ${Math.round(ofSeconds)} virtual seconds, ${accepted} creations, ${open} open`;
}

const shownLimits = 6;

function printCrowd(report: CrowdReport): void {
  const { plan, requests, limits, openShares } = report;
  const who = plan.situation === 'crowd' ? `${plan.accounts} accounts` : 'one account';
  console.log(
    `\n${plan.perSecond} a second for ${Math.round(plan.lengthSeconds)} s from ${who}, a ${plan.vendor} vendor of ` +
      `${plan.renderSeconds} s, ${plan.quotas} quotas`,
  );
  console.log(
    `${requests} requests: ${report.accepted} accepted (${shareOf(report.accepted, requests)}), ` +
      `refused: ${listOf(report.refused)}; refused polls: ${listOf(report.refusedPolls)} of ${report.polls}\n` +
      `${report.completed} completed, ${report.failed} failed, ${report.stillOpen} still open, ` +
      `${report.startsUnclear} were not started at once\n` +
      `Image after ${secondsOf(report.imageSeconds)}; the client knows after ${secondsOf(report.seenSeconds)}\n` +
      `Most open: ${report.mostOpen} of ${plan.serviceCapacity}${
        openShares
          ? `; when full, between ${openShares.map((share) => `${(100 * share).toFixed(1)} %`).join(' and ')}`
          : ''
      }\n` +
      `Concurrency: ${report.peakConcurrency} of ${plan.aws.concurrency} at most ` +
      `(${listOf(report.peakByFunction)})\n` +
      `${report.costPerThousand.toFixed(4)} USD for 1,000; ${perOne(report.writeUnits, report)} write units and ` +
      `${perOne(report.readUnits, report)} read units for one`,
  );
  if (limits.length === 0) console.log('No limit refused anything');
  for (const { limit, count, firstAtSeconds } of limits.slice(0, shownLimits))
    console.log(`Limit: ${limit}, ${count} times, first after ${firstAtSeconds.toFixed(1)} s`);
  const { accounts, creations } = report.audited;
  console.log(
    `Audit of ${accounts} accounts and ${creations} creations: ${report.differences.length} differences`,
  );
}

function listOf(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts);
  return entries.length === 0 ? 'none' : entries.map(([name, count]) => `${count} × ${name}`).join(', ');
}

function secondsOf([median = 0, late = 0, slowest = 0]: readonly number[]): string {
  return `${median.toFixed(1)} s (median), ${late.toFixed(1)} s (99 %), ${slowest.toFixed(1)} s (slowest)`;
}

function shareOf(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(2)} %`;
}

function perOne(units: number, { completed }: CrowdReport): string {
  return (units / Math.max(1, completed)).toFixed(1);
}
