/** A failing run made smaller: steps and faults are dropped as long as the same invariant breaks. */
import type { Fault } from '../world/faults.ts';
import type { Run, Simulator } from './simulator.ts';
import type { Step } from '../clients/scenario.ts';

export interface Shrunk {
  readonly run: Run;
  readonly tries: number;
}

const mostTries = 250;

/**
 * The smallest run that was found: halves are dropped first, then quarters, and at last single
 * ones, again and again until nothing can go. Faults stand as a plan now, so that dropping a
 * step does not bring others.
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
  // As a plan the same faults may strike otherwise than by chance; then there is nothing to begin with.
  if (!(await attempt(failing.scenario.steps, failing.faults))) return { run: failing, tries };
  for (let size = Infinity; size > best.scenario.steps.length + best.faults.length;) {
    size = best.scenario.steps.length + best.faults.length;
    await dropParts(best.faults, (faults) => attempt(best.scenario.steps, faults));
    await dropParts(best.scenario.steps, (steps) => attempt(steps, best.faults));
  }
  return { run: best, tries };
}

/** Leaves out what can be left out of a list, in ever smaller parts. */
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
