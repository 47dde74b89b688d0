/** Performs the steps of a scenario. */
import { topicOf } from '../../../service/notices/mail-readers.ts';
import type { Service } from '../aws/deployed-service.ts';
import type { Execution } from '../aws/step-functions.ts';
import type { Invariants } from '../invariants/all-invariants.ts';
import type { World } from '../world/simulated-world.ts';
import { createApiSteps } from './api-steps.ts';
import { createBackEndSteps } from './back-end-steps.ts';
import { createBucketSteps } from './bucket-steps.ts';
import { createEndpointSteps } from './endpoint-steps.ts';
import { type AccountHeld, claimsAt, openAccount, openOperatorKey, openPeople } from './open-accounts.ts';
import { createOpenaiSteps } from './openai-steps.ts';
import { createOperatorSteps } from './operator-steps.ts';
import { createPaymentSteps, openTopUp } from './payment-steps.ts';
import { createPortalSteps } from './portal-steps.ts';
import { monthsEnd, type Scenario, type SignIn, type Step } from './scenario.ts';
import type { Stage } from './stage.ts';
import { createTokenSteps } from './token-steps.ts';

/** Opens the accounts of the scenario in the table. Returns the function that performs a step. */
export function createPerformer(
  scenario: Scenario,
  world: World,
  service: Service,
  invariants: Invariants,
): (step: Step) => Promise<void> {
  const hasPeople = scenario.steps.some(({ kind }) => kind === 'portal' || kind === 'payment');
  const accounts = scenario.accounts.map((plan, index): AccountHeld => {
    const account = openAccount(plan, index, world, service);
    if (plan.topUp) openTopUp(account.id, plan.topUp, service);
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
  const operatorKeys = (scenario.operatorKeys ?? []).map((plan, index) =>
    openOperatorKey(plan, index, world, service),
  );
  const { startAt } = scenario;
  const stage = { world, startAt, service, invariants, accountOf, operatorKeys };
  const api = createApiSteps(stage);
  const operator = createOperatorSteps(stage, api.tryKey);
  const libraries = createOpenaiSteps(stage);
  const incidents = createIncidentSteps(stage);
  const portal = createPortalSteps(stage, api.tryKey);

  const performers: Performers = {
    submit: api.submit,
    list: api.read,
    balance: api.read,
    quote: api.read,
    models: api.read,
    user_token: createTokenSteps(stage),
    back_end: createBackEndSteps(stage, api.tryKey),
    revoke_operator_key: operator.revokeOperatorKey,
    cap_operator_key: operator.capOperatorKey,
    endpoint: createEndpointSteps(stage),
    bucket: createBucketSteps(stage),
    events: api.followEvents,
    upload: api.upload,
    openai: libraries.perform,
    foreign_poll: api.pollForeign,
    stranger: api.sendUnknownKey,
    portal,
    payment: createPaymentSteps(stage),
    mail_topic: (step) => {
      const account = accountOf(step);
      const { id } = account.people[step.person] ?? {};
      if (id) service.mails?.[step.does](topicOf(account.id, id));
    },
    sign_in: (step) => signIn(step, stage),
    top_up: operator.moveMoney,
    adjust: operator.moveMoney,
    credit_line: operator.moveMoney,
    suspend: operator.setCondition,
    activate: operator.setCondition,
    revoke: operator.revoke,
    cap: operator.setCap,
    notices: operator.setNotices,
    rotate_secret: operator.rotateSecret,
    redeliver: operator.redeliverLatest,
    test_delivery: operator.testDelivery,
    close_service: operator.turnSwitch,
    open_service: operator.turnSwitch,
    catalog: operator.setCatalog,
    operator_cancel: operator.cancel,
    erase_creation: operator.eraseCreation,
    erase_account: operator.eraseAccount,
    abort: incidents.disturbExecution,
    restart: incidents.disturbExecution,
    redrive: incidents.disturbExecution,
    reconcile_again: () => service.reconcile({}),
    rotate_encryption: () => service.rotateEncryption(),
    expire: () => service.table.expire(),
    deploy: ({ release }) => service.releases.deploy(release),
    roll_back_by_two: async ({ forMillis }) => {
      service.releases.deploy('before');
      await world.sleep(forMillis);
      service.releases.deploy('between');
    },
    clock: ({ byMillis }) => {
      incidents.noteClock('clock step of all');
      world.clocks.set(byMillis);
    },
    clock_of: ({ name, byMillis }) => {
      incidents.noteClock('clock step of one function');
      world.clocks.setOf(name, byMillis);
    },
  };
  return async (step) => {
    world.note(`step ${step.kind} of account ${step.account}`);
    const perform: (step: never) => unknown = performers[step.kind];
    await perform(step as never);
  };
}

/** What each kind of step does. */
type Performers = {
  readonly [Kind in Step['kind']]: (step: Step & { readonly kind: Kind }) => unknown;
};

async function signIn(step: SignIn, { world, service, accountOf }: Stage): Promise<void> {
  const claims = claimsAt(accountOf(step).id, step.address, step.who);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const entered = await service.signIn(claims);
    world.note(`sign-in ${step.name}, try ${attempt}: ${entered ?? 'no answer'}`);
    if (entered !== undefined) return;
    await world.sleep(world.dice.between(`${step.name} again ${attempt}`, 500, 4_000));
  }
}

function createIncidentSteps({ world, service }: Stage) {
  const { dice } = world;

  async function disturbExecution(step: Step): Promise<void> {
    const executions = [...service.stepFunctions.executions.values()];
    const one = executions[dice.between(`which ${step.at}`, 0, Math.max(0, executions.length - 1))];
    if (!one) return;
    if (step.kind === 'abort' && one.status === 'RUNNING') {
      world.noteIncident('execution aborted');
      service.stepFunctions.abort(one);
      if (!dice.chance(`redriven ${step.at}`, 0.4)) return;
      // Until then the reconciler has mostly taken up the creation, and often brought it to its end.
      await world.sleep(dice.between(`redriven after ${step.at}`, 100, 90_000));
      redrive(one);
    } else if (step.kind === 'redrive') redrive(one);
    else if (step.kind === 'restart') {
      world.noteIncident('execution started again');
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
    world.noteIncident('redrive after the end');
    service.stepFunctions.redrive(execution);
  }

  /**
   * Steps close to the turn of a month have a name of their own: there a wrong clock can charge the wrong
   * month.
   */
  function noteClock(name: string): void {
    const toTurn = Math.abs(world.time.now() - monthsEnd);
    world.noteIncident(toTurn < 60_000 ? `${name} within a minute of the month’s turn` : name);
  }

  return {
    /** Aborts, redrives or starts again one execution of the world. */
    disturbExecution /** Counts a clock step under its name. */,
    noteClock,
  };
}
