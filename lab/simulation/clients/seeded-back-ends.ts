/** Draws what back ends do with the operator API. Often two of them do it to the same thing within milliseconds. */
import { operatorScopes } from '../../../service/contract/operator-operations.ts';
import type { Dice } from '../world/dice.ts';
import type { AccountPlan, BackEndAct, BackEndStep, OperatorKeyPlan, Scenario, Step } from './scenario.ts';

/** The frequent acts more often. */
const acts = [
  'credit',
  'credit',
  'credit',
  'credit',
  'reverse',
  'reverse',
  'adjust',
  'adjust',
  'credit_line',
  'open',
  'open',
  'suspend',
  'suspend',
  'activate',
  'issue_key',
  'read',
] as const satisfies readonly BackEndAct['does'][];

/** Three keys: one without a cap, one with a cap, one that may do little. */
function keysOf(dice: Dice): readonly OperatorKeyPlan[] {
  const postRate = dice.chance('back ends rate', 0.3)
    ? { postRate: dice.between('back ends rate of', 3, 8) }
    : {};
  return [
    { scopes: operatorScopes, ...postRate },
    { scopes: operatorScopes, dailyCapMicros: dice.between('back ends cap', 1, 12) * 50_000 },
    { scopes: ['accounts:read', 'wallet:credit'] },
  ];
}

/** The keys and the steps of the back ends. */
export function backEndsOf(
  dice: Dice,
  accounts: readonly AccountPlan[],
  lengthMillis: number,
): Pick<Scenario, 'operatorKeys' | 'steps'> {
  const account = dice.between('back ends account', 0, accounts.length - 1);
  const steps = Array.from({ length: dice.between('back ends acts', 3, 8) }, (_, index) =>
    actsOf(dice, index, account, lengthMillis),
  ).flat();
  return { operatorKeys: keysOf(dice), steps: [...steps, ...commandsOf(dice, account, lengthMillis)] };
}

/** One act, and often another one at the same time: the same once more, or one of the same kind. */
function actsOf(dice: Dice, index: number, account: number, lengthMillis: number): BackEndStep[] {
  const name = `back end ${index}`;
  const does = dice.pick(`${name} does`, acts);
  const at = dice.chance(`${name} together`, 0.4)
    ? 1_000 + dice.between(`${name} moment`, 0, 12)
    : dice.between(`${name} at`, 0, lengthMillis);
  const isRepeatable = dice.chance(`${name} idempotent`, 0.6);
  const first: BackEndStep = {
    kind: 'back_end',
    name,
    account,
    at,
    operatorKey: keyOf(dice, name),
    act: actOf(dice, name, does),
    ...(isRepeatable && { idempotencyKey: `request ${index}` }),
  };
  if (!dice.chance(`${name} rival`, 0.5)) return [first];
  const rival = `${name} rival`;
  const soon = at + dice.between(`${rival} after`, 0, dice.pick(`${rival} within`, [3, 40, 4_000]));
  if (dice.chance(`${rival} is equal`, 0.5)) return [first, { ...first, name: `${name} again`, at: soon }];
  const other = actOf(dice, rival, does);
  const second = { ...first, name: rival, at: soon, operatorKey: keyOf(dice, rival), act: other };
  return [first, second];
}

const keyOf = (dice: Dice, name: string): number => dice.pick(`${name} key`, [0, 0, 1, 1, 2]);

/** Few amounts, references and names: they meet. */
const amountOf = (dice: Dice, name: string): number =>
  dice.pick(`${name} amount`, [100_000, 100_000, 150_000]);
const referenceOf = (dice: Dice, name: string): string =>
  `reference-${dice.between(`${name} reference`, 0, 2)}`;

function actOf(dice: Dice, name: string, does: BackEndAct['does']): BackEndAct {
  const [amountMicros, reference] = [amountOf(dice, name), referenceOf(dice, name)];
  const external = `customer ${dice.between(`${name} customer`, 0, 1)}`;
  switch (does) {
    case 'credit':
      return { does, amountMicros, reference };
    case 'reverse':
      return {
        does,
        payment: reference,
        reference: dice.pick(`${name} back`, ['back-0', 'back-1', reference]),
        ...(dice.chance(`${name} part`, 0.6) && { amountMicros: 60_000 }),
      };
    case 'adjust': {
      const sign = dice.chance(`${name} takes`, 0.5) ? -1 : 1;
      return {
        does,
        amountMicros: sign * amountMicros,
        reference,
        mayGoBelow: dice.chance(`${name} below`, 0.5),
      };
    }
    case 'credit_line':
      return { does, amountMicros: dice.between(`${name} line`, 0, 4) * 50_000 };
    case 'open':
      return { does, externalId: external, balanceMicros: dice.pick(`${name} opens`, [0, amountMicros]) };
    case 'suspend':
    case 'activate':
      return { does, ...(dice.chance(`${name} names`, 0.3) && { externalId: external }) };
    case 'issue_key':
      return { does, isRevoked: dice.chance(`${name} revokes`, 0.6) };
    case 'read':
      return {
        does,
        what: dice.pick(`${name} reads`, ['getWallet', 'listLedger', 'listPayments', 'listActions']),
      };
  }
}

/** The command tops up with a reference of the back ends, and changes their keys. */
function commandsOf(dice: Dice, account: number, lengthMillis: number): Step[] {
  const at = (name: string): number =>
    dice.chance(`${name} together`, 0.4)
      ? 1_000 + dice.between(`${name} moment`, 0, 12)
      : dice.between(`${name} at`, 0, lengthMillis);
  const steps: Step[] = [];
  const name = 'back ends command';
  if (dice.chance(`${name} tops up`, 0.5))
    steps.push({
      kind: 'top_up',
      account,
      at: at(`${name} top-up`),
      amountMicros: amountOf(dice, name),
      reference: referenceOf(dice, name),
    });
  if (dice.chance(`${name} revokes`, 0.3))
    steps.push({
      kind: 'revoke_operator_key',
      account,
      at: at(`${name} revocation`),
      operatorKey: dice.between(`${name} key`, 0, 1),
    });
  if (dice.chance(`${name} caps`, 0.3))
    steps.push({
      kind: 'cap_operator_key',
      account,
      at: at(`${name} cap`),
      operatorKey: 1,
      capMicros: dice.between(`${name} cap of`, 0, 8) * 50_000,
    });
  return steps;
}
