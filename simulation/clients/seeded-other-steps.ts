/** Draws the steps of the operator, of strangers and of mishaps. */
import { capNames } from '../../core/caps.ts';
import { rudenesses } from '../network/peer-behaviours.ts';
import type { Dice } from '../world/dice.ts';
import type { AccountPlan, Step } from './scenario.ts';

const cents = 10_000;
/** The functions whose clocks may be moved alone. */
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

/** One step that is neither a request for an image nor a reading. */
export function otherStepOf(
  dice: Dice,
  name: string,
  index: number,
  accounts: readonly AccountPlan[],
  lengthMillis: number,
): Step {
  const kind = dice.pick(`${name} kind`, otherKinds);
  const account = dice.between(`${name} account`, 0, accounts.length - 1);
  const key = dice.between(`${name} key`, 0, (accounts[account]?.keys.length ?? 1) - 1);
  // Some steps fall into the short time between the first reads of a request and its charge.
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
      return {
        ...placed,
        kind,
        key,
        cap: dice.pick(`${name} which`, capNames),
        capMicros: dice.between(`${name} amount`, 1, 40) * cents,
      };
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
