/** Draws the scenarios whose people get notices by e-mail, and change their minds while SNS refuses them. */
import type { NoticeType } from '../../../service/notices/notice.ts';
import { createDice, type Dice } from '../world/dice.ts';
import {
  type AccountPlan,
  peopleAtStart,
  type PortalAct,
  type Scenario,
  type Step,
  undisturbed,
} from './scenario.ts';

const cents = 10_000;
const minuteMillis = 60_000;

type Kinds = readonly NoticeType[];
const chosen: readonly [Kinds, ...Kinds[]] = [
  ['wallet.low', 'wallet.empty', 'key.cap_reached', 'budget.reached'],
  ['wallet.low', 'wallet.empty', 'key.cap_reached', 'budget.reached'],
  ['wallet.low', 'wallet.empty'],
  ['key.cap_reached', 'budget.reached'],
];

/** The scenario of a seed. */
export function mailsOf(seed: number): Scenario {
  const dice = createDice(seed);
  const lengthMillis = dice.pick('length', [5_000, 20_000, 90_000]);
  return {
    ...undisturbed,
    seed,
    accounts: accountsOf(dice),
    steps: stepsOf(dice, lengthMillis).sort((a, b) => a.at - b.at),
    mails: { refusal: dice.pick('SNS refuses', [0, 0, 0.4, 0.7, 1]) },
    faultProbability: dice.pick('faults', [0, 0, 0.01, 0.05]),
    calmAfter: lengthMillis + dice.pick('calm', [0, 60_000, 900_000]),
    clockSpreadMillis: dice.pick('clocks', [0, 0, 300]),
  };
}

/** Accounts that a few creations bring below their limits, and above their caps. */
function accountsOf(dice: Dice): readonly AccountPlan[] {
  return [0, 1].map((index): AccountPlan => {
    const name = `mail account ${index}`;
    return {
      balanceMicros: dice.between(`${name} balance`, 3, 12) * cents,
      creditMicros: 0,
      maxConcurrent: 20,
      deadlineSeconds: 40,
      postRate: 60,
      maxUnusedUploads: 100,
      // Without a secret there are only e-mails.
      secret: dice.chance(`${name} secret`, 0.6),
      keys: [{ dailyMicros: dice.between(`${name} cap`, 3, 8) * cents }],
      ...(dice.chance(`${name} notices`, 0.7) && {
        notices: {
          lowMicros: dice.between(`${name} low`, 2, 10) * cents,
          receiver: dice.pick(`${name} notices to`, ['ok', 'broken']),
          budgetMicros: dice.between(`${name} budget`, 2, 10) * cents,
        },
      }),
    };
  });
}

/** People choose, creations cross the limits, and then people choose again, leave, or lose their topic. */
function stepsOf(dice: Dice, lengthMillis: number): Step[] {
  const choices = [0, 1].flatMap((account) =>
    peopleAtStart.flatMap((_role, person): Step[] => {
      const name = `mails of ${account} ${person}`;
      if (!dice.chance(name, 0.75)) return [];
      return [portalStep(name, account, person, dice.between(`${name} at`, 600, 2_500), choice(dice, name))];
    }),
  );
  const submits = Array.from({ length: dice.between('submits', 8, 16) }, (_, index): Step => {
    const name = `submit ${index}`;
    return {
      kind: 'submit',
      name,
      account: dice.between(`${name} account`, 0, 1),
      key: 0,
      at: dice.between(`${name} at`, 4_000, Math.max(8_000, lengthMillis)),
      model: 'sandbox-sketch',
      resolution: '1K',
      directives: dice.pick(`${name} directives`, ['', '', '[sandbox:delay=4s]', '[sandbox:fail]']),
      images: [],
      polls: 0,
    };
  });
  const topUps = [0, 1].map((account): Step => ({
    kind: 'top_up',
    at: dice.between(`top-up ${account}`, 4_000, lengthMillis + minuteMillis),
    account,
    amountMicros: 5 * cents,
    reference: `reference ${account}`,
  }));
  const changes = Array.from({ length: dice.between('changes', 2, 8) }, (_, index) =>
    changesOf(dice, `change ${index}`, lengthMillis),
  ).flat();
  // A second execution of a notice finds its attempts claimed.
  const restarts = Array.from({ length: dice.pick('restarts', [0, 0, 0, 4]) }, (_, index): Step => ({
    kind: 'restart',
    at: dice.between(`restart ${index}`, 5_000, lengthMillis + 10 * minuteMillis),
    account: 0,
  }));
  return [...choices, ...submits, ...topUps, ...changes, ...restarts];
}

function choice(dice: Dice, name: string): PortalAct {
  const isConfirmed = dice.chance(`${name} confirms`, 0.9);
  return {
    does: 'choose_emails',
    kinds: dice.pick(`${name} chooses`, chosen),
    ...(isConfirmed && { confirmAfter: dice.pick(`${name} confirms after`, [100, 100, 1_000, 90_000]) }),
  };
}

/** In the middle of everything, or while the e-mails are tried again. A person may choose while others end it. */
function changesOf(dice: Dice, name: string, lengthMillis: number): Step[] {
  const account = dice.between(`${name} account`, 0, 1);
  const person = dice.between(`${name} person`, 0, 2);
  const at =
    dice.between(`${name} at`, 3_000, lengthMillis) +
    dice.between(`${name} late`, 0, dice.pick(`${name} latest`, [0, 10, 10])) * minuteMillis;
  const acts = (own: string, by: number, act: PortalAct, when = at): Step =>
    portalStep(own, account, by, when, act);
  const chooses = (of: number): Step[] => {
    const own = `${name} at once`;
    if (!dice.chance(own, 0.4)) return [];
    return [acts(own, of, choice(dice, own), at + dice.between(`${own} after`, -50, 50))];
  };
  const does = dice.pick(`${name} does`, kindsOfChange);
  switch (does) {
    case 'choose':
      return [acts(name, person, choice(dice, name))];
    case 'end':
      return [acts(name, person, { does: 'choose_emails', kinds: [] }), ...chooses(person)];
    case 'remove': {
      const target = Math.max(1, person);
      return [acts(name, 0, { does: 'remove_person', target }), ...chooses(target)];
    }
    case 'lose':
    case 'unsubscribe':
      return [{ kind: 'mail_topic', does, account, person, at }];
  }
}

const kindsOfChange = [
  'choose',
  'choose',
  'choose',
  'end',
  'end',
  'remove',
  'remove',
  'lose',
  'unsubscribe',
] as const;

function portalStep(name: string, account: number, person: number, at: number, act: PortalAct): Step {
  return { kind: 'portal', name, account, person, at, thinkMillis: 10, act };
}
