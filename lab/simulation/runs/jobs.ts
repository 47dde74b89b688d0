/** The jobs that a worker of `npm run simulate` can do. */
import { conflictsOf, narrowScenarios } from '../clients/narrow-scenarios.ts';
import type { Step } from '../clients/scenario.ts';
import { brokenPromises as brokenPromisesOfLoad } from '../load/measures.ts';
import { runLoad } from '../load/run-load.ts';
import { runScale } from '../load/scale/run-scale.ts';
import { brokenScalePromises } from '../load/scale/scale-measures.ts';
import type { Job, Message, Report } from '../messages.ts';
import type { Fault } from '../world/faults.ts';
import { exhaust } from './exhaustive.ts';
import { brokenPromises, simulateOutage, wholeOutage } from './outage.ts';
import { createSimulator, type Run, type Simulator } from './simulator.ts';

const tailLines = 40;
const runsPerMessage = 25;

/** Does a whole job, and reports through `say`. The last message is `done`. */
export async function runJob(job: Job, say: (message: Message) => void): Promise<void> {
  switch (job.kind) {
    case 'outage': {
      const report = await simulateOutage({ ...wholeOutage, of: job.of });
      say({ kind: 'outage', report, wrong: brokenPromises(report) });
      break;
    }
    case 'load': {
      const report = await runLoad(job.plan, (progress) => say({ kind: 'loading', progress }));
      say({ kind: 'loaded', report, wrong: brokenPromisesOfLoad(report) });
      break;
    }
    case 'scale': {
      const report = await runScale(job.plan, (progress) => say({ kind: 'loading', progress }));
      say({ kind: 'scale', report, wrong: brokenScalePromises(report) });
      break;
    }
    default: {
      const simulator = await createSimulator();
      try {
        await simulate(job, simulator, say);
      } finally {
        simulator.end();
      }
    }
  }
  say({ kind: 'done' });
}

function simulate(
  job: Exclude<Job, { kind: 'outage' | 'load' | 'scale' }>,
  simulator: Simulator,
  say: (message: Message) => void,
): Promise<void> {
  switch (job.kind) {
    case 'seeds':
      return runSeeds(job, simulator, say);
    case 'trace':
      return traceSeed(job, simulator, say);
    case 'conflicts':
      return runConflicts(job, simulator, say);
    case 'exhaustive':
      return runExhaustive(job, simulator, say);
  }
}

async function runSeeds(
  { from, to, every, stopAtFirst, narrow }: Extract<Job, { kind: 'seeds' }>,
  simulator: Simulator,
  say: (message: Message) => void,
): Promise<void> {
  const slowest = { seed: 0, millis: 0 };
  let batch = emptyBatch();
  const tell = (): void => {
    say({ kind: 'ran', ...batch, slowest, sites: [...batch.sites], struck: [...batch.struck] });
    batch = emptyBatch();
  };
  for (let seed = from; seed < to; seed += every) {
    const before = performance.now();
    const run = await (narrow ? simulator.run(narrowScenarios[narrow](seed)) : simulator.runSeed(seed));
    const millis = Math.round(performance.now() - before);
    batch.seeds += 1;
    batch.faults += run.faults.length;
    if (millis > slowest.millis) Object.assign(slowest, { seed, millis });
    for (const site of run.sites.keys()) batch.sites.add(site);
    for (const fault of run.faults) batch.struck.add(fault.site);
    countKinds(run, batch.kinds);
    if (batch.seeds === runsPerMessage) tell();
    if (run.violations.length === 0) continue;
    const report = reportOf(seed, run, await shrink(run, simulator));
    say({ kind: 'failed', report: { ...report, ...(narrow && { narrow }) } });
    if (stopAtFirst) break;
  }
  tell();
}

function emptyBatch() {
  const kinds: Record<string, number> = {};
  return { seeds: 0, faults: 0, sites: new Set<string>(), struck: new Set<string>(), kinds };
}

