/** Draws the steps that ask for images. */
import { callingModel } from '../network/calling-vendor.ts';
import { tiers } from '../../../service/contract/request-fields.ts';
import { silentHost } from '../network/outbound.ts';
import { rudenesses } from '../network/peers.ts';
import { unsteady } from '../network/providers.ts';
import type { Dice } from '../world/dice.ts';
import type { AccountPlan, OpenaiCalls, Submit } from './scenario.ts';

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
/** One request for an image. */
export function submitOf(
  dice: Dice,
  name: string,
  index: number,
  accounts: readonly AccountPlan[],
  lengthMillis: number,
): Submit {
  const account = dice.between(`${name} account`, 0, accounts.length - 1);
  const plain = dice.pick(`${name} model`, ['sandbox-sketch', 'sandbox-standard', 'sandbox-pro']);
  // Only an account that waits for minutes lets a job be parked.
  const isPatient = (accounts[account]?.deadlineSeconds ?? 0) > 100;
  const model = dice.chance(`${name} calls back`, isPatient ? 0.5 : 0.05) ? callingModel : plain;
  const isSmall = model === 'sandbox-sketch' || model === callingModel;
  const images = !isSmall && dice.chance(`${name} images`, 0.2) ? imagesOf(dice, name) : [];
  // Some requests come at the same time. Only then do the conditions of the writes matter.
  const at = dice.chance(`${name} together`, 0.4) ? 1_000 : dice.between(`${name} at`, 0, lengthMillis);
  return {
    kind: 'submit',
    name,
    account,
    model,
    images,
    at,
    key: dice.between(`${name} key`, 0, (accounts[account]?.keys.length ?? 1) - 1),
    resolution: !isSmall && dice.chance(`${name} 2K`, 0.3) ? '2K' : '1K',
    directives: dice.pick(`${name} directives`, directives),
    ...(!isSmall &&
      dice.chance(`${name} in a quality`, 0.3) && { quality: dice.pick(`${name} quality`, tiers) }),
    ...(dice.chance(`${name} several`, 0.15) && { count: dice.between(`${name} count`, 1, 3) }),
    polls: dice.between(`${name} polls`, 0, 2),
    ...(dice.chance(`${name} idempotent`, 0.6) && {
      idempotencyKey: `key-${dice.chance(`${name} shared`, 0.5) ? 'shared' : index}`,
    }),
    ...(dice.chance(`${name} webhook`, 0.45) && {
      webhook: dice.pick(`${name} receiver`, ['ok', 'ok', 'flaky', 'broken', 'gone', ...rudenesses]),
    }),
    // A key with a cap for each user refuses a request that names no user.
    ...(dice.chance(`${name} for a user`, 0.85) && { user: `user ${dice.between(`${name} user`, 1, 2)}` }),
    ...(dice.chance(`${name} waits`, 0.1) && { wait: dice.between(`${name} wait`, 1, 20) }),
    ...(dice.chance(`${name} cancelled`, 0.2) && { cancelAfter: cancelAfterOf(dice, name) }),
    ...(dice.chance(`${name} deleted`, 0.2) && {
      deleteAfter: deleteAfterOf(dice, name),
      ...(dice.chance(`${name} keeps its texts`, 0.4) && { keepsTexts: true as const }),
    }),
  };
}

/** Before anything is sent, about the time of the submission, or while a job runs. */
function cancelAfterOf(dice: Dice, name: string): number {
  const most = dice.pick(`${name} cancelled in`, [0, 60, 400, 3_000, 20_000]);
  return dice.between(`${name} cancelled after`, 0, most);
}

/** While it is open, about its end, while its webhook is tried, or long after everything. */
function deleteAfterOf(dice: Dice, name: string): number {
  const most = dice.pick(`${name} deleted in`, [400, 3_000, 20_000, 200_000, 1_500_000]);
  return dice.between(`${name} deleted after`, 0, most);
}

/** Many requests of one account at the same time: with source images, or replays that wait for the end. */
export function burstOf(dice: Dice, name: string, lengthMillis: number): Submit[] {
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

/** The paths of source images whose origins do not simply answer with a picture. */
const oddSources = ['absent', 'moved', 'circle', ...rudenesses] as const;

/** One good source image, and in a third of the cases another one from an origin that misbehaves. */
function imagesOf(dice: Dice, name: string): string[] {
  const good = 'https://sources.test/one.png';
  if (!dice.chance(`${name} odd source`, 0.35)) return [good];
  if (dice.chance(`${name} silent source`, 0.1)) return [good, `https://${silentHost}/one.png`];
  return [good, `https://sources.test/${dice.pick(`${name} source`, oddSources)}.png`];
}

const dayMillis = 86_400_000;

/** The same request with the same idempotency key a day later, just before or just after the key expires. */
export function repeatedNextDay(dice: Dice, submit: Submit): Submit[] {
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

/** Draws the steps of programs that use an openai library. */
const libraryDirectives = [
  '',
  '',
  '',
  '[sandbox:delay=1s]',
  '[sandbox:delay=4s]',
  '[sandbox:async=2s]',
  '[sandbox:fail]',
  '[sandbox:reject-prompt]',
  '[sandbox:hang]',
  unsteady,
  unsteady,
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
    directives: dice.pick(`${name} directives`, libraryDirectives),
    form: dice.pick(`${name} form`, ['b64_json', 'b64_json', 'url', 'stream']),
    ...(dice.chance(`${name} for a user`, 0.85) && { user: `user ${dice.between(`${name} user`, 1, 2)}` }),
    trouble: dice.pick(`${name} trouble`, [0, 0.3, 0.7, 0.9]),
  };
}
