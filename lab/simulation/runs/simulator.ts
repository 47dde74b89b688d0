/** Runs a scenario from its first step until nothing moves any more, and collects the findings. */
import { createService, type Service } from '../aws/deployed-service.ts';
import { readSdkConfiguration } from '../aws/http-exchange.ts';
import { createPerformer } from '../clients/perform-steps.ts';
import type { Scenario, Step } from '../clients/scenario.ts';
import { scenarioOf } from '../clients/seeded-scenario.ts';
import { createInvariants } from '../invariants/all-invariants.ts';
import type { Violation } from '../messages.ts';
import { createWorld } from '../world/create-world.ts';
import { createDice, type Dice } from '../world/dice.ts';
import {
  conflictingWrites,
  type Fault,
  type FaultPlan,
  plannedFaults,
  randomFaults,
} from '../world/faults.ts';
import { arePaymentsQuiet, schedulePayments, workOf } from './payment-schedule.ts';
import type { World } from '../world/simulated-world.ts';
import { takeTime, type VirtualTime } from '../world/time.ts';

export interface Run {
  readonly scenario: Scenario;
  readonly violations: readonly Violation[];
  readonly faults: readonly Fault[];
  /** How often each incident of the scenario happened, such as an aborted execution or a clock step. */
  readonly incidents: ReadonlyMap<string, number>;
  /** How often each operation answered with each status. */
  readonly answers: ReadonlyMap<string, number>;
  readonly trace: readonly string[];
  readonly hash: string;
  /** Every call site that was reached, and how often. */
  readonly sites: World['sites'];
}

/**
 * After the last step a run goes on for at most so long. A round of webhook attempts takes the longest when
 * each of its attempts waits for the reconciler.
 */
const horizonMillis = 4 * 3_600_000;
const minuteMillis = 60_000;
const dayMillis = 86_400_000;

/**
 * Runs scenarios one after the other on one virtual clock. `end` gives the process its own timers and clock
 * back.
 */
export interface Simulator {
  readonly run: (scenario: Scenario, faults?: readonly Fault[]) => Promise<Run>;
  readonly runSeed: (seed: number) => Promise<Run>;
  readonly end: () => void;
}

/**
 * Takes over the process's timers, Date and Math.random until `end`. The AWS SDK reads its configuration files at its
 * first call, in real time, so a call before the first run gets this out of the way.
 */
export async function createSimulator(): Promise<Simulator> {
  await readSdkConfiguration();
  const time = takeTime();
  const run = (scenario: Scenario, faults?: readonly Fault[]): Promise<Run> =>
    runScenario(scenario, time, faults);
  return { run, runSeed: (seed) => run(scenarioOf(seed)), end: time.end };
}

async function runScenario(
  scenario: Scenario,
  time: VirtualTime,
  faults: readonly Fault[] | undefined,
): Promise<Run> {
  const { seed, startAt } = scenario;
  time.reset(startAt, seed);
  const dice = createDice(seed);
  const plan = planOf(scenario, dice, faults);
  const { clockSpreadMillis, holdMillis, slowBucketMillis } = scenario;
  const world = createWorld({
    seed,
    time,
    dice,
    faults: plan,
    clockSpreadMillis,
    holdMillis,
    slowBucketMillis,
  });
  world.isBucketSlow = () => !isCalm(scenario, time.now() - startAt);
  world.isCalm = () => faults === undefined && isCalm(scenario, time.now() - startAt);
  const invariants = createInvariants(world);
  const { routeOrder = 'given', payments, mails } = scenario;
  const service = createService(world, invariants.service, {
    routeOrder,
    ...(payments && { payments }),
    ...(mails && { mails }),
    isRestored: scenario.steps.some((step) => step.kind === 'payment' && step.act.does === 'restore'),
  });
  invariants.attach(service);
  const perform = createPerformer(scenario, world, service, invariants);
  const opened = scenario.accounts.flatMap((plan, account): Step[] =>
    plan.secret ? [{ kind: 'rotate_secret', at: 0, account }] : [],
  );
  let waiting = 0;
  for (const step of [...opened, ...scenario.steps]) {
    waiting += 1;
    setTimeout(
      () =>
        void perform(step).finally(() => {
          waiting -= 1;
        }),
      step.at,
    );
  }
  scheduleReconciler(world, service, () => {
    invariants.look();
  });
  scheduleErasures(service, 0);
  const lastAt = startAt + Math.max(0, ...scenario.steps.map(({ at }) => at));
  const endAt = lastAt + horizonMillis;
  const quietFrom = Math.max(lastAt, startAt + scenario.calmAfter);
  if (payments) schedulePayments(world, service, startAt + scenario.calmAfter);
  while (invariants.violations.length === 0 && time.now() < endAt) {
    if (!(await time.step())) break;
    if (
      waiting === 0 &&
      isAtRest(world, service) &&
      (!payments || arePaymentsQuiet(world, service, quietFrom))
    )
      break;
  }
  if (invariants.violations.length === 0) await invariants.atRest();
  return {
    scenario,
    violations: invariants.violations,
    faults: world.injected,
    incidents: world.incidents,
    answers: invariants.answers,
    trace: world.trace,
    hash: world.hash(),
    sites: world.sites,
  };
}

function planOf(
  { conflictProbability, faultProbability, payments }: Scenario,
  dice: Dice,
  faults: readonly Fault[] | undefined,
): FaultPlan {
  if (faults) return plannedFaults(faults);
  return conflictProbability === undefined
    ? randomFaults(dice, faultProbability, payments?.faultProbability)
    : conflictingWrites(dice, conflictProbability);
}

/** After the busy part of each day no fault strikes, so that the service has time to recover. */
function isCalm({ calmAfter }: Scenario, sinceStart: number): boolean {
  return sinceStart % dayMillis >= calmAfter;
}

function isAtRest(world: World, service: Service): boolean {
  return (
    world.live.size === 0 &&
    !service.vendor.isCalling() &&
    service.stepFunctions.running().length === 0 &&
    workOf(service).length === 0
  );
}

/** Minutes after which a run mostly waits for the next day. */
const busyMinutes = 60;

/**
 * Starts the reconciler each minute, as the schedule does. When nothing is due, the run of the reconciler
 * would only count the open work, so most of these runs are left out.
 */
function scheduleReconciler(world: World, service: Service, look: () => void): void {
  const tick = (minute: number): void => {
    setTimeout(() => {
      look();
      const isDue = workOf(service).some((row) => Number(row['dueAt']?.N) <= world.now());
      if (isDue || world.dice.chance(`idle reconciler ${minute}`, minute < busyMinutes ? 0.05 : 0.002))
        void service.reconcile({});
      tick(minute + 1);
    }, minuteMillis);
  };
  tick(0);
}

/** Starts EraseContent each quarter of an hour, as the schedule does. Most runs of the first hours find nothing. */
function scheduleErasures(service: Service, quarter: number): void {
  setTimeout(() => {
    const isDue = ['ERASE', 'RESULTS'].some((kind) => service.table.indexed('open_work', kind).length > 0);
    if (quarter > 48 || isDue) void service.eraseContent();
    scheduleErasures(service, quarter + 1);
  }, 15 * minuteMillis);
}
