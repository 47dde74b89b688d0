/** Makes a failing run smaller: drops steps and faults as long as the same invariant still breaks. */
import type { Fault } from '../world/faults.ts';
import type { Run, Simulator } from './simulator.ts';
import type { Step } from '../clients/scenario.ts';

export interface Shrunk {
  readonly run: Run;
  readonly tries: number;
}

const mostTries = 250;

/**
 * Returns the smallest failing run that was found. First it drops halves of the faults and of the steps, then
 * quarters, and at last single ones. It repeats this until nothing more can go. The faults become a fixed
 * plan, so that a dropped step does not bring other faults.
 */
export async function shrink(failing: Run, simulator: Simulator): Promise<Shrunk> {
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
  if (!(await attempt(failing.scenario.steps, failing.faults))) return { run: failing, tries };
  for (let size = Infinity; size > best.scenario.steps.length + best.faults.length;) {
    size = best.scenario.steps.length + best.faults.length;
    await dropParts(best.faults, (faults) => attempt(best.scenario.steps, faults));
    await dropParts(best.scenario.steps, (steps) => attempt(steps, best.faults));
  }
  return { run: best, tries };
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