async function runConflicts(
  { from, every, requests, conflicts }: Extract<Job, { kind: 'conflicts' }>,
  simulator: Simulator,
  say: (message: Message) => void,
): Promise<void> {
  let answered = 0;
  for (let seed = from; answered < requests; seed += every) {
    const before = performance.now();
    const run = await simulator.run(conflictsOf(seed, conflicts));
    const kinds: Record<string, number> = {};
    countKinds(run, kinds);
    const sites = [...run.sites.keys()];
    const struck = run.faults.map(({ site }) => site);
    const slowest = { seed, millis: Math.round(performance.now() - before) };
    say({ kind: 'ran', seeds: 1, faults: run.faults.length, sites, struck, kinds, slowest });
    say({ kind: 'answered', answers: Object.fromEntries(run.answers) });
    answered += [...run.answers.values()].reduce((sum, count) => sum + count, 0);
    if (run.violations.length > 0)
      say({ kind: 'failed', report: reportOf(undefined, run, await shrink(run, simulator)) });
  }
}

/** Adds to `kinds` how often each kind of fault struck and how often each incident of the scenario happened. */
function countKinds(run: Run, kinds: Record<string, number>): void {
  const count = (name: string, times: number): void => void (kinds[name] = (kinds[name] ?? 0) + times);
  for (const { kind } of run.faults) count(kind, 1);
  for (const [name, times] of run.incidents) count(name, times);
}

/** Runs the seed twice, because a run that cannot be repeated proves nothing. A failed run is then shrunk. */
async function traceSeed(
  { seed, narrow }: Extract<Job, { kind: 'trace' }>,
  simulator: Simulator,
  say: (message: Message) => void,
): Promise<void> {
  const runIt = (): Promise<Run> =>
    narrow ? simulator.run(narrowScenarios[narrow](seed)) : simulator.runSeed(seed);
  const first = await runIt();
  const second = await runIt();
  const report =
    first.violations.length === 0
      ? undefined
      : { ...reportOf(seed, first, await shrink(first, simulator)), ...(narrow && { narrow }) };
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
  const slowest = { seed: 0, millis: 0 };
  const tell = (
    runs: number,
    sites: Iterable<string> = [],
    struck: Iterable<string> = [],
    kinds = {},
  ): void =>
    say({ kind: 'ran', seeds: runs, faults: runs, sites: [...sites], struck: [...struck], kinds, slowest });
  const result = await exhaust(simulator, {
    pairs,
    part: { index, of },
    onRun: (runs) => {
      if (runs % runsPerMessage === 0) tell(runsPerMessage);
    },
  });
  tell(result.runs % runsPerMessage, result.reached, result.struck, result.kinds);
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

const mostTries = 250;

/**
 * Returns the smallest failing run. It drops halves of the faults and steps, then quarters, at last single ones, until
 * nothing more can go. The faults become a fixed plan, so that a dropped step brings no other faults.
 */
async function shrink(failing: Run, simulator: Simulator): Promise<Run> {
  const invariant = failing.violations[0]?.invariant;
  let best = failing;
  let tries = 0;
  const attempt = async (steps: readonly Step[], faults: readonly Fault[]): Promise<boolean> => {
    if (tries === mostTries) return false;
    tries += 1;
    const run = await simulator.run({ ...failing.scenario, steps }, faults);
    if (run.violations[0]?.invariant !== invariant) return false;
    best = run;
    return true;
  };
  // The same faults as a plan may strike differently than they did by chance. Then shrinking has no start.
  if (!(await attempt(failing.scenario.steps, failing.faults))) return failing;
  for (let size = Infinity; size > best.scenario.steps.length + best.faults.length;) {
    size = best.scenario.steps.length + best.faults.length;
    await dropParts(best.faults, (faults) => attempt(best.scenario.steps, faults));
    await dropParts(best.scenario.steps, (steps) => attempt(steps, best.faults));
  }
  return best;
}

/** Drops every part of a list without which `works` still says yes. The parts become smaller and smaller. */
async function dropParts<Part>(
  all: readonly Part[],
  works: (kept: readonly Part[]) => Promise<boolean>,
): Promise<void> {
  let kept = all;
  for (let size = Math.max(1, kept.length >> 1); kept.length > 0; size >>= 1) {
    for (let from = 0; from < kept.length;) {
      const rest = [...kept.slice(0, from), ...kept.slice(from + size)];
      if (await works(rest)) kept = rest;
      else from += size;
    }
    if (size === 1) return;
  }
}
