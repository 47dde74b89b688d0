/** Draws what people do in the portal. Often two of them do it to the same thing within milliseconds. */
import { capNames } from '../../../service/accounts/caps.ts';
import { roles as all } from '../../../service/contract/operations.ts';
import { rudenesses } from '../network/peers.ts';
import type { Dice } from '../world/dice.ts';
import type { AccountPlan, PortalAct, PortalStep } from './scenario.ts';

const cents = 10_000;
/** Without the role that has no rank: the seeds that catch planted bugs draw from these. */
const [, ...roles] = all;

/** What people do, the frequent acts more often. */
const acts = [
  'create_key',
  'create_key',
  'change_key',
  'change_key',
  'change_key',
  'revoke_key',
  'roll_key',
  'roll_key',
  'reveal_secret',
  'rotate_secret',
  'rotate_secret',
  'set_alerts',
  'set_alerts',
  'redeliver_one',
  'redeliver_failed',
  'redeliver_failed',
  'test_webhook',
  'create',
  'create',
  'create',
  'cancel',
  'invite',
  'withdraw',
  'change_person',
  'change_person',
  'remove_person',
  'end_sessions',
] as const satisfies readonly PortalAct['does'][];
type Does = (typeof acts)[number];

/** What somebody else does to the same thing at the same time. */
const rivals: Readonly<Record<Does, readonly [Does, ...Does[]]>> = {
  create_key: ['create_key'],
  change_key: ['change_key', 'change_key', 'revoke_key', 'roll_key'],
  revoke_key: ['change_key', 'revoke_key', 'roll_key'],
  roll_key: ['roll_key', 'change_key', 'revoke_key'],
  reveal_secret: ['reveal_secret', 'rotate_secret'],
  rotate_secret: ['rotate_secret', 'rotate_secret', 'reveal_secret'],
  set_alerts: ['set_alerts'],
  redeliver_one: ['redeliver_failed'],
  redeliver_failed: ['redeliver_failed', 'redeliver_one'],
  test_webhook: ['test_webhook'],
  create: ['create', 'create', 'cancel'],
  cancel: ['cancel'],
  invite: ['invite', 'withdraw'],
  withdraw: ['invite', 'withdraw'],
  change_person: ['change_person', 'remove_person'],
  remove_person: ['remove_person', 'change_person'],
  end_sessions: ['create_key', 'change_key', 'rotate_secret', 'remove_person'],
};

const directives = ['', '', '[sandbox:delay=4s]', '[sandbox:fail]', '[sandbox:reject-prompt]'] as const;

const owners: ReadonlySet<Does> = new Set([
  'invite',
  'withdraw',
  'change_person',
  'remove_person',
  'end_sessions',
]);

/** Some steps of each account; each with a probability together with a rival. */
export function portalStepsOf(
  dice: Dice,
  accounts: readonly AccountPlan[],
  lengthMillis: number,
): PortalStep[] {
  return Array.from({ length: dice.between('portal steps', 2, 6) }, (_, index) =>
    stepsOf(dice, `person ${index}`, accounts, lengthMillis),
  ).flat();
}

function stepsOf(
  dice: Dice,
  name: string,
  accounts: readonly AccountPlan[],
  lengthMillis: number,
): PortalStep[] {
  const account = dice.between(`${name} account`, 0, accounts.length - 1);
  const does = dice.pick(`${name} does`, acts);
  const key = dice.between(`${name} key`, 0, 3);
  // A redelivery needs a webhook that has failed, and that takes some minutes.
  const isLate = does.startsWith('redeliver');
  const at = dice.between(`${name} at`, 700, lengthMillis + (isLate ? 1_200_000 : 0));
  const step = (own: string, person: number, what: Does): PortalStep => ({
    kind: 'portal',
    name: own,
    at,
    account,
    person,
    thinkMillis: dice.between(`${own} thinks`, 0, 30),
    act: actOf(dice, own, what, { key, person }),
  });
  const first = dice.pick(`${name} who`, owners.has(does) ? [0, 0, 0, 0, 1, 1, 2] : [0, 1, 2]);
  const one = step(name, first, does);
  // A person who lost the answer or the key rolls again.
  if (does === 'roll_key' && dice.chance(`${name} rolls again`, 0.25))
    return [one, { ...one, name: `${name} again`, at: at + dice.between(`${name} later`, 1_000, 9_000) }];
  // A webhook that was delivered meanwhile is not sent again.
  if (does === 'redeliver_failed' && dice.chance(`${name} sends again`, 0.5))
    return [one, { ...one, name: `${name} again`, at: at + dice.between(`${name} later`, 60_000, 900_000) }];
  if (!dice.chance(`${name} meets a rival`, 0.6)) return [one];
  const rival = dice.pick(`${name} rival does`, rivals[does]);
  const second = dice.chance(`${name} rival is an owner`, 0.8) ? (first === 0 ? 1 : 0) : 2;
  return [one, step(`${name} rival`, second, rival)];
}

function actOf(
  dice: Dice,
  name: string,
  does: Does,
  { key, person }: { readonly key: number; readonly person: number },
): PortalAct {
  // Owners mostly act upon each other, because only they can remove the last owner.
  const target = dice.chance(`${name} upon the other owner`, 0.6)
    ? person === 0
      ? 1
      : 0
    : dice.between(`${name} upon`, 0, 2);
  switch (does) {
    case 'create_key':
      return {
        does,
        ...(dice.chance(`${name} cap`, 0.4) && { capMicros: dice.between(`${name} capped`, 1, 30) * cents }),
      };
    case 'change_key':
      return {
        does,
        key,
        cap: dice.pick(`${name} which`, capNames),
        capMicros: dice.chance(`${name} no cap`, 0.3) ? null : dice.between(`${name} amount`, 1, 40) * cents,
      };
    case 'revoke_key':
      return { does, key };
    case 'roll_key':
      return { does, key, endsIn: dice.pick(`${name} ends`, ['1h', '1h', '1h', '24h', '7d']) };
    case 'rotate_secret':
      return { does, signFrom: dice.pick(`${name} signs`, ['now', 'now', '1h', '24h']) };
    case 'set_alerts':
      return {
        does,
        lowMicros: dice.chance(`${name} no threshold`, 0.2)
          ? null
          : dice.between(`${name} low`, 1, 40) * cents,
        ...(dice.chance(`${name} address`, 0.8) && {
          receiver: dice.pick(`${name} to`, ['ok', 'ok', 'flaky', 'broken']),
        }),
      };
    case 'test_webhook':
      return { does, webhook: dice.pick(`${name} receiver`, ['ok', 'ok', 'broken', ...rudenesses]) };
    case 'invite':
      return { does, address: dice.between(`${name} address`, 0, 1), role: dice.pick(`${name} role`, roles) };
    case 'withdraw':
      return { does, address: dice.between(`${name} address`, 0, 1) };
    case 'change_person':
      return { does, target, role: dice.pick(`${name} role`, roles) };
    case 'remove_person':
    case 'end_sessions':
      return { does, target };
    case 'create':
      return {
        does,
        directives: dice.pick(`${name} directives`, directives),
        ...(dice.chance(`${name} idempotent`, 0.8) && {
          idempotencyKey: `portal-${dice.between(`${name} idempotency key`, 0, 1)}`,
        }),
        ...(dice.chance(`${name} webhook`, 0.3) && { webhook: dice.pick(`${name} to`, ['ok', 'broken']) }),
      };
    case 'cancel':
    case 'reveal_secret':
    case 'redeliver_one':
    case 'redeliver_failed':
      return { does };
  }
}
