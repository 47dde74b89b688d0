/** What a worker of `npm run simulate` is given to do, and what it says of it. */
import { crowdOf } from '../clients/crowd-scenario.ts';
import { exhaust } from './exhaustive.ts';
import type { Fault } from '../world/faults.ts';
import { createSimulator, type Run, type Simulator } from './simulator.ts';
import { shrink } from './shrink.ts';
import type { Violation } from '../watches/all-watches.ts';

export type Job =
  | {
      readonly kind: 'seeds';
      readonly from: number;
      readonly to: number;
      readonly every: number;
      readonly stopAtFirst: boolean;
      readonly mutant?: string;
    }
  | { readonly kind: 'trace'; readonly seed: number; readonly mutant?: string }
  /** Crowds whose single writes meet conflicts with this probability, until so many requests were answered. */
  | {
      readonly kind: 'crowds';
      readonly from: number;
      readonly every: number;
      readonly requests: number;
      readonly conflicts: number;
      readonly mutant?: string;
    }
  | { readonly kind: 'exhaustive'; readonly index: number; readonly of: number; readonly pairs: boolean };

/** A failing run as it is printed. */
export interface Report {
  /** Absent for a run that no seed made. */
  readonly seed?: number;
  readonly violation: Violation;
  /** How large the run was before it was shrunk. */
  readonly found: { readonly steps: number; readonly faults: number };
  /** Of the shrunk run: its steps, its faults, and the end of its trace. */
  readonly steps: readonly string[];
  readonly faults: readonly Fault[];
  readonly tail: readonly string[];
}

export type Message =
  | {
      readonly kind: 'ran';
      readonly seeds: number;
      readonly faults: number;
      readonly sites: readonly string[];
      readonly struck: readonly string[];
      readonly kinds: Readonly<Record<string, number>>;
      readonly slowest: { readonly seed: number; readonly millis: number };
    }
  /** How often each operation answered with each status. */
  | { readonly kind: 'answered'; readonly answers: Readonly<Record<string, number>> }
  | { readonly kind: 'failed'; readonly report: Report }
  | {
      readonly kind: 'traced';
      readonly lines: readonly string[];
      readonly hashes: readonly [string, string];
      readonly violations: readonly Violation[];
      readonly report?: Report;
    }
  | { readonly kind: 'done' };

const tailLines = 40;
const seedsAMessage = 25;

/** Does a job to its end. */
export async function runJob(job: Job, say: (message: Message) => void): Promise<void> {
  const simulator = await createSimulator();
  try {
    switch (job.kind) {
      case 'seeds':
        await runSeeds(job, simulator, say);
        break;
      case 'trace':
        await traceSeed(job.seed, simulator, say);
        break;
      case 'crowds':
        await runCrowds(job, simulator, say);
        break;
      case 'exhaustive':
        await runExhaustive(job, simulator, say);
    }
  } finally {
    simulator.end();
  }
  say({ kind: 'done' });
}

async function runSeeds(
  { from, to, every, stopAtFirst }: Extract<Job, { kind: 'seeds' }>,
  simulator: Simulator,
  say: (message: Message) => void,
): Promise<void> {
  let batch = {
    seeds: 0,
    faults: 0,
    sites: new Set<string>(),
    struck: new Set<string>(),
    kinds: {} as Record<string, number>,
    slowest: { seed: 0, millis: 0 },
  };
  const tell = (): void => {
    say({ kind: 'ran', ...batch, sites: [...batch.sites], struck: [...batch.struck] });
    batch = { ...batch, seeds: 0, faults: 0, sites: new Set(), struck: new Set(), kinds: {} };
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
    countKinds(run, batch.kinds);
    if (batch.seeds === seedsAMessage) tell();
    if (run.violations.length === 0) continue;
    say({ kind: 'failed', report: reportOf(seed, run, (await shrink(run, simulator)).run) });
    if (stopAtFirst) break;
  }
  tell();
}

async function runCrowds(
  { from, every, requests, conflicts }: Extract<Job, { kind: 'crowds' }>,
  simulator: Simulator,
  say: (message: Message) => void,
): Promise<void> {
  let answered = 0;
  for (let seed = from; answered < requests; seed += every) {
    const before = performance.now();
    const run = await simulator.run(crowdOf(seed, conflicts));
    const kinds: Record<string, number> = {};
    countKinds(run, kinds);
    const sites = [...run.sites.keys()];
    const struck = run.faults.map(({ site }) => site);
    const slowest = { seed, millis: Math.round(performance.now() - before) };
    say({ kind: 'ran', seeds: 1, faults: run.faults.length, sites, struck, kinds, slowest });
    say({ kind: 'answered', answers: Object.fromEntries(run.answers) });
    answered += [...run.answers.values()].reduce((sum, count) => sum + count, 0);
    if (run.violations.length > 0)
      say({ kind: 'failed', report: reportOf(undefined, run, (await shrink(run, simulator)).run) });
  }
}

/** Faults by their kind, and what else a scenario made go wrong. */
function countKinds(run: Run, kinds: Record<string, number>): void {
  const count = (name: string, times: number): void => void (kinds[name] = (kinds[name] ?? 0) + times);
  for (const { kind } of run.faults) count(kind, 1);
  for (const [name, times] of run.mishaps) count(name, times);
}

/** Twice, since a run that cannot be repeated proves nothing; then as small as it gets, when it failed. */
async function traceSeed(seed: number, simulator: Simulator, say: (message: Message) => void): Promise<void> {
  const first = await simulator.runSeed(seed);
  const second = await simulator.runSeed(seed);
  const report =
    first.violations.length === 0 ? undefined : reportOf(seed, first, (await shrink(first, simulator)).run);
  say({
    kind: 'traced',
    lines: first.trace,
    hashes: [first.hash, second.hash],
    violations: first.violations,
    ...(report && { report }),
  });
}

async function runExhaustive(
  { index, of, pairs }: Extract<Job, { kind: 'exhaustive' }>,
  simulator: Simulator,
  say: (message: Message) => void,
): Promise<void> {
  let faults = 0;
  const slowest = { seed: 0, millis: 0 };
  const result = await exhaust(simulator, {
    pairs,
    part: { index, of },
    onRun: () => {
      faults += 1;
      if (faults % seedsAMessage === 0)
        say({
          kind: 'ran',
          seeds: seedsAMessage,
          faults: seedsAMessage,
          sites: [],
          struck: [],
          kinds: {},
          slowest,
        });
    },
  });
  say({
    kind: 'ran',
    seeds: result.runs % seedsAMessage,
    faults: result.runs % seedsAMessage,
    sites: [...result.reached],
    struck: [...result.struck],
    kinds: result.kinds,
    slowest,
  });
  for (const { run } of result.failures) say({ kind: 'failed', report: reportOf(undefined, run, run) });
}

function reportOf(seed: number | undefined, found: Run, run: Run): Report {
  const [violation] = run.violations;
  if (!violation) throw new Error('the run did not fail');
  return {
    ...(seed !== undefined && { seed }),
    violation,
    found: { steps: found.scenario.steps.length, faults: found.faults.length },
    faults: run.faults,
    steps: run.scenario.steps.map((step) => JSON.stringify(step)),
    tail: run.trace.slice(-tailLines),
  };
}
