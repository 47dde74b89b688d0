/** What a seed makes happen: accounts, and the steps of clients, operators and mishaps, as data that can be shrunk. */
import { createDice, type Dice } from '../world/dice.ts';
import { silentHost } from '../network/outbound.ts';
import { rudenesses, type Behaviour } from '../network/peer-behaviours.ts';

export interface KeyPlan {
  readonly capMicros?: number;
}

export interface AccountPlan {
  readonly balanceMicros: number;
  readonly creditMicros: number;
  readonly maxConcurrent: number;
  readonly deadlineSeconds: number;
  readonly postRate: number;
  readonly secret: boolean;
  readonly keys: readonly [KeyPlan, ...KeyPlan[]];
}

interface Placed {
  /** Milliseconds from the start. */
  readonly at: number;
  readonly account: number;
}

export interface Submit extends Placed {
  readonly kind: 'submit';
  readonly name: string;
  readonly key: number;
  readonly model: string;
  readonly resolution: '1K' | '2K';
  readonly directives: string;
  readonly idempotencyKey?: string;
  readonly webhook?: Behaviour;
  readonly wait?: number;
  readonly images: readonly string[];
  readonly polls: number;
}

export type Step =
  | Submit
  | (Placed & { readonly kind: 'top_up'; readonly amountMicros: number; readonly reference: string })
  | (Placed & { readonly kind: 'adjust' | 'credit_line'; readonly amountMicros: number })
  | (Placed & {
      readonly kind: 'suspend' | 'activate' | 'rotate_secret' | 'redeliver' | 'foreign_poll' | 'stranger';
    })
  | (Placed & { readonly kind: 'revoke'; readonly key: number })
  | (Placed & { readonly kind: 'cap'; readonly key: number; readonly capMicros: number })
  | (Placed & {
      readonly kind: 'abort' | 'restart' | 'redrive' | 'reconcile_again' | 'rotate_encryption' | 'expire';
    })
  | (Placed & { readonly kind: 'list' | 'balance' | 'quote' | 'models'; readonly key: number })
  | (Placed & { readonly kind: 'test_delivery'; readonly webhook: Behaviour })
  | (Placed & { readonly kind: 'clock'; readonly byMillis: number })
  /** Of one function alone. */
  | (Placed & { readonly kind: 'clock_of'; readonly name: string; readonly byMillis: number });

export interface Scenario {
  readonly seed: number;
  /** Epoch milliseconds. */
  readonly startAt: number;
  readonly accounts: readonly AccountPlan[];
  readonly steps: readonly Step[];
  /** Of a call going wrong. */
  readonly faultProbability: number;
  /** Of a single write meeting a conflict; then nothing else goes wrong. */
  readonly conflictProbability?: number;
  /** Milliseconds from the start of each day; no fault strikes behind it. */
  readonly calmAfter: number;
  /** How wrong each environment's clock is at most, in either direction. */
  readonly clockSpreadMillis: number;
  /** How long a transaction holds its items at least and at most, in milliseconds. */
  readonly holdMillis: readonly [least: number, most: number];
  /** How long each call of the bucket takes on top, in milliseconds: longer than a request may take, or not at all. */
  readonly slowBucketMillis: number;
}

const cents = 10_000;
const directives = [
  '',
  '',
  '',
  '',
  '[sandbox:delay=1s]',
  '[sandbox:delay=4s]',
  '[sandbox:async=2s]',
  '[sandbox:reject-prompt]',
  '[sandbox:fail]',
  '[sandbox:empty]',
  '[sandbox:down]',
  '[sandbox:down=sandbox]',
  '[sandbox:hang]',
  '[sandbox:crash]',
] as const;
/** A month's turn, around which a third of the scenarios play. */
export const monthsEnd = Date.UTC(2026, 11, 1);
const midMonth = Date.UTC(2026, 10, 21, 12, 0, 30);

