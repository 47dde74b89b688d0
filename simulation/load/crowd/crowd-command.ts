/** `npm run simulate -- --load crowd` and `--load one-account`: its flags, its workers, and what it prints. */
import { wholeNumber } from '../../../terminal/whole-number.ts';
import { runWorker } from '../../child-processes.ts';
import type { LoadProgress } from '../run-load.ts';
import type { CrowdReport } from './crowd-measures.ts';
import { crowdPlan, quotaKinds, vendorKinds, type AskedCrowd, type CrowdPlan } from './crowd-plan.ts';
import { printCrowd } from './print-crowd.ts';

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
