/** Draws the steps around uploads: announced, filled or not, and used in time or late, by the owner or another. */
import type { Dice } from '../world/dice.ts';
import type { AccountPlan, Step, Submit } from './scenario.ts';

const dayMillis = 86_400_000;

/** One to three uploads, each with one or two requests that name it. */
export function uploadsOf(dice: Dice, accounts: readonly AccountPlan[], lengthMillis: number): Step[] {
  const count = dice.between('uploads count', 1, 3);
  return Array.from({ length: count }, (_, index) => uploadOf(dice, index, accounts, lengthMillis)).flat();
}

function uploadOf(dice: Dice, index: number, accounts: readonly AccountPlan[], lengthMillis: number): Step[] {
  const name = `upload-${index}`;
  const account = dice.between(`${name} account`, 0, accounts.length - 1);
  // Uploads at the same instant compete for the last places.
  const at = dice.chance(`${name} together`, 0.5) ? 1_000 : dice.between(`${name} at`, 0, lengthMillis);
  const fill = dice.pick(`${name} fill`, ['right', 'right', 'right', 'wrong_length', 'never'] as const);
  const uses = Array.from({ length: dice.between(`${name} uses`, 1, 2) }, (_use, use): Submit => {
    const own = `${name} use ${use}`;
    const isForeign = dice.chance(`${own} foreign`, 0.3);
    const isLate = dice.chance(`${own} late`, 0.2);
    const after = isLate
      ? dayMillis + dice.pick(`${own} after a day`, [-60_000, -3_000, 5_000, 60_000])
      : dice.between(`${own} after`, 300, 6_000);
    return {
      kind: 'submit',
      name: own,
      account: isForeign ? (account + 1) % accounts.length : account,
      key: 0,
      model: 'sandbox-standard',
      resolution: '1K',
      directives: '',
      images: dice.chance(`${own} mixed`, 0.3)
        ? ['https://sources.test/one.png', `upload:${name}`]
        : [`upload:${name}`],
      at: at + after,
      polls: 0,
    };
  });
  return [{ kind: 'upload', name, account, key: 0, at, fill }, ...uses];
}