/** The scenario of a seed. */
export function scenarioOf(seed: number): Scenario {
  const dice = createDice(seed);
  const lengthMillis = dice.pick('length', [5_000, 20_000, 90_000]);
  const startAt = dice.chance('month turns', 0.35)
    ? monthsEnd - dice.between('before the turn', 0, lengthMillis)
    : midMonth;
  const opened = Array.from({ length: dice.between('accounts', 1, 2) }, (_, index) =>
    accountOf(dice, `account ${index}`),
  );
  const burst = dice.chance('burst', 0.2) ? burstOf(dice, 'burst', lengthMillis) : [];
  // A burst comes to a tight rate.
  const accounts = opened.map((plan, index) =>
    burst.length > 0 && index === 0 ? { ...plan, postRate: dice.between('tight rate', 1, 4) } : plan,
  );
  const submits = Array.from({ length: dice.between('submits', 3, 9) }, (_, index) =>
    submitOf(dice, `submit ${index}`, index, accounts, lengthMillis),
  );
  const others = Array.from({ length: dice.between('others', 1, 8) }, (_, index) =>
    otherOf(dice, `other ${index}`, index, accounts, lengthMillis),
  );
  const readings = Array.from({ length: dice.between('readings', 0, 3) }, (_, index) =>
    readingOf(dice, `reading ${index}`, accounts, lengthMillis),
  );
  const tomorrow = dice.chance('a day later', 0.1)
    ? submits.flatMap((submit) => againTomorrow(dice, submit))
    : [];
  return {
    seed,
    startAt,
    accounts,
    steps: [...submits, ...burst, ...others, ...readings, ...tomorrow].sort((a, b) => a.at - b.at),
    faultProbability: dice.pick('faults', [0, 0.01, 0.03, 0.1]),
    calmAfter: lengthMillis + dice.pick('calm', [0, 60_000, 300_000, 1_500_000]),
    clockSpreadMillis: dice.pick('clocks', [0, 0, 300, 1_500]),
    slowBucketMillis: dice.chance('slow bucket', 0.1) ? dice.between('slow by', 28_000, 34_000) : 0,
    holdMillis: dice.pick<readonly [number, number]>('holds', [
      [2, 8],
      [3, 25],
      [10, 60],
    ]),
  };
}

function accountOf(dice: Dice, name: string): AccountPlan {
  const key = (index: number): KeyPlan =>
    dice.chance(`${name} cap ${index}`, 0.5)
      ? { capMicros: dice.between(`${name} cap of ${index}`, 1, 30) * cents }
      : {};
  return {
    balanceMicros: dice.between(`${name} balance`, 0, dice.pick(`${name} rich`, [20, 100])) * cents,
    creditMicros: dice.chance(`${name} credit`, 0.3) ? dice.between(`${name} credit line`, 1, 20) * cents : 0,
    maxConcurrent: dice.pick(`${name} concurrent`, [1, 3, 20]),
    deadlineSeconds: dice.pick(`${name} deadline`, [5, 15, 40]),
    postRate: dice.pick(`${name} rate`, [3, 10, 60]),
    secret: dice.chance(`${name} secret`, 0.85),
    keys: dice.chance(`${name} keys`, 0.3) ? [key(0), key(1)] : [key(0)],
  };
}

function submitOf(
  dice: Dice,
  name: string,
  index: number,
  accounts: readonly AccountPlan[],
  lengthMillis: number,
): Submit {
  const account = dice.between(`${name} account`, 0, accounts.length - 1);
  const model = dice.pick(`${name} model`, ['sandbox-sketch', 'sandbox-standard', 'sandbox-pro']);
  const images = model !== 'sandbox-sketch' && dice.chance(`${name} images`, 0.2) ? imagesOf(dice, name) : [];
  // Some come at the same instant, which is where conditions are needed.
  const at = dice.chance(`${name} together`, 0.4) ? 1_000 : dice.between(`${name} at`, 0, lengthMillis);
  return {
    kind: 'submit',
    name,
    account,
    model,
    images,
    at,
    key: dice.between(`${name} key`, 0, (accounts[account]?.keys.length ?? 1) - 1),
    resolution: model !== 'sandbox-sketch' && dice.chance(`${name} 2K`, 0.3) ? '2K' : '1K',
    directives: dice.pick(`${name} directives`, directives),
    polls: dice.between(`${name} polls`, 0, 2),
    ...(dice.chance(`${name} idempotent`, 0.6) && {
      idempotencyKey: `key-${dice.chance(`${name} shared`, 0.5) ? 'shared' : index}`,
    }),
    ...(dice.chance(`${name} webhook`, 0.45) && {
      webhook: dice.pick(`${name} receiver`, ['ok', 'ok', 'flaky', 'broken', 'gone', ...rudenesses]),
    }),
    ...(dice.chance(`${name} waits`, 0.1) && { wait: dice.between(`${name} wait`, 1, 20) }),
  };
}

