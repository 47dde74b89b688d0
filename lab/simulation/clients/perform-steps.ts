/** Performs the steps of a scenario. */
import type { Service } from '../aws/deployed-service.ts';
import type { Execution } from '../aws/step-functions.ts';
import type { Invariants } from '../invariants/all-invariants.ts';
import type { World } from '../world/simulated-world.ts';
import { createApiSteps } from './api-steps.ts';
import { type AccountHeld, claimsAt, openAccount, openPeople } from './open-accounts.ts';
import { createOpenaiSteps } from './openai-steps.ts';
import { createOperatorSteps } from './operator-steps.ts';
import { createPortalSteps } from './portal-steps.ts';
import { monthsEnd, type Scenario, type SignIn, type Step } from './scenario.ts';
import type { Stage } from './stage.ts';

/** Opens the accounts of the scenario in the table. Returns the function that performs a step. */
export function createPerformer(
  scenario: Scenario,
  world: World,
  service: Service,
  invariants: Invariants,
): (step: Step) => Promise<void> {
  const hasPeople = scenario.steps.some(({ kind }) => kind === 'portal');
  const accounts = scenario.accounts.map((plan, index): AccountHeld => {
    const account = openAccount(plan, index, world, service);
    if (!hasPeople) return account;
    const people = openPeople(account.id, world, service);
    for (const person of people) invariants.portal.onSignedIn(person, account.id);
    return { ...account, people };
  });
  const accountOf = (step: Step): AccountHeld => {
    const account = accounts[step.account] ?? accounts[0];
    if (!account) throw new Error('a scenario has an account');
    return account;
  };
  const stage = { world, service, invariants, accountOf };
  const api = createApiSteps(stage);
  const operator = createOperatorSteps(stage, api.tryKey);
  const libraries = createOpenaiSteps(stage);
  const mishaps = createMishapSteps(stage);
  const portal = createPortalSteps(stage, api.tryKey);

  return async (step) => {
    world.note(`step ${step.kind} of account ${step.account}`);
    switch (step.kind) {
      case 'submit':
        return api.submit(step);
      case 'list':
      case 'balance':
      case 'quote':
      case 'models':
        return api.read(step);
      case 'events':
        return api.followEvents(step);
      case 'upload':
        return api.upload(step);
      case 'openai':
        return libraries.perform(step);
      case 'foreign_poll':
        return api.pollForeign(step);
      case 'stranger':
        return api.sendUnknownKey(step);
      case 'portal':
        return portal(step);
      case 'sign_in':
        return signIn(step, stage);
      case 'top_up':
      case 'adjust':
      case 'credit_line':
        return operator.moveMoney(step);
      case 'suspend':
      case 'activate':
        return operator.setCondition(step);
      case 'revoke':
        return operator.revoke(step);
      case 'cap':
        return operator.setCap(step);
      case 'notices':
        return operator.setNotices(step);
      case 'rotate_secret':
        return operator.rotateSecret(step);
      case 'redeliver':
        return operator.redeliverLatest(step);
      case 'test_delivery':
        return operator.testDelivery(step);
      case 'close_service':
      case 'open_service':
        return operator.turnSwitch(step);
      case 'catalog':
        return operator.setCatalog(step);
      case 'operator_cancel':
        return operator.cancel(step);
      case 'abort':
      case 'restart':
      case 'redrive':
        return mishaps.disturbExecution(step);
      case 'reconcile_again':
        await service.reconcile({});
        return;
      case 'rotate_encryption':
        service.rotateEncryption();
        return;
      case 'expire':
        service.table.expire();
        return;
      case 'deploy':
        service.releases.deploy(step.release);
        return;
      case 'roll_back_by_two':
        service.releases.deploy('before');
        await world.sleep(step.forMillis);
        service.releases.deploy('between');
        return;
      case 'clock':
        mishaps.noteClock('clock step of all');
        world.clocks.set(step.byMillis);
        return;
      case 'clock_of':
        mishaps.noteClock('clock step of one function');
        world.clocks.setOf(step.name, step.byMillis);
        return;
    }
  };
}

async function signIn(step: SignIn, { world, service, accountOf }: Stage): Promise<void> {
  const claims = claimsAt(accountOf(step).id, step.address, step.who);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const entered = await service.signIn(claims);
    world.note(`sign-in ${step.name}, try ${attempt}: ${entered ?? 'no answer'}`);
    if (entered !== undefined) return;
    await world.sleep(world.dice.between(`${step.name} again ${attempt}`, 500, 4_000));
  }
}

function createMishapSteps({ world, service }: Stage) {
  const { dice } = world;

  async function disturbExecution(step: Step): Promise<void> {
    const executions = [...service.stepFunctions.executions.values()];
    const one = executions[dice.between(`which ${step.at}`, 0, Math.max(0, executions.length - 1))];
    if (!one) return;
    if (step.kind === 'abort' && one.status === 'RUNNING') {
      world.mishap('execution aborted');
      service.stepFunctions.abort(one);
      if (!dice.chance(`redriven ${step.at}`, 0.4)) return;
      // Until then the reconciler has mostly taken up the creation, and often brought it to its end.
      await world.sleep(dice.between(`redriven after ${step.at}`, 100, 90_000));
      redrive(one);
    } else if (step.kind === 'redrive') redrive(one);
    else if (step.kind === 'restart') {
      world.mishap('execution started again');
      service.stepFunctions.perform('StartExecution', {
        stateMachineArn: one.machineArn,
        name: `${one.name}-again-${step.at}`,
        input: one.input,
      });
    }
  }

  /** Step Functions redrives only executions that have ended without success. */
  function redrive(execution: Execution): void {
    if (execution.status === 'RUNNING' || execution.status === 'SUCCEEDED') return;
    world.mishap('redrive after the end');
    service.stepFunctions.redrive(execution);
  }

  /**
   * Steps close to the turn of a month have a name of their own: there a wrong clock can charge the wrong
   * month.
   */
  function noteClock(name: string): void {
    const toTurn = Math.abs(world.time.now() - monthsEnd);
    world.mishap(toTurn < 60_000 ? `${name} within a minute of the month’s turn` : name);
  }

  return {
    /** Aborts, redrives or starts again one execution of the world. */
    disturbExecution /** Counts a clock step under its name. */,
    noteClock,
  };
}
