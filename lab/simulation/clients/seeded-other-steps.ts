/** Draws the steps of the operator and of strangers, and incidents outside the service. */
import { capNames } from '../../../service/accounts/caps.ts';
import machine from '../../../statemachines/creation.asl.json' with { type: 'json' };
import type { Release } from '../aws/lambda-environments.ts';
import { rudenesses } from '../network/peers.ts';
import type { Dice } from '../world/dice.ts';
import type { AccountPlan, Step, Submit, UserTokenStep } from './scenario.ts';

const cents = 10_000;
const tasks = Object.entries(machine.States).flatMap(([name, { Type }]) => (Type === 'Task' ? [name] : []));
/** The functions whose clocks may be moved alone. */
const functions = ['generate', 'get', ...tasks, 'reconcile'] as const;

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

/** One to three changes of prices, some of them at the same time. */
export function catalogsOf(dice: Dice, lengthMillis: number): Step[] {
  const together = dice.chance('catalogs together', 0.2);
  return Array.from({ length: dice.between('catalogs', 1, 3) }, (_, index): Step => ({
    kind: 'catalog',
    account: 0,
    at: together ? 1_000 : dice.between(`catalog ${index} at`, 0, Math.floor(lengthMillis / 2)),
    addedMicros: dice.between(`catalog ${index} adds`, 1, 5) * 10_000,
  }));
}

/** Pages of two users, with tokens of the same key or of others. */
export function userTokensOf(
  dice: Dice,
  accounts: readonly AccountPlan[],
  lengthMillis: number,
): UserTokenStep[] {
  const account = dice.between('tokens account', 0, accounts.length - 1);
  return Array.from({ length: dice.between('tokens', 2, 5) }, (_, index) => {
    const name = `token ${index}`;
    return {
      kind: 'user_token',
      name,
      account,
      at: dice.between(`${name} at`, 0, lengthMillis),
      key: dice.between(`${name} key`, 0, (accounts[account]?.keys.length ?? 1) - 1),
      user: `page ${dice.between(`${name} user`, 0, 1)}`,
      limitMicros: dice.between(`${name} limit`, 1, 12) * 5_000,
      uses: dice.between(`${name} uses`, 1, 6),
      orders: dice.between(`${name} orders`, 2, 9),
      ...(dice.chance(`${name} revoked`, 0.5) && { revokeAfter: dice.between(`${name} revoke`, 0, 30_000) }),
    };
  });
}

/** One close, and in most scenarios an opening after it. */
export function closingOf(dice: Dice, lengthMillis: number): Step[] {
  const closeAt = dice.between('close at', 0, Math.floor(lengthMillis / 2));
  const openAt = closeAt + dice.between('closed for', 500, lengthMillis);
  return [
    { kind: 'close_service', account: 0, at: closeAt },
    ...(dice.chance('opens again', 0.8)
      ? [{ kind: 'open_service', account: 0, at: openAt } satisfies Step]
      : []),
  ];
}

const quarterHour = 900_000;

/** In a third of the seeds releases take turns, in the middle of everything. */
export function releasesOf(dice: Dice, lengthMillis: number): Step[] {
  if (!dice.chance('releases', 1 / 3)) return [];
  const count = dice.between('releases count', 2, 7);
  // The first two come early, so that there are creations of version 2.
  const moments = Array.from({ length: count }, (_, index) =>
    dice.between(
      `release ${index} at`,
      0,
      index < 2 ? lengthMillis / 2 : latestOf(dice, index, lengthMillis),
    ),
  ).sort((one, other) => one - other);
  const steps: Step[] = [];
  let release: Release = 'before';
  let hasWritten = false;
  for (const [index, at] of moments.entries()) {
    release = nextOf(dice, index, release, hasWritten);
    hasWritten ||= release === 'after';
    steps.push({ kind: 'deploy', account: 0, at, release });
  }
  const writesFrom = steps.find((step) => step.kind === 'deploy' && step.release === 'after')?.at;
  return writesFrom !== undefined && dice.chance('release back by two', 0.5)
    ? [...steps, ...mistakeOf(dice, writesFrom, lengthMillis)]
    : steps;
}

/** While the old release is current, people disturb the creations that it does not understand. */
function mistakeOf(dice: Dice, writesFrom: number, lengthMillis: number): Step[] {
  const at = writesFrom + dice.between('release back by two after', 500, lengthMillis);
  const forMillis = dice.pick('release back by two for', [5_000, 60_000, 300_000]);
  const meanwhile = Array.from({ length: 3 }, (_, index): Step => ({
    kind: dice.pick(`meanwhile ${index}`, ['abort', 'restart', 'redrive', 'operator_cancel']),
    account: 0,
    at: at + dice.between(`meanwhile ${index} at`, 1, 5_000),
  }));
  return [{ kind: 'roll_back_by_two', account: 0, at, forMillis }, ...meanwhile];
}

/** Most deployments come while clients send, and some while webhooks are repeated. */
function latestOf(dice: Dice, index: number, lengthMillis: number): number {
  return dice.chance(`release ${index} late`, 0.25) ? quarterHour : lengthMillis + 20_000;
}

/** Once version 2 was written, a rollback by one ends at the release that understands it. */
function nextOf(dice: Dice, index: number, release: Release, hasWritten: boolean): Release {
  if (release !== 'between') return 'between';
  return !hasWritten && dice.chance(`release ${index} back`, 0.15) ? 'before' : 'after';
}

const dayMillis = 86_400_000;

/** One to three uploads, each with one or two requests that name it. */
export function uploadsOf(dice: Dice, accounts: readonly AccountPlan[], lengthMillis: number): Step[] {
  const count = dice.between('uploads count', 1, 3);
  return Array.from({ length: count }, (_, index) => uploadOf(dice, index, accounts, lengthMillis)).flat();
}

function uploadOf(dice: Dice, index: number, accounts: readonly AccountPlan[], lengthMillis: number): Step[] {
  const name = `upload-${index}`;
  const account = dice.between(`${name} account`, 0, accounts.length - 1);
  // Simultaneous uploads compete for the last slots.
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