/** Many requests of one account at one instant: with source images, or replays that want to wait for an end. */
function burstOf(dice: Dice, name: string, lengthMillis: number): Submit[] {
  const at = dice.between(`${name} at`, 1_500, lengthMillis);
  const plain = {
    kind: 'submit',
    account: 0,
    key: 0,
    model: 'sandbox-standard',
    resolution: '1K',
    directives: '[sandbox:delay=4s]',
    polls: 0,
  } as const;
  const count = dice.between(`${name} size`, 4, 7);
  if (dice.chance(`${name} of images`, 0.5)) {
    return Array.from({ length: count }, (_, index) => ({
      ...plain,
      name: `${name} ${index}`,
      at,
      images: imagesOf(dice, `${name} ${index}`),
    }));
  }
  const replay: Omit<Submit, 'name' | 'at'> = {
    ...plain,
    images: [],
    idempotencyKey: 'key-burst',
    wait: dice.between(`${name} wait`, 2, 12),
  };
  const first: Submit = { ...replay, name: `${name} first`, at: at - 1_000 };
  return [
    first,
    ...Array.from({ length: count }, (_, index): Submit => ({ ...replay, name: `${name} ${index}`, at })),
  ];
}

/** Paths of origins that are not simply there. */
const oddSources = ['absent', 'moved', 'circle', ...rudenesses] as const;

/** A picture, and in a third of the cases one more of an origin that is not simply there. */
function imagesOf(dice: Dice, name: string): string[] {
  const good = 'https://sources.test/one.png';
  if (!dice.chance(`${name} odd source`, 0.35)) return [good];
  if (dice.chance(`${name} silent source`, 0.1)) return [good, `https://${silentHost}/one.png`];
  return [good, `https://sources.test/${dice.pick(`${name} source`, oddSources)}.png`];
}

const dayMillis = 86_400_000;

/** The same request with the same key when that key is about to expire, or just has. */
function againTomorrow(dice: Dice, submit: Submit): Submit[] {
  if (submit.idempotencyKey === undefined || !dice.chance(`${submit.name} tomorrow`, 0.5)) return [];
  const name = `${submit.name} tomorrow`;
  return [
    {
      ...submit,
      name,
      at: submit.at + dayMillis + dice.pick(`${name} at`, [-2_000, -20, 0, 40, 3_000, 30_000]),
    },
  ];
}

/** What only looks. */
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

/** Whose clock may be set by itself. */
const functions = ['generate', 'get', 'RenderImage', 'RefundCharge', 'DeliverWebhook', 'reconcile'] as const;

const otherKinds = [
  'top_up',
  'top_up',
  'adjust',
  'credit_line',
  'suspend',
  'activate',
  'rotate_secret',
  'redeliver',
  'foreign_poll',
  'stranger',
  'revoke',
  'cap',
  'abort',
  'restart',
  'redrive',
  'reconcile_again',
  'rotate_encryption',
  'expire',
  'clock',
  'clock_of',
  'test_delivery',
] as const;

function otherOf(
  dice: Dice,
  name: string,
  index: number,
  accounts: readonly AccountPlan[],
  lengthMillis: number,
): Step {
  const kind = dice.pick(`${name} kind`, otherKinds);
  const account = dice.between(`${name} account`, 0, accounts.length - 1);
  const key = dice.between(`${name} key`, 0, (accounts[account]?.keys.length ?? 1) - 1);
  // Between a request's read and its charge lies a moment in which everything may change.
  const meanwhile = dice.chance(`${name} meanwhile`, 0.35)
    ? dice.between(`${name} moment`, 985, 1_020)
    : undefined;
  const placed = {
    account,
    at:
      meanwhile ??
      dice.between(`${name} at`, 0, kind === 'redeliver' ? lengthMillis + 1_200_000 : lengthMillis),
  };
  switch (kind) {
    case 'top_up':
      return {
        ...placed,
        kind,
        amountMicros: dice.between(`${name} amount`, 1, 50) * cents,
        reference: `reference-${dice.chance(`${name} same`, 0.3) ? 0 : index}`,
      };
    case 'adjust':
      return { ...placed, kind, amountMicros: dice.between(`${name} amount`, -30, 30) * cents };
    case 'credit_line':
      return { ...placed, kind, amountMicros: dice.between(`${name} amount`, 0, 30) * cents };
    case 'revoke':
      return { ...placed, kind, key };
    case 'cap':
      return { ...placed, kind, key, capMicros: dice.between(`${name} amount`, 1, 40) * cents };
    case 'clock':
      return { ...placed, kind, byMillis: dice.pick(`${name} by`, [-1_500, -300, 300, 1_500]) };
    case 'clock_of':
      return {
        ...placed,
        kind,
        name: dice.pick(`${name} of`, functions),
        byMillis: dice.between(`${name} by`, -1_500, 1_500),
      };
    case 'test_delivery':
      return { ...placed, kind, webhook: dice.pick(`${name} receiver`, ['ok', 'broken', ...rudenesses]) };
    default:
      return { ...placed, kind };
  }
}
