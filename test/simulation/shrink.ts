/** A failing run made smaller: steps and faults are dropped as long as the same invariant breaks. */
import type { Fault } from './faults.ts';
import type { Run, Simulator } from './run.ts';

export interface Shrunk {
  readonly run: Run;
  readonly faults: readonly Fault[];
  readonly tries: number;
}

const mostTries = 150;

/** The smallest run that was found. Faults stand as a plan now, so that dropping a step does not bring others. */
export async function shrink(failing: Run, simulator: Simulator): Promise<Shrunk> {
  const [violation] = failing.violations;
  let best = failing;
  let faults = failing.faults;
  let tries = 0;
  const attempt = async (scenario: Run['scenario'], plan: readonly Fault[]): Promise<boolean> => {
    if (tries === mostTries) return false;
    tries += 1;
    const run = await simulator.run(scenario, plan);
    if (run.violations[0]?.invariant !== violation?.invariant) return false;
    best = run;
    faults = plan;
    return true;
  };
  if (!(await attempt(failing.scenario, faults))) return { run: failing, faults, tries };
  for (const fault of failing.faults) await attempt(best.scenario, faults.filter((one) => one !== fault));
  for (const step of failing.scenario.steps) {
    const steps = best.scenario.steps.filter((one) => one !== step);
    await attempt({ ...best.scenario, steps }, faults);
  }
  return { run: best, faults, tries };
}
