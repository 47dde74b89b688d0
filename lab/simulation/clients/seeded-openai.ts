/** Draws the steps of programs that use an openai library. */
import type { Dice } from '../world/dice.ts';
import type { OpenaiCalls } from './openai-step.ts';
import type { AccountPlan } from './scenario.ts';

const directives = [
  '',
  '',
  '',
  '[sandbox:delay=1s]',
  '[sandbox:delay=4s]',
  '[sandbox:async=2s]',
  '[sandbox:fail]',
  '[sandbox:reject-prompt]',
  '[sandbox:hang]',
] as const;

/** A scenario of libraries alone: four to seven programs with equal calls, and nothing else that costs money. */
export function librariesAlone(
  dice: Dice,
  accounts: readonly AccountPlan[],
  lengthMillis: number,
): OpenaiCalls[] {
  return Array.from({ length: dice.between('libraries', 4, 7) }, (_, index) =>
    openaiOf(dice, `library ${index}`, accounts, lengthMillis),
  );
}

/** An account whose means let most calls through. */
export function withRoomForLibraries(plan: AccountPlan): AccountPlan {
  return {
    ...plan,
    balanceMicros: 2_000_000,
    maxConcurrent: 20,
    postRate: 60,
    deadlineSeconds: Math.max(15, plan.deadlineSeconds),
    keys: [{}],
  };
}

export function openaiOf(
  dice: Dice,
  name: string,
  accounts: readonly AccountPlan[],
  lengthMillis: number,
): OpenaiCalls {
  const account = dice.between(`${name} account`, 0, accounts.length - 1);
  return {
    kind: 'openai',
    name,
    account,
    key: dice.between(`${name} key`, 0, (accounts[account]?.keys.length ?? 1) - 1),
    at: dice.between(`${name} at`, 900, lengthMillis),
    calls: dice.pick(`${name} calls`, [1, 2, 2, 3]),
    apart: dice.pick(`${name} apart`, [0, 0, 400, 3_000, 70_000]),
    count: dice.pick(`${name} pictures`, [1, 1, 2, 3, 4]),
    model: dice.pick(`${name} model`, ['sandbox-sketch', 'sandbox-sketch', 'sandbox-standard']),
    directives: dice.pick(`${name} directives`, directives),
    form: dice.pick(`${name} form`, ['b64_json', 'b64_json', 'url', 'stream']),
    ...(dice.chance(`${name} for a user`, 0.85) && { user: `user ${dice.between(`${name} user`, 1, 2)}` }),
    trouble: dice.pick(`${name} trouble`, [0, 0.3, 0.7, 0.9]),
  };
}
