/**
 * The scenarios of one subject each: providers that go down and come back (`--flapping`), money that comes in
 * (`--payments`), notices by e-mail (`--mails`), cancels at random moments, and clients that all send at once (`--conflicts`).
 */
import { callingModel } from '../network/calling-vendor.ts';
import { flappingRoutes } from '../network/flapping-providers.ts';
import { createDice, type Dice } from '../world/dice.ts';
import { mailsOf } from './seeded-mails.ts';
import { paymentsOf } from './seeded-payments.ts';
import { type AccountPlan, rich, type Scenario, type Step, type Submit, undisturbed } from './scenario.ts';

/** By their flags. */
export const narrowScenarios = { flapping: flappingOf, payments: paymentsOf, mails: mailsOf } as const;
export type Narrow = keyof typeof narrowScenarios;

const [first = '', ...others] = Object.keys(flappingRoutes);

function planOf(dice: Dice, name: string): AccountPlan {
  return { ...rich, deadlineSeconds: dice.pick(name, [15, 40, 40, 140, 300]), secret: false };
}

/** The scenario of a seed. */
export function flappingOf(seed: number): Scenario {
  const dice = createDice(seed);
  const lengthMillis = dice.pick('length', [5_000, 30_000, 120_000]);
  const accounts = [planOf(dice, 'patience'), planOf(dice, 'other patience')];
  const submits = Array.from({ length: dice.between('submits', 4, 16) }, (_, index) =>
    flappingSubmit(dice, `flapping ${index}`, accounts.length, lengthMillis),
  );
  return {
    ...undisturbed,
    seed,
    accounts,
    steps: submits.sort((a, b) => a.at - b.at),
    routeOrder: dice.pick('route order', ['given', 'given', 'cheapest', 'fastest']),
    faultProbability: dice.pick('faults', [0, 0, 0.01, 0.05]),
    calmAfter: lengthMillis + 60_000,
    clockSpreadMillis: dice.pick('clocks', [0, 0, 300]),
  };
}

/** A request for a model whose providers flap. */
export function flappingSubmit(dice: Dice, name: string, accounts: number, lengthMillis: number): Submit {
  return {
    kind: 'submit',
    name,
    account: dice.between(`${name} account`, 0, accounts - 1),
    key: 0,
    // At each of four moments several come together. Only then do two creations see the same probe.
    at: dice.chance(`${name} together`, 0.5)
      ? (dice.between(`${name} instant`, 1, 4) * lengthMillis) / 4 + dice.between(`${name} jitter`, 0, 4)
      : dice.between(`${name} at`, 500, lengthMillis),
    model: dice.pick(`${name} model`, [first, ...others]),
    resolution: '1K',
    directives: '',
    images: [],
    polls: 0,
    ...(dice.chance(`${name} for a user`, 0.85) && { user: `user ${dice.between(`${name} user`, 1, 2)}` }),
    ...(dice.chance(`${name} webhook`, 0.1) && { webhook: 'ok' as const }),
  };
}

/**
 * Many creations that end by themselves and are cancelled at random moments: before their start, at their first
 * attempt, while their job runs, at their end, and later. Nothing else goes wrong.
 */
const cancellingAccounts = 5;

/**
 * The scenario of a seed, with the given number of creations. They end by themselves, and each is cancelled once:
 * before its start, at its first attempt, while its job runs, at its end, or later.
 */
export function cancelsOf(seed: number, creations: number): Scenario {
  const dice = createDice(seed);
  return {
    ...undisturbed,
    seed,
    // The deadline is late enough for a job to wait for its callback.
    accounts: Array.from({ length: cancellingAccounts }, () => ({ ...rich, deadlineSeconds: 150 })),
    steps: Array.from({ length: creations }, (_, index) => cancelledSubmit(dice, `submit ${index}`, index)),
    calmAfter: 0,
  };
}

function cancelledSubmit(dice: Dice, name: string, index: number): Submit {
  const asynchronous = { model: 'sandbox-standard', directives: '[sandbox:async=2s]' };
  const { model, directives, most } = dice.pick(`${name} kind`, [
    // Ends after some 200 ms.
    { model: 'sandbox-sketch', directives: '', most: 300 },
    { model: 'sandbox-sketch', directives: '[sandbox:delay=1s]', most: 1_500 },
    { ...asynchronous, most: 300 },
    { ...asynchronous, most: 3_000 },
    { model: callingModel, directives: '', most: 10_000 },
  ]);
  return {
    kind: 'submit',
    name,
    model,
    directives,
    account: index % cancellingAccounts,
    key: 0,
    at: dice.between(`${name} at`, 1_000, 21_000),
    resolution: '1K',
    images: [],
    polls: 0,
    webhook: 'ok',
    cancelAfter: dice.between(`${name} cancelled after`, 0, most),
  };
}

