/** Draws the scenario of a seed. */
import { createDice, type Dice } from '../world/dice.ts';
import { bucketStepsOf } from './seeded-buckets.ts';
import { endpointsOf, endpointStepsOf } from './seeded-endpoints.ts';
import { mailsOf } from './seeded-mails.ts';
import { flappingSubmit } from './narrow-scenarios.ts';
import { type AccountPlan, type KeyPlan, monthsEnd, type Scenario, type Step } from './scenario.ts';
import {
  catalogsOf,
  closingOf,
  otherStepOf,
  releasesOf,
  uploadsOf,
  userTokensOf,
} from './seeded-other-steps.ts';
import { backEndsOf } from './seeded-back-ends.ts';
import { peopleAtOnce, withRoomForPeople } from './seeded-people-at-once.ts';
import { paymentStepsOf } from './seeded-payments.ts';
import { portalStepsOf } from './seeded-portal.ts';
import {
  burstOf,
  librariesAlone,
  openaiOf,
  repeatedNextDay,
  submitOf,
  withRoomForLibraries,
} from './seeded-submits.ts';

const cents = 10_000;
const midMonth = Date.UTC(2026, 10, 21, 12, 0, 30);

/** Creates the scenario of a seed. */
export function scenarioOf(seed: number): Scenario {
  const dice = createDice(seed);
  if (dice.chance('e-mails alone', 0.03)) return mailsOf(seed);
  const lengthMillis = dice.pick('length', [5_000, 20_000, 90_000]);
  const startAt = dice.chance('month turns', 0.35) ? monthsEnd - beforeTheTurn(dice, lengthMillis) : midMonth;
  const opened = Array.from({ length: dice.between('accounts', 1, 2) }, (_, index) =>
    accountOf(dice, `account ${index}`),
  );
  const burst = dice.chance('burst', 0.2) ? burstOf(dice, 'burst', lengthMillis) : [];
  // The account that gets a burst has a low POST rate.
  const tight = opened.map((plan, index) =>
    burst.length > 0 && index === 0 ? { ...plan, postRate: dice.between('tight rate', 1, 4) } : plan,
  );
  const isQuiet = dice.chance('users reach their caps in quiet', 0.03);
  const accounts = isQuiet ? tight.map(withCapsOfUsers) : tight;
  const submits = Array.from({ length: dice.between('submits', 3, 9) }, (_, index) =>
    submitOf(dice, `submit ${index}`, index, accounts, lengthMillis),
  );
  const others = Array.from({ length: dice.between('others', 1, 8) }, (_, index) =>
    otherStepOf(dice, `other ${index}`, index, accounts, lengthMillis),
  );
  const readings = Array.from({ length: dice.between('readings', 0, 3) }, (_, index) =>
    readingOf(dice, `reading ${index}`, accounts, lengthMillis),
  );
  const notices = dice.chance('notices change', 0.2) ? [noticeStepOf(dice, accounts, lengthMillis)] : [];
  const uploads = dice.chance('uploads', 0.3) ? uploadsOf(dice, accounts, lengthMillis) : [];
  const followers = Array.from({ length: dice.pick('followers', [0, 0, 1, 2, 4]) }, (_, index) =>
    followerOf(dice, `follower ${index}`, accounts, lengthMillis),
  );
  const cancels = Array.from({ length: dice.between('cancels', 0, 2) }, (_, index): Step => ({
    kind: 'operator_cancel',
    account: dice.between(`cancel ${index} account`, 0, accounts.length - 1),
    at: dice.between(`cancel ${index} at`, 1_000, lengthMillis),
  }));
  const erasures = dice.chance('operator erases', 0.15) ? [erasureOf(dice, accounts, lengthMillis)] : [];
  const people = dice.chance('people use the portal', 0.25)
    ? portalStepsOf(dice, accounts, lengthMillis)
    : [];
  const libraries = dice.chance('openai libraries', 0.05)
    ? [openaiOf(dice, 'library', accounts, lengthMillis)]
    : [];
  const catalogs = dice.chance('own catalog', 0.15) ? catalogsOf(dice, lengthMillis) : [];
  const closing = dice.chance('service closes', 0.08) ? closingOf(dice, lengthMillis) : [];
  const tomorrow = dice.chance('a day later', 0.1)
    ? submits.flatMap((submit) => repeatedNextDay(dice, submit))
    : [];
  const flapping = dice.chance('providers flap', 0.15)
    ? Array.from({ length: dice.between('flapping', 2, 6) }, (_, index) =>
        flappingSubmit(dice, `flapping ${index}`, accounts.length, lengthMillis),
      )
    : [];
  const tokens = dice.chance('tokens of users', 0.15) ? userTokensOf(dice, accounts, lengthMillis) : [];
  const endpoints = dice.chance('endpoints change', 0.3) ? endpointStepsOf(dice, accounts, lengthMillis) : [];
  const buckets = dice.chance('buckets', 0.15) ? bucketStepsOf(dice, accounts, lengthMillis) : [];
  const isAtOnce = !isQuiet && dice.chance('people at once', 0.04);
  const isOfLibraries = !isQuiet && !isAtOnce && dice.chance('libraries alone', 0.06);
  const isOrdinary = !isQuiet && !isAtOnce && !isOfLibraries;
  const backEnds =
    isOrdinary && dice.chance('back ends', 0.2) ? backEndsOf(dice, accounts, lengthMillis) : undefined;
  const payments =
    isOrdinary && dice.chance('payments', 0.05) ? paymentStepsOf(dice, accounts, lengthMillis) : undefined;
  return {
    seed,
    startAt,
    accounts: isAtOnce
      ? accounts.map(withRoomForPeople)
      : isOfLibraries
        ? accounts.map(withRoomForLibraries)
        : accounts,
    steps: isQuiet
      ? quietSubmits()
      : isAtOnce
        ? peopleAtOnce(dice).sort((a, b) => a.at - b.at)
        : isOfLibraries
          ? librariesAlone(dice, accounts, lengthMillis).sort((a, b) => a.at - b.at)
          : [
              ...submits,
              ...flapping,
              ...burst,
              ...others,
              ...readings,
              ...notices,
              ...cancels,
              ...erasures,
              ...(people.length + followers.length === 0
                ? accountErasuresOf(dice, accounts, lengthMillis)
                : []),
              ...tomorrow,
              ...uploads,
              ...releasesOf(dice, lengthMillis),
              ...followers,
              ...libraries,
              ...catalogs,
              ...closing,
              ...tokens,
              ...endpoints,
              ...buckets,
              ...(backEnds?.steps ?? []),
              ...people,
              ...(payments?.steps ?? []),
            ].sort((a, b) => a.at - b.at),
    ...(payments && { payments: payments.payments }),
    ...(backEnds?.operatorKeys && { operatorKeys: backEnds.operatorKeys }),
    faultProbability: isQuiet
      ? 0
      : dice.pick('faults', isOfLibraries ? [0, 0.03, 0.1, 0.2] : [0, 0.01, 0.03, 0.1]),
    calmAfter: lengthMillis + dice.pick('calm', [isOfLibraries ? 90_000 : 0, 60_000, 300_000, 1_500_000]),
    clockSpreadMillis: dice.pick('clocks', [0, 0, 300, 1_500]),
    slowBucketMillis: dice.chance('slow bucket', 0.1) ? dice.between('slow by', 28_000, 34_000) : 0,
    holdMillis: dice.pick<readonly [number, number]>('holds', [
      [2, 8],
      [3, 25],
      [10, 60],
    ]),
  };
}

