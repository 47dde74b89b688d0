/** Draws payments: the scenario of a seed of `--payments`, and the few payments of an ordinary seed. */
import type { PaymentHabits } from '../aws/payments.ts';
import { createDice, type Dice } from '../world/dice.ts';
import {
  beginOf,
  disputeOf,
  incidentOf,
  otherActOf,
  paymentStep,
  personActOf,
  topUpOf,
} from './payment-acts.ts';
import {
  type AccountPlan,
  monthsEnd,
  type PaymentAct,
  type PaymentStep,
  rich,
  type Scenario,
  type Step,
  undisturbed,
} from './scenario.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const microsOfCent = 10_000;

/** The scenario of a seed in which money comes in. */
export function paymentsOf(seed: number): Scenario {
  const dice = createDice(seed);
  const lengthMillis = dice.pick('length', [4 * minute, 12 * minute, 30 * minute]);
  const accounts = Array.from({ length: dice.pick('accounts', [1, 1, 2, 3]) }, (_, index) =>
    accountOf(dice, `account ${index}`),
  );
  const steps = stepsOf(dice, accounts, lengthMillis);
  if (dice.chance('restored', 0.1)) return restoredOf(seed, dice, accounts, steps, lengthMillis);
  const later = dice.chance('days later', 0.04) ? daysLater(dice, accounts) : [];
  return {
    ...undisturbed,
    seed,
    startAt: dice.chance('month turns', 0.34)
      ? monthsEnd - dice.between('before the turn', 0, lengthMillis + 8 * minute)
      : undisturbed.startAt,
    accounts,
    payments: habitsOf(dice, later.length > 0),
    steps: [...steps, ...later].sort((a, b) => a.at - b.at),
    faultProbability: dice.pick('faults', [0, 0, 0.01, 0.03, 0.1]),
    calmAfter: lengthMillis + dice.pick('calm', [0, minute, 10 * minute]),
    clockSpreadMillis: dice.pick('clocks', [0, 0, 300, 1_500]),
  };
}

/** A restore takes AWS longer, and nothing begins while the service is closed. */
const closedMillis = 10 * minute;

/** After the steps the operator restores the table to a moment between them. Then the accounts need money. */
function restoredOf(
  seed: number,
  dice: Dice,
  accounts: readonly AccountPlan[],
  steps: readonly Step[],
  lengthMillis: number,
): Scenario {
  const at = lengthMillis + dice.pick('closed for', [closedMillis, closedMillis, 50 * minute, day]);
  const kept = steps.filter(({ kind }) => kind !== 'submit');
  const toMillis = dice.between('restored to', 900, dice.pick('restored within', [1_000, lengthMillis]));
  const byOperator = (act: PaymentAct, after: number): Step => ({
    ...{ kind: 'payment', name: 'restore', account: 0, person: 0 },
    ...{ at: at + after, act },
  });
  const spends = Array.from({ length: 6 * accounts.length }, (_, index): Step => ({
    ...{ kind: 'adjust', account: index % accounts.length },
    at: at + 2_000 + dice.between(`poor ${index}`, 0, dice.pick('poor within', [3_000, 20 * minute])),
    amountMicros: -4_000_000,
  }));
  const others = Array.from({ length: 3 }, (_, index) =>
    paymentStep(
      `after ${index}`,
      (name) => dice.between(`${name} account`, 0, accounts.length - 1),
      (name) => at + dice.between(`${name} at`, 900, 20 * minute),
      dice.chance(`after ${index} pays`, 0.5)
        ? beginOf(dice, `after ${index}`)
        : otherActOf(dice, `after ${index}`),
    ),
  );
  return {
    ...undisturbed,
    seed,
    // The deliveries of notices that a restore takes back belong to no record.
    accounts: accounts.map(({ notices: _notices, ...plan }, index) => {
      const { capCents, ...topUp } = topUpOf(dice, `account ${index}`);
      return { ...plan, topUp: { ...topUp, capCents: 10 * capCents } };
    }),
    payments: habitsOf(dice, false),
    steps: [
      ...kept,
      byOperator({ does: 'restore', toMillis }, 0),
      // Before the events are read, the accounts need money.
      byOperator({ does: 'refuse_key', forMillis: dice.pick('refused for', [0, 3 * minute, 6 * minute]) }, 1),
      ...spends,
      ...others,
    ].sort((a, b) => a.at - b.at),
    faultProbability: dice.pick('faults', [0, 0, 0.01, 0.03, 0.1]),
    calmAfter: at + 20 * minute,
    clockSpreadMillis: dice.pick('clocks', [0, 0, 300, 1_500]),
  };
}