// The scenario of `--conflicts`: clients send requests of every kind, many of them at the same time, while an
// operator gives commands. Single writes meet conflicts all the time, and nothing else goes wrong.

/** The number of the clients' steps in one scenario. Polls and repetitions come on top. */
const clientSteps = 110;
const lengthMillis = 45_000;
/**
 * When a key is revoked and an account is suspended. The clients stop using them shortly before.
 */
const revokedAt = 20_000;
const suspendedAt = 30_000;

const ofConflicts: AccountPlan = { ...rich, postRate: 1_000, keys: [{ capMicros: 900_000_000 }, {}] };
/** The second account reaches its limits, and the third account is suspended. */
const conflictAccounts: readonly AccountPlan[] = [
  ofConflicts,
  { ...ofConflicts, balanceMicros: 400_000, maxConcurrent: 3, postRate: 12 },
  ofConflicts,
];

/** Creates the scenario of a seed. Each single write meets a conflict with this probability. */
export function conflictsOf(seed: number, conflictProbability: number): Scenario {
  const dice = createDice(seed);
  const clients = Array.from({ length: clientSteps }, (_, index) =>
    clientStep(dice, `client ${index}`, index),
  );
  return {
    ...undisturbed,
    seed,
    accounts: conflictAccounts,
    steps: [...clients, ...operatorSteps(dice)].sort((a, b) => a.at - b.at),
    conflictProbability,
    calmAfter: Infinity,
  };
}

const clientKinds = [
  'submit',
  'submit',
  'submit',
  'submit',
  'list',
  'balance',
  'quote',
  'models',
  'stranger',
  'foreign_poll',
] as const;

function clientStep(dice: Dice, name: string, index: number): Step {
  // Many clients act at each of twenty moments. The first moment comes after each account got its secret.
  const at =
    1_000 +
    dice.between(`${name} instant`, 0, 19) * ((lengthMillis - 1_000) / 20) +
    dice.between(`${name} jitter`, 0, 15);
  const account = dice.between(`${name} account`, 0, at < suspendedAt - 1_000 ? 2 : 1);
  const key = at < revokedAt - 1_000 ? dice.between(`${name} key`, 0, 1) : 0;
  const kind = dice.pick(`${name} kind`, clientKinds);
  if (kind === 'submit') return submitStep(dice, name, index, { at, account, key });
  return kind === 'stranger' || kind === 'foreign_poll' ? { kind, at, account } : { kind, at, account, key };
}

function submitStep(
  dice: Dice,
  name: string,
  index: number,
  placed: Pick<Submit, 'at' | 'account' | 'key'>,
): Submit {
  const isShared = dice.chance(`${name} shared`, 0.4);
  return {
    ...placed,
    name,
    kind: 'submit',
    model: 'sandbox-standard',
    resolution: '1K',
    directives: isShared
      ? ''
      : dice.pick(`${name} directives`, [
          '',
          '',
          '[sandbox:delay=1s]',
          '[sandbox:async=2s]',
          '[sandbox:reject-prompt]',
          '[sandbox:fail]',
        ]),
    images: !isShared && dice.chance(`${name} images`, 0.3) ? ['https://sources.test/one.png'] : [],
    polls: dice.between(`${name} polls`, 0, 2),
    ...(dice.chance(`${name} idempotent`, 0.6) && {
      idempotencyKey: isShared ? `key-shared-${index % 5}` : `key-${index}`,
    }),
    ...(!isShared && dice.chance(`${name} webhook`, 0.3) && { webhook: 'ok' as const }),
    ...(dice.chance(`${name} waits`, 0.3) && { wait: dice.between(`${name} wait`, 1, 10) }),
  };
}

function operatorSteps(dice: Dice): Step[] {
  const topUps = Array.from({ length: 4 }, (_, index): Step => ({
    kind: 'top_up',
    at: dice.between(`top-up ${index}`, 500, lengthMillis),
    account: index % 2,
    amountMicros: 100_000,
    reference: `reference-${index}`,
  }));
  return [
    ...topUps,
    { kind: 'adjust', at: 9_000, account: 0, amountMicros: -50_000 },
    { kind: 'credit_line', at: 12_000, account: 1, amountMicros: 200_000 },
    { kind: 'cap', at: 15_000, account: 0, key: 0, cap: 'monthlyCapMicros', capMicros: 800_000_000 },
    { kind: 'rotate_secret', at: 16_000, account: 0 },
    ...conflictAccounts.map((_, account): Step => ({ kind: 'revoke', at: revokedAt, account, key: 1 })),
    { kind: 'suspend', at: suspendedAt, account: 2 },
  ];
}