/** Of a creation, in the middle of everything or while its webhook is tried. */
function erasureOf(dice: Dice, accounts: readonly AccountPlan[], lengthMillis: number): Step {
  return {
    kind: 'erase_creation',
    account: dice.between('erasure account', 0, accounts.length - 1),
    at: dice.between('erasure at', 1_000, lengthMillis + 600_000),
  };
}

/** Of a whole account, without people and readers of events. To their invariants an erased account is a loss. */
function accountErasuresOf(dice: Dice, accounts: readonly AccountPlan[], lengthMillis: number): Step[] {
  if (!dice.chance('account erased', 0.3)) return [];
  const account = dice.between('erased account', 0, accounts.length - 1);
  return [{ kind: 'erase_account', account, at: dice.between('account erased at', 1_000, lengthMillis) }];
}

/** In some scenarios the month turns while many requests come at the same time. */
function beforeTheTurn(dice: Dice, lengthMillis: number): number {
  return dice.chance('turns at the crowd', 0.4)
    ? dice.between('at the crowd', 980, 1_100)
    : dice.between('before the turn', 0, lengthMillis);
}

function accountOf(dice: Dice, name: string): AccountPlan {
  const key = (index: number): KeyPlan =>
    dice.chance(`${name} cap ${index}`, 0.5)
      ? { capMicros: dice.between(`${name} cap of ${index}`, 1, 30) * cents }
      : otherCap(dice, `${name} other cap ${index}`);
  const notices = dice.chance(`${name} notices`, 0.6) ? noticesOf(dice, name) : undefined;
  const isTight = notices !== undefined && dice.chance(`${name} tight`, 0.25);
  const keyPlan = (index: number): KeyPlan =>
    isTight ? tightCap(dice, `${name} tight cap ${index}`) : key(index);
  return {
    balanceMicros: dice.between(`${name} balance`, 0, dice.pick(`${name} rich`, [20, 100])) * cents,
    creditMicros: dice.chance(`${name} credit`, 0.3) ? dice.between(`${name} credit line`, 1, 20) * cents : 0,
    maxConcurrent: dice.pick(`${name} concurrent`, [1, 3, 20]),
    deadlineSeconds: dice.chance(`${name} patient`, 0.3)
      ? dice.pick(`${name} patience`, [140, 150, 300])
      : dice.pick(`${name} deadline`, [5, 15, 40]),
    postRate: dice.pick(`${name} rate`, [3, 10, 60]),
    maxUnusedUploads: dice.pick(`${name} uploads`, [1, 2, 100]),
    secret: dice.chance(`${name} secret`, 0.85),
    keys: dice.chance(`${name} keys`, 0.3) ? [keyPlan(0), keyPlan(1)] : [keyPlan(0)],
    ...(notices && { notices }),
    ...(dice.chance(`${name} signed`, 0.3) && { signedMinutes: dice.pick(`${name} minutes`, [1, 1, 60]) }),
    ...(dice.chance(`${name} endpoints`, 0.3) && { endpoints: endpointsOf(dice, name) }),
  };
}

