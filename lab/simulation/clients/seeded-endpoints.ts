/** Draws the endpoints of accounts, and what clients change of them. */
import type { EndpointEvent } from '../../../service/webhooks/endpoint.ts';
import type { Dice } from '../world/dice.ts';
import type { AccountPlan, EndpointPlan, EndpointStep } from './scenario.ts';

const hourMillis = 3_600_000;

type Asked = readonly EndpointEvent[];

const asked: readonly [Asked, ...Asked[]] = [
  ['creation.completed', 'creation.failed'],
  ['creation.completed', 'creation.failed'],
  ['creation.completed'],
  ['creation.failed', 'wallet.low', 'wallet.empty'],
  ['creation.completed', 'key.cap_reached', 'endpoint.failing', 'endpoint.disabled'],
];

/** One to four endpoints. Some have failed for days, so that notices are sent and endpoints are switched off. */
export function endpointsOf(dice: Dice, name: string): readonly EndpointPlan[] {
  return Array.from({ length: dice.between(`${name} endpoints count`, 1, 4) }, (_, index) => {
    const own = `${name} endpoint ${index}`;
    const failedFor = dice.pick(`${own} failed for`, [0, 0, 0, 2, 4.5, 4.5, 6]);
    return {
      receiver: dice.pick(`${own} receiver`, ['ok', 'ok', 'flaky', 'broken', 'gone', 'slow']),
      events: dice.pick(`${own} asks`, asked),
      enabled: dice.chance(`${own} on`, 0.85),
      ...(failedFor > 0 && { failedForMillis: failedFor * 24 * hourMillis }),
      ...(failedFor > 5 && { noticeAgoMillis: 30 * hourMillis }),
    };
  });
}

/** Changes in the middle of everything, and while webhooks are repeated. */
export function endpointStepsOf(
  dice: Dice,
  accounts: readonly AccountPlan[],
  lengthMillis: number,
): EndpointStep[] {
  return Array.from({ length: dice.between('endpoint steps', 1, 4) }, (_, index) => {
    const name = `endpoint step ${index}`;
    const latest = dice.chance(`${name} late`, 0.5) ? lengthMillis + 900_000 : lengthMillis;
    return {
      kind: 'endpoint',
      name,
      account: dice.between(`${name} account`, 0, accounts.length - 1),
      at: dice.between(`${name} at`, 0, latest),
      place: dice.between(`${name} place`, 0, 3),
      does: dice.pick(`${name} does`, [
        'add',
        'add',
        'switch_off',
        'switch_off',
        'switch_on',
        'move',
        'ask',
        'delete',
      ]),
      receiver: dice.pick(`${name} receiver`, ['ok', 'flaky', 'broken']),
      events: dice.pick(`${name} asks`, asked),
    };
  });
}
