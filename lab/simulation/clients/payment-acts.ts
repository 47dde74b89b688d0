/** Draws what people, the operator and Stripe do about payments. */
import type { CardName } from '../../../local/stripe/cards.ts';
import type { DisputeStep } from '../../../local/stripe/reversals.ts';
import type { Dice } from '../world/dice.ts';
import type { PaymentAct, PaymentStep, Step, TopUpPlan } from './scenario.ts';

const minute = 60_000;

/** Most cards pay. The saved ones fail later. */
const atThePage: readonly [CardName, ...CardName[]] = [
  'pays',
  'pays',
  'pays',
  'declined',
  'expired',
  'authentication',
  'later_declined',
  'refund_pending',
  'refund_fails',
  'bank_succeeds',
  'bank_fails',
];
const saved: readonly [CardName, ...CardName[]] = [
  'pays',
  'pays',
  'pays',
  'authentication',
  'later_declined',
  'later_expired',
  'refund_fails',
  'bank_succeeds',
  'bank_fails',
];

export function topUpOf(dice: Dice, name: string): TopUpPlan {
  const amountCents = dice.between(`${name} amount`, 10, 30) * 100;
  return {
    card: dice.pick(`${name} card`, saved),
    thresholdCents: dice.between(`${name} threshold`, 1, 10) * 100,
    amountCents,
    capCents: amountCents * dice.pick(`${name} cap`, [1, 2, 3, 10]) + dice.pick(`${name} rest`, [0, 500]),
  };
}

export function paymentStep(
  name: string,
  account: (name: string) => number,
  at: (name: string) => number,
  act: PaymentAct,
): PaymentStep {
  return { kind: 'payment', name, account: account(name), at: at(name), person: 0, act };
}

export function personActOf(dice: Dice, name: string): PaymentAct {
  const does = dice.pick<'begin' | 'choose' | 'resume' | 'remove_card' | 'look'>(`${name} does`, [
    'begin',
    'begin',
    'begin',
    'begin',
    'begin',
    'choose',
    'choose',
    'resume',
    'remove_card',
    'look',
  ]);
  switch (does) {
    case 'begin':
      return beginOf(dice, name);
    case 'choose': {
      const { thresholdCents, amountCents, capCents } = topUpOf(dice, name);
      return { does, isOn: dice.chance(`${name} on`, 0.75), thresholdCents, amountCents, capCents };
    }
    default:
      return { does };
  }
}

export function beginOf(dice: Dice, name: string): PaymentAct {
  return {
    does: 'begin',
    cents: dice.between(`${name} cents`, 500, 4_000),
    savesCard: dice.chance(`${name} saves`, 0.4),
    ...(dice.chance(`${name} pays`, 0.9) && { card: dice.pick(`${name} card`, atThePage) }),
    paysAfter: dice.pick(`${name} pays after`, [200, 3_000, 20_000, 2 * minute, 29 * minute, 40 * minute]),
    ...(dice.chance(`${name} pays again`, 0.3) && { again: dice.pick(`${name} other card`, atThePage) }),
    ...(dice.chance(`${name} spoilt`, 0.06) && {
      spoilt: dice.pick(`${name} spoils`, ['metadata', 'currency', 'amount']),
    }),
    returns: dice.chance(`${name} returns`, 0.5),
  };
}

export function otherActOf(dice: Dice, name: string): PaymentAct {
  const place = dice.between(`${name} place`, 0, 2);
  const does = dice.pick<'refund' | 'lose_metadata'>(`${name} does`, [
    'refund',
    'refund',
    'refund',
    'refund',
    'lose_metadata',
  ]);
  if (does === 'lose_metadata' && dice.chance(`${name} keeps it`, 0.6)) return { does: 'look' };
  if (does === 'lose_metadata') return { does, place };
  return {
    does,
    place,
    ...(dice.chance(`${name} part`, 0.6) && {
      share: dice.pick(`${name} share`, [1 / 2, 1 / 3, 0.1, 0.777]),
    }),
    ...(dice.chance(`${name} in its own way`, 0.4) && {
      as: dice.pick(`${name} as`, ['pending', 'succeeded', 'failed']),
    }),
  };
}

/** Its steps come one after the other, some of them at once. */
export function disputeOf(dice: Dice, name: string, account: number, lengthMillis: number): PaymentStep[] {
  const place = dice.between(`${name} place`, 0, 1);
  const share = dice.chance(`${name} part`, 0.4) ? dice.pick(`${name} share`, [0.5, 0.25]) : undefined;
  const all = dice.pick<readonly DisputeStep[]>(`${name} steps`, [
    ['inquiry', 'closed'],
    ['inquiry', 'opened', 'won'],
    ['inquiry', 'opened', 'lost'],
    ['opened', 'won'],
    ['opened', 'under_review', 'lost'],
    ['opened'],
  ]);
  let at = dice.between(`${name} at`, lengthMillis / 3, lengthMillis);
  return all.map((step, index) => {
    at += dice.pick(`${name} pause ${index}`, [0, 500, 70_000]);
    return {
      kind: 'payment',
      name: `${name} ${index}`,
      account,
      at,
      person: 0,
      act: { does: 'dispute', place, step, ...(share !== undefined && { share }) },
    };
  });
}

export function incidentOf(dice: Dice, name: string, at: number): Step[] {
  const placed = { account: 0, at } as const;
  const kind = dice.pick(`${name} kind`, ['roll', 'key', 'clock', 'suspend'] as const);
  const step = (act: PaymentAct, after = 0): Step => ({
    ...{ account: 0, at: at + after },
    ...{ kind: 'payment', name, person: 0, act },
  });
  switch (kind) {
    case 'roll':
      return [
        step({
          does: 'roll_secret',
          keepsMillis: dice.pick(`${name} keeps`, [minute, 8 * minute]),
          stripeFirst: dice.chance(`${name} first`, 0.5),
        }),
      ];
    case 'key':
      return [
        step({
          does: 'refuse_key',
          forMillis: dice.pick(`${name} for`, [minute, 6 * minute, 70 * minute]),
        }),
      ];
    case 'clock':
      return [
        {
          ...placed,
          kind: 'clock_of',
          name: 'receive-payment',
          byMillis: dice.pick(`${name} by`, [-10 * minute, 10 * minute]),
        },
      ];
    case 'suspend':
      return [{ ...placed, kind: 'suspend' }];
  }
}
