/** What a worker of `npm run simulate` is given to do, and what it says of it. */
import { exhaust } from './exhaustive.ts';
import type { Fault } from './faults.ts';
import { createSimulator, type Run, type Simulator } from './run.ts';
import { shrink } from './shrink.ts';
import type { Violation } from './watch.ts';

export type Job =
  | { readonly kind: 'seeds'; readonly from: number; readonly to: number; readonly every: number; readonly stopAtFirst: boolean; readonly mutant?: string }
  | { readonly kind: 'trace'; readonly seed: number; readonly mutant?: string }
  | { readonly kind: 'exhaustive'; readonly index: number; readonly of: number; readonly pairs: boolean };

/** A failing run as it is printed. */
export interface Report {
  /** 0 for a run that no seed made. */
  readonly seed: number;
  readonly violation: Violation;
  readonly faults: readonly Fault[];
  /** Of the shrunk run: how its steps are called. */
  readonly steps: readonly string[];
  readonly tail: readonly string[];
}

export type Message =
  | { readonly kind: 'ran'; readonly seeds: number; readonly faults: number; readonly sites: readonly string[]; readonly struck: readonly string[]; readonly slowest: { readonly seed: number; readonly millis: number } }
  | { readonly kind: 'failed'; readonly report: Report }
  | { readonly kind: 'traced'; readonly lines: readonly string[]; readonly hashes: readonly [string, string]; readonly violations: readonly Violation[] }
  | { readonly kind: 'done' };

const tailLines = 40;
const seedsAMessage = 25;

/** Does a job to its end. */
export async function runJob(job: Job, say: (message: Message) => void): Promise<void> {
  const simulator = createSimulator();
  try {
    switch (job.kind) {
      case 'seeds':
        await runSeeds(job, simulator, say);
        break;
      case 'trace':
        await traceSeed(job.seed, simulator, say);
        break;
      case 'exhaustive':
        await runExhaustive(job, simulator, say);
    }
  } finally {
    simulator.end();
  }
  say({ kind: 'done' });
}

async function runSeeds({ from, to, every, stopAtFirst }: Extract<Job, { kind: 'seeds' }>, simulator: Simulator, say: (message: Message) => void): Promise<void> {
  let batch = { seeds: 0, faults: 0, sites: new Set<string>(), struck: new Set<string>(), slowest: { seed: 0, millis: 0 } };
  const tell = (): void => {
    say({ kind: 'ran', ...batch, sites: [...batch.sites], struck: [...batch.struck] });
    batch = { ...batch, seeds: 0, faults: 0, sites: new Set(), struck: new Set() };
  };
  for (let seed = from; seed < to; seed += every) {
    const before = performance.now();
    const run = await simulator.runSeed(seed);
    const millis = Math.round(performance.now() - before);
    batch.seeds += 1;
    batch.faults += run.faults.length;
    if (millis > batch.slowest.millis) batch.slowest = { seed, millis };
    for (const site of run.sites.keys()) batch.sites.add(site);
    for (const fault of run.faults) batch.struck.add(fault.site);
    if (batch.seeds === seedsAMessage) tell();
    if (run.violations.length === 0) continue;
    say({ kind: 'failed', report: reportOf(seed, stopAtFirst ? run : (await shrink(run, simulator)).run) });
    if (stopAtFirst) break;
  }
  tell();
}

/** Twice, since a run that cannot be repeated proves nothing. */
async function traceSeed(seed: number, simulator: Simulator, say: (message: Message) => void): Promise<void> {
  const first = await simulator.runSeed(seed);
  const second = await simulator.runSeed(seed);
  say({ kind: 'traced', lines: first.trace, hashes: [first.hash, second.hash], violations: first.violations });
}

async function runExhaustive({ index, of, pairs }: Extract<Job, { kind: 'exhaustive' }>, simulator: Simulator, say: (message: Message) => void): Promise<void> {
  let faults = 0;
  const slowest = { seed: 0, millis: 0 };
  const result = await exhaust(simulator, {
    pairs,
    part: { index, of },
    onRun: () => {
      faults += 1;
      if (faults % seedsAMessage === 0) say({ kind: 'ran', seeds: seedsAMessage, faults: seedsAMessage, sites: [], struck: [], slowest });
    },
  });
  say({ kind: 'ran', seeds: result.runs % seedsAMessage, faults: result.runs % seedsAMessage, sites: [...result.reached], struck: [...result.struck], slowest });
  for (const { base, run } of result.failures) say({ kind: 'failed', report: reportOf(base.seed, run) });
}

function reportOf(seed: number, run: Run): Report {
  const [violation] = run.violations;
  if (!violation) throw new Error(`seed ${seed} did not fail`);
  return {
    seed, violation,
    faults: run.faults,
    steps: run.scenario.steps.map((step) => JSON.stringify(step)),
    tail: run.trace.slice(-tailLines),
  };
}
