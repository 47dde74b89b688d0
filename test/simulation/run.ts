/** One run: a scenario from its first step to rest, with what was found. */
import { createDice } from './dice.ts';
import { createActors } from './actors.ts';
import { plannedFaults, randomFaults, type Fault } from './faults.ts';
import { scenarioOf, type Scenario, type Step } from './scenario.ts';
import { createService, type Service } from './service.ts';
import { takeTime, type VirtualTime } from './time.ts';
import { createWatch, type Violation } from './watch.ts';
import { createWorld, type World } from './world.ts';

export interface Run {
  readonly scenario: Scenario;
  readonly violations: readonly Violation[];
  readonly faults: readonly Fault[];
  readonly trace: readonly string[];
  readonly hash: string;
  /** Every site that was called, and how often. */
  readonly sites: World['sites'];
}

/** The longest that anything can go on behind the last fault: a round of webhooks that the reconciler has to take up each time. */
const horizonMillis = 4 * 3_600_000;
const minuteMillis = 60_000;

/** Runs scenarios one after the other, on one virtual time. `end` gives the process its own back. */
export interface Simulator {
  readonly run: (scenario: Scenario, faults?: readonly Fault[]) => Promise<Run>;
  readonly runSeed: (seed: number) => Promise<Run>;
  readonly end: () => void;
}

export function createSimulator(): Simulator {
  const time = takeTime();
  const run = (scenario: Scenario, faults?: readonly Fault[]): Promise<Run> => runScenario(scenario, time, faults);
  return { run, runSeed: (seed) => run(scenarioOf(seed)), end: time.end };
}

async function runScenario(scenario: Scenario, time: VirtualTime, faults: readonly Fault[] | undefined): Promise<Run> {
  const { seed, startAt } = scenario;
  time.reset(startAt, seed);
  const dice = createDice(seed);
  const plan = faults ? plannedFaults(faults) : randomFaults(dice, scenario.faultProbability);
  const world = createWorld({ seed, time, dice, faults: plan });
  world.calmAt = faults ? Infinity : startAt + scenario.calmAfter;
  const watch = createWatch(world);
  const service = createService(world, watch.service);
  watch.attach(service);
  const actors = createActors(scenario, world, service, watch);
  const opened = scenario.accounts.flatMap((plan, account): Step[] => (plan.secret ? [{ kind: 'rotate_secret', at: 0, account }] : []));
  let waiting = 0;
  for (const step of [...opened, ...scenario.steps]) {
    waiting += 1;
    setTimeout(() => void actors.perform(step).finally(() => { waiting -= 1; }), step.at);
  }
  scheduleReconciler(world, service, () => { watch.look(); });
  const endAt = startAt + horizonMillis;
  while (watch.violations.length === 0 && time.now() < endAt) {
    if (!(await time.step())) break;
    if (waiting === 0 && isAtRest(world, service)) break;
  }
  if (watch.violations.length === 0) watch.atRest();
  return { scenario, violations: watch.violations, faults: world.injected, trace: world.trace, hash: world.hash(), sites: world.sites };
}

function isAtRest(world: World, service: Service): boolean {
  return world.live.size === 0 && service.stepFunctions.running().length === 0 && service.table.indexed('open_work', '').length === 0;
}

/** Each minute, as the schedule does. A run that would find nothing due is left out most of the time: it only counts. */
function scheduleReconciler(world: World, service: Service, look: () => void): void {
  const tick = (minute: number): void => {
    setTimeout(() => {
      look();
      const isDue = service.table.indexed('open_work', '').some((row) => Number(row['dueAt']?.N) <= world.now());
      if (isDue || world.dice.chance(`idle reconciler ${minute}`, 0.05)) void service.reconcile({});
      tick(minute + 1);
    }, minuteMillis);
  };
  tick(0);
}