function noticesOf(dice: Dice, name: string): NonNullable<AccountPlan['notices']> {
  return {
    lowMicros: dice.between(`${name} low`, 1, 40) * cents,
    receiver: dice.pick(`${name} notices to`, ['ok', 'ok', 'flaky', 'broken', 'slow']),
    ...(dice.chance(`${name} has a budget`, 0.5) && {
      budgetMicros: dice.between(`${name} budget`, 1, 30) * cents,
    }),
  };
}

/** Another threshold, and in most cases an address. */
function noticeStepOf(dice: Dice, accounts: readonly AccountPlan[], lengthMillis: number): Step {
  const { lowMicros, receiver } = noticesOf(dice, 'notices');
  return {
    kind: 'notices',
    account: dice.between('notices account', 0, accounts.length - 1),
    at: dice.between('notices at', 900, lengthMillis),
    lowMicros,
    ...(dice.chance('notices on', 0.8) && { receiver }),
  };
}

/** Most keys without a monthly cap have another cap or two. */
function otherCap(dice: Dice, name: string): KeyPlan {
  const amount = dice.between(`${name} amount`, 1, 15) * cents;
  return dice.pick<KeyPlan>(name, [
    {},
    {},
    { dailyMicros: amount },
    { totalMicros: amount },
    { totalMicros: 2 * amount, earlierMicros: amount },
    { perUserMicros: amount },
    { dailyMicros: 2 * amount, perUserMicros: amount },
  ]);
}

/** A cap that a few creations reach, so that its notices are sent. */
function tightCap(dice: Dice, name: string): KeyPlan {
  const amount = dice.between(`${name} amount`, 4, 12) * cents;
  return dice.pick<KeyPlan>(name, [
    { dailyMicros: amount },
    { totalMicros: 2 * amount, earlierMicros: amount },
    { perUserMicros: amount },
  ]);
}

/** Four submits for each of two users, whose caps cover three. */
function quietSubmits(): Step[] {
  return Array.from({ length: 8 }, (_, index) => ({
    kind: 'submit',
    name: `submit ${index}`,
    account: 0,
    key: 0,
    at: 1_000 + 500 * index,
    model: 'sandbox-sketch',
    resolution: '1K',
    directives: '',
    images: [],
    polls: 1,
    user: `user ${1 + (index % 2)}`,
  }));
}

/**
 * The notice of each crossed threshold can be checked only without faults, and chance seldom lets a user reach a cap
 * without a fault.
 */
function withCapsOfUsers(plan: AccountPlan): AccountPlan {
  const key: KeyPlan = { perUserMicros: 3 * cents };
  return {
    ...plan,
    balanceMicros: 100 * cents,
    maxConcurrent: 20,
    postRate: 60,
    keys: [key, ...plan.keys.slice(1).map(() => key)],
    notices: { lowMicros: cents, receiver: 'ok' },
  };
}

/** A client that follows the events, fast or slowly. Often more than one follows the same account. */
function followerOf(dice: Dice, name: string, accounts: readonly AccountPlan[], lengthMillis: number): Step {
  const account = dice.chance(`${name} with the first`, 0.7) ? 0 : accounts.length - 1;
  return {
    kind: 'events',
    name,
    account,
    key: dice.between(`${name} key`, 0, (accounts[account]?.keys.length ?? 1) - 1),
    at: dice.chance(`${name} early`, 0.5)
      ? dice.between(`${name} at once`, 0, 900)
      : dice.between(`${name} at`, 900, lengthMillis),
    reads: dice.between(`${name} reads`, 2, 14),
    limit: dice.pick(`${name} limit`, [1, 2, 100]),
    wait: dice.pick(`${name} wait`, [0, 0, 2, 20]),
    pauseMillis: dice.pick(`${name} pause`, [200, 2_000, 30_000, 300_000]),
    isNotified: dice.chance(`${name} is told`, 0.4),
    notices: dice.chance(`${name} notices`, 0.5),
  };
}

/** A step that only reads. */
function readingOf(dice: Dice, name: string, accounts: readonly AccountPlan[], lengthMillis: number): Step {
  const account = dice.between(`${name} account`, 0, accounts.length - 1);
  const key = dice.between(`${name} key`, 0, (accounts[account]?.keys.length ?? 1) - 1);
  return {
    kind: dice.pick(`${name} kind`, ['list', 'balance', 'quote', 'models']),
    account,
    key,
    at: dice.between(`${name} at`, 900, lengthMillis + 5_000),
  };
}