function habitsOf(dice: Dice, hasDays: boolean): PaymentHabits {
  const isGood = dice.chance('good events', 0.2);
  return {
    ...(dice.chance('Stripe is bad', 0.3) && { faultProbability: 0.2 }),
    settings: {
      automatic_tax: dice.chance('automatic tax', 0.15),
      suspend_on_dispute: dice.chance('suspend on dispute', 0.3),
    },
    webhooks: {
      losesAll: dice.chance('all events lost', 0.1),
      reverses: dice.chance('events reversed', 0.1),
      ...(isGood
        ? { lost: 0, fiveTimes: 0, late: 0, forged: 0.05 }
        : { lost: 0.3, fiveTimes: 0.15, late: 0.2, forged: 0.1 }),
      lateBy: hasDays ? [20_000, 7 * minute, hour, 2 * day] : [20_000, 7 * minute, 40 * minute],
    },
  };
}

function accountOf(dice: Dice, name: string): AccountPlan {
  const cents = dice.between(`${name} balance`, 0, 40) * 100;
  return {
    ...rich,
    balanceMicros: cents * microsOfCent,
    ...(dice.chance(`${name} notices`, 0.7) && {
      notices: { lowMicros: 2_000_000, receiver: dice.pick(`${name} notices to`, ['ok', 'ok', 'flaky']) },
    }),
    ...(dice.chance(`${name} automatic`, 0.6) && { topUp: topUpOf(dice, name) }),
  };
}

function stepsOf(dice: Dice, accounts: readonly AccountPlan[], lengthMillis: number): Step[] {
  const account = (name: string): number => dice.between(`${name} account`, 0, accounts.length - 1);
  const at = (name: string): number => dice.between(`${name} at`, 900, lengthMillis);
  const spends = Array.from({ length: dice.between('spends', 2, 7) }, (_, index): Step => {
    const name = `spend ${index}`;
    return {
      kind: 'adjust',
      account: account(name),
      at: at(name),
      amountMicros: -dice.between(`${name} dollars`, 2, 18) * 1_000_000,
    };
  });
  const submits = Array.from({ length: dice.pick('submits', [0, 0, 0, 1, 2]) }, (_, index): Step => {
    const name = `submit ${index}`;
    return {
      kind: 'submit',
      name,
      account: account(name),
      at: at(name),
      key: 0,
      model: 'sandbox-sketch',
      resolution: '1K',
      directives: '',
      images: [],
      polls: 1,
    };
  });
  const people = Array.from({ length: dice.between('people', 2, 7) }, (_, index) =>
    paymentStep(`person ${index}`, account, at, personActOf(dice, `person ${index}`)),
  );
  const twins = people
    .filter(({ name }) => dice.chance(`${name} in two tabs`, 0.15))
    .map((step): PaymentStep => ({
      ...step,
      name: `${step.name} again`,
      at: step.at + dice.pick(`${step.name} again after`, [0, 20, 3_000]),
    }));
  const others = Array.from({ length: dice.pick('others', [0, 1, 2, 4]) }, (_, index) =>
    paymentStep(`other ${index}`, account, at, otherActOf(dice, `other ${index}`)),
  );
  const disputes = dice.chance('dispute', 0.45)
    ? disputeOf(dice, 'dispute', account('dispute'), lengthMillis)
    : [];
  const incidents = dice.chance('mishap', 0.2) ? incidentOf(dice, 'mishap', at('mishap') + minute) : [];
  return [...spends, ...submits, ...people, ...twins, ...others, ...disputes, ...incidents];
}

/** Money that goes back, and money that is needed, when everything was quiet for days. */
function daysLater(dice: Dice, accounts: readonly AccountPlan[]): Step[] {
  const at = dice.pick('later', [1, 2, 3]) * day;
  const account = dice.between('later account', 0, accounts.length - 1);
  return [
    { kind: 'adjust', account, at, amountMicros: -5_000_000 },
    { kind: 'payment', name: 'later', account, at: at + minute, person: 0, act: otherActOf(dice, 'later') },
    ...(dice.chance('later dispute', 0.5)
      ? disputeOf(dice, 'later dispute', account, minute).map((step) => ({ ...step, at: step.at + at }))
      : []),
  ];
}

/** The few payments of an ordinary seed. */
export function paymentStepsOf(
  dice: Dice,
  accounts: readonly AccountPlan[],
  lengthMillis: number,
): { readonly steps: readonly Step[]; readonly payments: PaymentHabits } {
  const account = (name: string): number => dice.between(`${name} account`, 0, accounts.length - 1);
  const at = (name: string): number => dice.between(`${name} at`, 900, lengthMillis);
  const steps = Array.from({ length: dice.between('payments', 1, 3) }, (_, index) =>
    paymentStep(`payment ${index}`, account, at, {
      ...beginOf(dice, `payment ${index}`),
      paysAfter: dice.between(`payment ${index} after`, 100, 20_000),
    } as PaymentAct),
  );
  return { steps, payments: habitsOf(dice, false) };
}
