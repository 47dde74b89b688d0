/**
 * The scenario of `--conflicts`: crowds of clients send requests of every kind, many of them at the same
 * instant, while an operator gives commands. Single writes meet conflicts all the time, and nothing else goes
 * wrong.
 */
import { createDice, type Dice } from '../world/dice.ts';
import type { AccountPlan, Scenario, Step, Submit } from './scenario.ts';

/** The number of the clients' steps in one scenario. Polls and repetitions come on top. */
const clientSteps = 110;
const lengthMillis = 45_000;
/**
 * When a key is revoked and an account is suspended. The crowd no longer uses them from shortly before that
 * on.
 */
const revokedAt = 20_000;
const suspendedAt = 30_000;
const startAt = Date.UTC(2026, 10, 21, 12, 0, 5);

const rich: AccountPlan = {
  balanceMicros: 1_000_000_000,
  creditMicros: 0,
  maxConcurrent: 1_000,
  deadlineSeconds: 40,
  postRate: 1_000,
  maxUnusedUploads: 100,
  secret: true,
  keys: [{ capMicros: 900_000_000 }, {}],
};
/** The second account reaches its limits, and the third account is suspended. */
const accounts: readonly AccountPlan[] = [
  rich,
  { ...rich, balanceMicros: 400_000, maxConcurrent: 3, postRate: 12 },
  rich,
];

/** Creates the crowd of a seed. Each single write meets a conflict with this probability. */
export function crowdOf(seed: number, conflictProbability: number): Scenario {
  const dice = createDice(seed);
  const clients = Array.from({ length: clientSteps }, (_, index) =>
    clientStep(dice, `client ${index}`, index),
  );
  return {
    seed,
    startAt,
    accounts,
    steps: [...clients, ...operatorSteps(dice)].sort((a, b) => a.at - b.at),
    faultProbability: 0,
    conflictProbability,
    calmAfter: Infinity,
    clockSpreadMillis: 0,
    holdMillis: [3, 25],
    slowBucketMillis: 0,
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
  // Many clients meet at each of twenty instants. The first instant comes after each account got its secret.
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
    ...accounts.map((_, account): Step => ({ kind: 'revoke', at: revokedAt, account, key: 1 })),
    { kind: 'suspend', at: suspendedAt, account: 2 },
  ];
}
