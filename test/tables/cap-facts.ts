/** Facts about the caps of a key: what counts in which period, and what a refund gives back to which. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import { userHash } from '../../service/accounts/end-user.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import type { ChargeOrder, ChargeOutcome, NewCreation } from '../../service/creations/charge.ts';
import { accountId, anApiKey, keyId, now, olderCreation, olderKeyAttributes } from '../fixtures/records.ts';
import { cents, expectBalanced, type Facts, idOf, keyOf, orderAt, type Stores } from './facts.ts';

const dayMillis = 86_400_000;
const user = 'customer 7';
const failed = { failure: 'GenerationFailed', announce: true } as const;

async function chargeAt(stores: Stores, number: number, at = now): Promise<ChargeOutcome> {
  return stores.charges.charge(await orderAt(stores, number, at));
}

async function creationOf({ creations }: Stores, number: number): Promise<NewCreation> {
  return (await creations.read(idOf(number))) as NewCreation;
}

async function refundAt(stores: Stores, number: number, at: number): Promise<void> {
  const outcome = await stores.charges.refund(await creationOf(stores, number), { ...failed, nowMillis: at });
  expect(outcome).toBe('refunded');
}

const over = (period: string, spent: number, cap: number): object => ({
  kind: 'over_budget',
  budget: { period, capMicros: cap, spentMicros: spent },
});

export const capFacts: Facts = {
  'A daily cap counts each day alone, and a refund a day later goes back to the day of its charge': async (
    stores,
  ) => {
    await stores.accounts.changeKey(accountId, keyId, { dailyCapMicros: cents(8) });
    const tomorrow = now + dayMillis;
    expect(await chargeAt(stores, 1)).toEqual({ kind: 'charged' });
    expect(await chargeAt(stores, 2)).toEqual({ kind: 'charged' });
    expect(await chargeAt(stores, 3)).toMatchObject(over('daily', 80_000, 80_000));
    expect(await chargeAt(stores, 4, tomorrow)).toEqual({ kind: 'charged' });
    await refundAt(stores, 1, tomorrow);
    expect((await keyOf(stores)).spentByDay).toEqual({ '2026_11_21': cents(4), '2026_11_22': cents(4) });
    expect(await chargeAt(stores, 5, tomorrow)).toEqual({ kind: 'charged' });
    expect(await chargeAt(stores, 6, tomorrow)).toMatchObject({ kind: 'over_budget' });
    await expectBalanced(stores, tomorrow);
  },

  'A charge removes days that are more than three days old, and a refund to such a day leaves the days alone':
    async (stores) => {
      for (const day of [0, 1, 2, 3]) await chargeAt(stores, day + 1, now + day * dayMillis);
      expect(Object.keys((await keyOf(stores)).spentByDay)).toHaveLength(4);
      await chargeAt(stores, 5, now + 4 * dayMillis);
      const days = {
        '2026_11_22': cents(4),
        '2026_11_23': cents(4),
        '2026_11_24': cents(4),
        '2026_11_25': cents(4),
      };
      expect((await keyOf(stores)).spentByDay).toEqual(days);
      await refundAt(stores, 1, now + 4 * dayMillis);
      expect((await keyOf(stores)).spentByDay).toEqual(days);
      expect((await stores.wallet.ledger(accountId)).at(-1)).not.toHaveProperty('day');
      await refundAt(stores, 3, now + 4 * dayMillis);
      expect((await keyOf(stores)).spentByDay).toEqual({ ...days, '2026_11_23': 0 });
      expect((await stores.wallet.ledger(accountId)).at(-1)).toMatchObject({ day: '2026_11_23' });
      await expectBalanced(stores, now + 4 * dayMillis);
    },

  'A total cap counts all months, those before the cap was set included': async (stores) => {
    const december = Date.UTC(2026, 11, 5);
    await chargeAt(stores, 1);
    await stores.accounts.changeKey(accountId, keyId, { totalCapMicros: cents(8) });
    expect(await chargeAt(stores, 2, december)).toEqual({ kind: 'charged' });
    expect(await chargeAt(stores, 3, december)).toMatchObject(over('total', 80_000, 80_000));
    await refundAt(stores, 1, december);
    expect((await keyOf(stores)).spent).toEqual({ '2026_11': 0, '2026_12': cents(4) });
    expect(await chargeAt(stores, 4, december)).toEqual({ kind: 'charged' });
    expect(await chargeAt(stores, 5, december)).toMatchObject({ kind: 'over_budget' });
    await expectBalanced(stores, december);
  },

  'A charge with a total cap reads again when another charge came into the month before': async (stores) => {
    const turn = Date.UTC(2026, 11, 1);
    await stores.accounts.changeKey(accountId, keyId, { totalCapMicros: cents(8) });
    await chargeAt(stores, 1, turn - 2_000);
    const before = await orderAt(stores, 2, turn - 1);
    const after = await orderAt(stores, 3, turn);
    expect(await stores.charges.charge(before)).toEqual({ kind: 'charged' });
    expect(await stores.charges.charge(after)).toMatchObject(over('total', 80_000, 80_000));
    await refundAt(stores, 1, turn);
    const late = await orderAt(stores, 4, turn - 1);
    const newest = await orderAt(stores, 5, turn);
    expect(await stores.charges.charge(newest)).toEqual({ kind: 'charged' });
    expect(await stores.charges.charge(late)).toMatchObject({ kind: 'over_budget' });
    await refundAt(stores, 2, turn);
    const [stale, fresh] = [late, await orderAt(stores, 4, turn - 1)];
    expect(await stores.charges.charge(stale)).toMatchObject({ kind: 'key_changed' });
    expect(await stores.charges.charge(fresh)).toEqual({ kind: 'charged' });
    await expectBalanced(stores, turn);
  },

  'A cap for each user counts in one item of the user and month, which names no user and expires': async (
    stores,
  ) => {
    await stores.accounts.changeKey(accountId, keyId, { perUserMonthlyCapMicros: cents(8) });
    expect(await chargeAt(stores, 1)).toEqual({ kind: 'charged' });
    const counter = keys.userSpend(accountId, keyId, '2026_11', userHash(user));
    expect(counter.sk).not.toContain(user);
    expect(await stores.item(counter)).toEqual({
      ...counter,
      spentMicros: cents(4),
      expiresAtSeconds: Date.UTC(2027, 2, 3) / 1000,
    });
    const other = await orderAt(stores, 9);
    const another: ChargeOrder = { ...other, creations: [{ ...other.creations[0], user: 'somebody else' }] };
    expect(await stores.charges.charge(another)).toEqual({ kind: 'charged' });
    expect(await chargeAt(stores, 2)).toEqual({ kind: 'charged' });
    expect(await chargeAt(stores, 3)).toMatchObject(over('user', 80_000, 80_000));
    const question = { clientAddress: '203.0.113.7', rate: 'post', nowMillis: now } as const;
    const key = { accountId, keyId };
    expect(await stores.requests.read({ ...question, key, userHash: userHash(user) })).toMatchObject({
      userSpentMicros: cents(8),
    });
    const december = Date.UTC(2026, 11, 1);
    expect(await chargeAt(stores, 4, december)).toEqual({ kind: 'charged' });
    await refundAt(stores, 1, december);
    expect(await stores.item(counter)).toMatchObject({ spentMicros: cents(4) });
    expect((await stores.wallet.ledger(accountId)).at(-1)).toMatchObject({ user, countedForUser: true });
    await expectBalanced(stores, december);
  },

  'A refund gives nothing back to a user that its charge did not count, or whose counter is gone': async (
    stores,
  ) => {
    await chargeAt(stores, 1);
    await stores.accounts.changeKey(accountId, keyId, { perUserMonthlyCapMicros: cents(8) });
    await chargeAt(stores, 2);
    const counter = keys.userSpend(accountId, keyId, '2026_11', userHash(user));
    await refundAt(stores, 1, now);
    expect(await stores.item(counter)).toMatchObject({ spentMicros: cents(4) });
    await refundAt(stores, 2, Date.UTC(2027, 2, 2));
    expect(await stores.item(counter)).toMatchObject({ spentMicros: cents(4) });
    expect((await stores.wallet.ledger(accountId)).at(-1)).not.toHaveProperty('countedForUser');
  },

  'Each cap that was set, changed or removed since the read refuses the charge as changed': async (
    stores,
  ) => {
    const names = [
      'dailyCapMicros',
      'monthlyCapMicros',
      'totalCapMicros',
      'perUserMonthlyCapMicros',
    ] as const;
    for (const name of names) {
      const without = await orderAt(stores, 1);
      await stores.accounts.changeKey(accountId, keyId, { [name]: cents(9) });
      expect(await stores.charges.charge(without)).toMatchObject({ kind: 'key_changed' });
      const { creations, ...order } = await orderAt(stores, 1);
      const withIt: ChargeOrder = { ...order, creations: [{ ...creations[0], countedForUser: true }] };
      await stores.accounts.changeKey(accountId, keyId, { [name]: cents(10) });
      expect(await stores.charges.charge(withIt)).toMatchObject({ kind: 'key_changed' });
      await stores.accounts.changeKey(accountId, keyId, { [name]: null });
      expect(await stores.charges.charge(withIt)).toEqual({ kind: 'key_changed', apiKey: anApiKey() });
    }
  },

  'A key that expired or lost the model since the read is charged nothing': async (stores) => {
    const order = await orderAt(stores, 1);
    await stores.accounts.changeKey(accountId, keyId, { expiresAt: new Date(now).toISOString() });
    expect(await stores.charges.charge(order)).toEqual({ kind: 'key_revoked' });
    await stores.accounts.changeKey(accountId, keyId, { expiresAt: new Date(now + 1).toISOString() });
    await stores.accounts.changeKey(accountId, keyId, { models: ['sandbox-pro'] });
    expect(await stores.charges.charge(order)).toEqual({ kind: 'model_not_allowed' });
    await stores.accounts.changeKey(accountId, keyId, { models: ['sandbox-pro', order.creations[0].model] });
    expect(await stores.charges.charge(order)).toEqual({ kind: 'charged' });
  },

  'A key of the release before has months and no days: its total counts them, and it can get every cap':
    async (stores) => {
      await stores.table.client.send(
        new UpdateCommand({
          TableName: stores.table.name,
          Key: keys.apiKey(accountId, keyId),
          UpdateExpression: 'SET #month = :spent',
          ExpressionAttributeNames: { '#month': Object.keys(olderKeyAttributes)[0] ?? '' },
          ExpressionAttributeValues: { ':spent': Object.values(olderKeyAttributes)[0] },
        }),
      );
      const caps = { dailyCapMicros: cents(4), totalCapMicros: cents(9), perUserMonthlyCapMicros: cents(9) };
      await stores.accounts.changeKey(accountId, keyId, caps);
      expect(await chargeAt(stores, 1)).toEqual({ kind: 'charged' });
      expect(await chargeAt(stores, 2, now + dayMillis)).toMatchObject(over('total', 90_000, 90_000));
    },

  'A refund of a creation of the release before gives back to its month and to no day': async (stores) => {
    await chargeAt(stores, 1);
    const older = olderCreation({ id: idOf(1) });
    await stores.charges.refund(older, { ...failed, nowMillis: now });
    const { spent, spentByDay } = await keyOf(stores);
    expect([spent, spentByDay]).toEqual([{ '2026_11': 0 }, { '2026_11_21': cents(4) }]);
    expect((await stores.wallet.ledger(accountId)).at(-1)).not.toHaveProperty('day');
    await expectBalanced(stores);
  },
};
