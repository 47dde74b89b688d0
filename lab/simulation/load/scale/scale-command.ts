/** `npm run simulate -- --load crowd`, `--load one-account` and `--load stranger`: its flags, its workers, and what it prints. */
import { wholeNumber } from '../../../../client/command/terminal/whole-number.ts';
import { runWorker } from '../../workers.ts';
import type { LoadProgress } from '../run-load.ts';
import {
  type AskedScale,
  scalePlan,
  type ScalePlan,
  type ScaleReport,
  quotaKinds,
  strangerRoutes,
  throttledBeside,
  vendorKinds,
} from './scale-measures.ts';

export interface ScaleFlags {
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

export const scaleSituations: readonly string[] = ['crowd', 'one-account', 'stranger'];

/** The rates of the table in docs/simulation.md. */
const usualRates = { crowd: [10, 100, 300, 1_000], 'one-account': [20, 50], stranger: [5] } as const;
/** One account meets the limits of its own items, and a stranger those of the API: no quota raises them. */
const usualQuotas = { crowd: quotaKinds, 'one-account': ['raised'], stranger: ['default'] } as const;
const strangers = strangerRoutes.map((route) => ({ route, perSecond: 500 }));
const starts = ['warm', 'cold'] as const;
const progressMillis = 5_000;

/** Runs one load for each rate, vendor and kind of quotas. Resolves with whether all promises held. */
export async function simulateScale(flags: ScaleFlags): Promise<boolean> {
  const plans = plansOf(flags);
  if (!plans) return false;
  const running = new Map<ScalePlan, LoadProgress>();
  const timer = setInterval(() => {
    for (const [plan, progress] of running) console.error(lineOf(plan, progress));
  }, progressMillis);
  const done: { readonly report: ScaleReport; readonly wrong: readonly string[] }[] = [];
  const queue = plans.values();
  const runLane = async (): Promise<void> => {
    for (const plan of queue) {
      await runWorker({ kind: 'scale', plan }, (message) => {
        if (message.kind === 'loading') running.set(plan, message.progress);
        if (message.kind !== 'scale') return;
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

function printOne(report: ScaleReport, wrong: readonly string[]): void {
  printScale(report);
  for (const line of wrong) console.log(`VIOLATION ${line}`);
}

/** Undefined when a flag has a wrong value, which is printed. */
function plansOf(flags: ScaleFlags): ScalePlan[] | undefined {
  const situation =
    flags.load === 'one-account' || flags.load === 'stranger' ? flags.load : ('crowd' as const);
  const vendors = chosen('--vendor', flags.vendor, vendorKinds);
  const quotas = chosen('--quotas', flags.quotas, usualQuotas[situation]);
  const [start] = chosen('--start', flags.start, starts) ?? [];
  if (!vendors || !quotas || !start) return undefined;
  const rates = flags.rate === undefined ? usualRates[situation] : [wholeNumber('--rate', flags.rate)];
  const beside = situation === 'stranger' ? strangers.map((stranger) => ({ stranger })) : [{}];
  const asked: Omit<AskedScale, 'perSecond' | 'vendor' | 'quotas'> = {
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
      quotas.flatMap((kind) =>
        beside.map((one) => scalePlan({ ...asked, ...one, perSecond, vendor, quotas: kind })),
      ),
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
  { perSecond, vendor, quotas }: ScalePlan,
  { seconds, ofSeconds, accepted, open }: LoadProgress,
): string {
  const name = `${perSecond}/s, ${vendor}, ${quotas}`;
  return `${name}: ${seconds} of ${Math.round(ofSeconds)} virtual seconds, ${accepted} creations, ${open} open`;
}

const shownLimits = 6;

function printScale(report: ScaleReport): void {
  const { plan, requests, limits, openShares } = report;
  const { stranger } = plan;
  const who = plan.situation === 'one-account' ? 'one account' : `${plan.accounts} accounts`;
  console.log(
    `\n${plan.perSecond} a second for ${Math.round(plan.lengthSeconds)} s from ${who}, a ${plan.vendor} vendor of ` +
      `${plan.renderSeconds} s, ${plan.quotas} quotas`,
  );
  if (stranger)
    console.log(
      `Beside them a stranger, ${stranger.perSecond} a second at ${stranger.route}, hears ` +
        `${listOf(report.strangerAnswers)}; of the others, the gateway refuses ${throttledOf(report)}`,
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

function throttledOf(report: ScaleReport): string {
  const { route } = report.plan.stranger ?? {};
  const [all, beside] = [throttledBeside(report), throttledBeside(report, route)];
  return `${shareOf(all.refused, all.of)}, at other routes ${shareOf(beside.refused, beside.of)}`;
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

function perOne(units: number, { completed }: ScaleReport): string {
  return (units / Math.max(1, completed)).toFixed(1);
}
