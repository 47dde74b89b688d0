/**
 * A scenario of people at once: many people change, roll and revoke one key, change one member, and take up one
 * invitation, all within milliseconds. Chance alone seldom lets two people write the same item at once.
 */
import { capNames } from '../../../service/accounts/caps.ts';
import { roles as all } from '../../../service/contract/operations.ts';
import type { Dice } from '../world/dice.ts';
import { ownersIndex } from './open-accounts.ts';
import type { AccountPlan, PortalAct, PortalStep, SignIn, Step } from './scenario.ts';

const cents = 10_000;
/** Without the role that has no rank: the seeds that catch planted bugs draw from these. */
const [, ...roles] = all;
const keyRounds = 4;
const roundMillis = 5_000;
/** Time between the actions of people at once. */
const togetherMillis = 6;

/** The account has two keys and enough for every request. */
export function withRoomForPeople(plan: AccountPlan): AccountPlan {
  return { ...plan, balanceMicros: 100 * cents, maxConcurrent: 20, postRate: 60, keys: [{}, {}] };
}

/** The steps belong to the first account. */
export function peopleAtOnce(dice: Dice): Step[] {
  const rounds = Array.from({ length: keyRounds }, (_, round) => {
    const at = 1_000 + round * roundMillis;
    return [...actsOnKey(dice, round, at), ...actsOnMember(dice, `member round ${round}`, at + 2_000)];
  });
  const at = 1_000 + keyRounds * roundMillis;
  return [...rounds.flat(), ...guestsComeIn(dice, at), ...ownerComesBack(dice, at + roundMillis)];
}

function press(name: string, at: number, person: number, act: PortalAct, thinkMillis = 0): PortalStep {
  return { kind: 'portal', name, at, account: 0, person, thinkMillis, act };
}

/** The first two rounds are about the keys of the plan, the others about keys that people made. */
function actsOnKey(dice: Dice, key: number, at: number): PortalStep[] {
  const size = dice.between(`key round ${key} people`, 5, 8);
  const one = (index: number): PortalStep => {
    const name = `key round ${key} press ${index}`;
    return press(
      name,
      at + dice.between(`${name} at`, 0, togetherMillis),
      dice.between(`${name} who`, 0, 2),
      actOnKey(dice, name, key),
      dice.between(`${name} thinks`, 0, togetherMillis),
    );
  };
  return [
    press(`key round ${key} new`, at - 600, 0, { does: 'create_key' }),
    ...Array.from({ length: size }, (_, index) => one(index)),
  ];
}

function actOnKey(dice: Dice, name: string, key: number): PortalAct {
  const does = dice.pick<'change_key' | 'roll_key' | 'revoke_key'>(`${name} does`, [
    'change_key',
    'change_key',
    'change_key',
    'roll_key',
    'revoke_key',
  ]);
  switch (does) {
    case 'change_key':
      return {
        does,
        key,
        cap: dice.pick(`${name} which`, capNames),
        capMicros: dice.between(`${name} amount`, 1, 40) * cents,
      };
    case 'roll_key':
      return { does, key, endsIn: dice.pick(`${name} ends`, ['1h', '24h']) };
    case 'revoke_key':
      return { does, key };
  }
}

/** Both owners change the role of the developer, or of the second owner. */
function actsOnMember(dice: Dice, name: string, at: number): PortalStep[] {
  const target = dice.pick(`${name} upon`, [1, 2, 2, 2]);
  return [0, 1, 0].map((person, index) =>
    press(
      `${name} press ${index}`,
      at + dice.between(`${name} press ${index} at`, 0, togetherMillis),
      person,
      { does: 'change_person', target, role: dice.pick(`${name} press ${index} role`, roles) },
      dice.between(`${name} press ${index} thinks`, 0, togetherMillis),
    ),
  );
}

/** Two people show the invited address at once, or one person does it twice. */
function guestsComeIn(dice: Dice, at: number): Step[] {
  const come = (index: number): SignIn => ({
    kind: 'sign_in',
    name: `guest ${index}`,
    at: at + 1_500 + dice.between(`guest ${index} at`, 0, togetherMillis),
    account: 0,
    address: 0,
    who: dice.between(`guest ${index} who`, 0, 1),
  });
  const role = dice.pick('guest role', roles);
  return [
    press('guest is invited', at, 0, { does: 'invite', address: 0, role }),
    come(0),
    come(1),
    come(2),
    ...(dice.chance('guest is withdrawn', 0.3)
      ? [press('guest is withdrawn', at + 1_500, 0, { does: 'withdraw', address: 0 })]
      : []),
  ];
}

/** An owner is removed, is invited again, signs in, and uses the session of before. */
function ownerComesBack(dice: Dice, at: number): Step[] {
  const again = (index: number): SignIn => ({
    kind: 'sign_in',
    name: `owner again ${index}`,
    at: at + 4_000 + dice.between(`owner again ${index} at`, 0, togetherMillis),
    account: 0,
    address: ownersIndex,
    who: 0,
  });
  const change = { does: 'change_key', key: 1, cap: 'dailyCapMicros', capMicros: 9 * cents } as const;
  return [
    press('owner goes', at, 0, { does: 'remove_person', target: 1 }),
    press('owner is invited', at + 2_000, 0, { does: 'invite', address: ownersIndex, role: 'owner' }),
    again(0),
    again(1),
    press('owner with the session of before', at + 6_000, 1, change),
  ];
}
