/** Facts about a charge of several creations: all or none, by each reason, and what a refund of one gives back. */
import { expect } from 'vitest';
import type { ApiKey } from '../../service/accounts/account.ts';
import { userHash } from '../../service/accounts/end-user.ts';
import { keys, minuteOf } from '../../service/aws/dynamodb/table.ts';
import type { ChargeOrder, NewCreation } from '../../service/creations/charge.ts';
import { newUpload } from '../../service/uploads/upload.ts';
import { asMicros } from '../../service/values/money.ts';
import { accountId, aCreation, anAccount, keyId, now } from '../fixtures/records.ts';
import {
  cents,
  expectBalanced,
  type Facts,
  idOf,
  keyOf,
  losingAnswer,
  orderOf,
  type Stores,
} from './facts.ts';

const dayMillis = 86_400_000;
const user = 'customer 7';
const charged = { kind: 'charged' };

/** An order of so many creations of 0.04 USD each. Their ids follow one another. */
function several(
  count: number,
  change: Partial<ChargeOrder> = {},
  creation: Partial<NewCreation> = {},
  firstNumber = 1,
): ChargeOrder {
  const nth = (index: number): NewCreation => aCreation({ id: idOf(firstNumber + index), ...creation });
  const rest = Array.from({ length: count - 1 }, (_, index) => nth(index + 1));
  return orderOf(firstNumber, { creations: [nth(0), ...rest], ...change });
}

async function everythingOf({ accounts, wallet, item }: Stores): Promise<unknown> {
  return {
    account: await accounts.read(accountId),
    keys: await accounts.listKeys(accountId),
    ledger: await wallet.ledger(accountId),
    rate: await item(keys.rate(accountId, 'post', minuteOf(now))),
    idempotency: await item(keys.idempotency(accountId, 'hash')),
    unused: await item(keys.unusedUploads(accountId)),
    user: await item(keys.userSpend(accountId, keyId, '2026_11', userHash(user))),
    creations: await Promise.all([1, 2, 3, 4].map((number) => item(keys.creation(idOf(number))))),
  };
}

async function refused(stores: Stores, order: ChargeOrder): Promise<unknown> {
  const before = await everythingOf(stores);
  const outcome = await stores.charges.charge(order);
  expect(await everythingOf(stores)).toEqual(before);
  return outcome;
}

async function capped(stores: Stores, caps: Parameters<Stores['accounts']['changeKey']>[2]): Promise<ApiKey> {
  await stores.accounts.changeKey(accountId, keyId, caps);
  return keyOf(stores);
}

export const severalFacts: Facts = {
  'A charge of three takes three costs and three places, counts one request, and writes a row for each':
    async (stores) => {
      const order = several(3);
      expect(await stores.charges.charge(order)).toEqual(charged);
      expect(await stores.accounts.read(accountId)).toMatchObject({
        availableMicros: 24_880_000,
        inFlight: 3,
      });
      expect((await stores.accounts.listKeys(accountId))[0]).toMatchObject({
        spent: { '2026_11': cents(12) },
        spentByDay: { '2026_11_21': cents(12) },
      });
      expect(await stores.item(keys.rate(accountId, 'post', minuteOf(now)))).toMatchObject({ count: 1 });
      for (const creation of order.creations)
        expect(await stores.creations.read(creation.id)).toEqual(creation);
      const rows = (await stores.wallet.ledger(accountId)).slice(1);
      expect(rows.map(({ kind, amountMicros, creationId }) => [kind, amountMicros, creationId])).toEqual(
        order.creations.map(({ id }) => ['charge', -40_000, id]),
      );
      await expectBalanced(stores);
    },

  'The balance covers all creations of a charge, or none is charged': async (stores) => {
    await stores.wallet.adjust(accountId, asMicros(-24_880_001), 'test');
    expect(await refused(stores, several(3))).toEqual({ kind: 'over_balance', availableMicros: 119_999 });
    await stores.wallet.adjust(accountId, asMicros(1), 'test');
    expect(await stores.charges.charge(several(3))).toEqual(charged);
  },

  'Each cap of a key covers all creations of a charge, or none is charged': async (stores) => {
    const rows = [
      ['daily', { dailyCapMicros: cents(11) }, { dailyCapMicros: cents(12) }],
      ['monthly', { monthlyCapMicros: cents(15) }, { monthlyCapMicros: cents(16) }],
      ['total', { totalCapMicros: cents(15) }, { totalCapMicros: cents(16) }],
      ['user', { perUserMonthlyCapMicros: cents(11) }, { perUserMonthlyCapMicros: cents(12) }],
    ] as const;
    // One charge of the day before, so that the month and the total begin with 0.04 USD.
    const yesterday = new Date(now - dayMillis).toISOString();
    await stores.charges.charge(
      orderOf(9, { nowMillis: now - dayMillis }, { createdAt: yesterday, chargedDay: '2026_11_20' }),
    );
    const free = {
      dailyCapMicros: null,
      monthlyCapMicros: null,
      totalCapMicros: null,
      perUserMonthlyCapMicros: null,
    };
    const orders: ChargeOrder[] = [];
    for (const [index, [period, tooSmall, enough]] of rows.entries()) {
      const creation = 'perUserMonthlyCapMicros' in enough ? { user, countedForUser: true as const } : {};
      const short = await capped(stores, { ...free, ...tooSmall });
      expect(await refused(stores, several(3, { apiKey: short }, creation))).toMatchObject({
        kind: 'over_budget',
        budget: { period },
      });
      const apiKey = await capped(stores, { ...free, ...enough });
      const order = several(3, { apiKey }, creation, 10 + index * 3);
      orders.push(order);
      expect(await stores.charges.charge(order), JSON.stringify(enough)).toEqual(charged);
      await expectBalanced(stores);
      for (const { id } of order.creations) {
        const made = (await stores.creations.read(id)) as NewCreation;
        await stores.charges.refund(made, { failure: 'GenerationFailed', announce: true, nowMillis: now });
      }
    }
    await expectBalanced(stores);
    expect(orders).toHaveLength(4);
  },

  'A charge of more than a whole cap is not even sent': async (stores) => {
    const apiKey = await capped(stores, { monthlyCapMicros: cents(7) });
    expect(await refused(stores, several(2, { apiKey }))).toMatchObject({
      kind: 'over_budget',
      budget: { capMicros: 70_000, spentMicros: 0 },
    });
  },

  'The account has slots for all creations of a charge, or none is charged': async (stores) => {
    await stores.accounts.change(accountId, { maxConcurrent: 4 });
    await stores.charges.charge(orderOf(9));
    expect(await refused(stores, several(4, { maxConcurrent: 4 }))).toEqual({
      kind: 'too_many_open',
      limit: 4,
      current: 1,
    });
    expect(await stores.charges.charge(several(3, { maxConcurrent: 4 }))).toEqual(charged);
    expect(await stores.accounts.read(accountId)).toMatchObject({ inFlight: 4 });
  },

  'A limit of open creations that changed after it was read decides as it is now': async (stores) => {
    await stores.accounts.change(accountId, { maxConcurrent: 2 });
    expect(await refused(stores, several(3))).toEqual({ kind: 'too_many_open', limit: 2, current: 0 });
    expect(await refused(stores, several(2))).toMatchObject({
      kind: 'account_changed',
      account: { limits: { maxConcurrent: 2 } },
    });
    expect(await refused(stores, several(2, { maxConcurrent: 1 }))).toMatchObject({
      kind: 'account_changed',
    });
    expect(await stores.charges.charge(several(2, { maxConcurrent: 2 }))).toEqual(charged);
  },

  'A charge of several counts as one request of the rate, and is refused with all creations above the rate':
    async (stores) => {
      expect(await stores.charges.charge(several(3, { postRate: 2 }))).toEqual(charged);
      expect(await stores.charges.charge(several(3, { postRate: 2 }, {}, 4))).toEqual(charged);
      expect(await refused(stores, several(3, { postRate: 2 }, {}, 7))).toEqual({ kind: 'rate_used_up' });
    },

  'The uploads of a charge of several are freed once, and a refused charge frees none': async (stores) => {
    const upload = newUpload({ accountId, contentType: 'image/png', bytes: 7 }, now, (count) =>
      new Uint8Array(count).fill(7),
    );
    await stores.uploads.create(upload, 5, now);
    const order = several(2, { uploads: [upload.id], maxConcurrent: anAccount().limits.maxConcurrent });
    await stores.accounts.change(accountId, { maxConcurrent: 1 });
    expect(await refused(stores, order)).toMatchObject({ kind: 'too_many_open' });
    await stores.accounts.change(accountId, { maxConcurrent: 20 });
    expect(await stores.charges.charge(order)).toEqual(charged);
    expect((await stores.item(keys.unusedUploads(accountId)))?.['unused']).toBeUndefined();
  },

  'An Idempotency-Key names all creations of its charge, for as long as the order says': async (stores) => {
    const idempotency = { hash: 'hash', requestHash: 'request' };
    expect(await stores.charges.charge(several(2, { idempotency: { ...idempotency, seconds: 60 } }))).toEqual(
      charged,
    );
    const record = { creationIds: [idOf(1), idOf(2)], requestHash: 'request', expiresAt: now + 60_000 };
    const question = { clientAddress: '203.0.113.9', key: { accountId, keyId }, rate: 'post' } as const;
    const stored = async (nowMillis: number): Promise<unknown> =>
      (await stores.requests.read({ ...question, nowMillis, idempotencyHash: 'hash' })).idempotency;
    expect(await stored(now + 59_999)).toEqual(record);
    expect(await stored(now + 60_000)).toBeUndefined();
    expect(await refused(stores, several(2, { idempotency }, {}, 3))).toEqual({
      kind: 'idempotency_taken',
      record,
    });
    const replaces = { ...idempotency, replaces: idOf(1) };
    expect(await stores.charges.charge(several(1, { idempotency: replaces }, {}, 3))).toEqual(charged);
    expect(await stored(now)).toMatchObject({ creationIds: [idOf(3)], expiresAt: now + dayMillis });
  },

  'The same charge of several that is sent again, because its answer was lost, takes its costs once': async (
    stores,
  ) => {
    const losing = losingAnswer(stores, 'TransactWriteItemsCommand');
    expect(await stores.charges.charge(several(3))).toEqual(charged);
    expect(losing.answers).toBe(1);
    expect(await stores.accounts.read(accountId)).toMatchObject({ availableMicros: 24_880_000, inFlight: 3 });
    await expectBalanced(stores);
  },

  'Of simultaneous charges of three each exactly whole ones succeed': async (stores) => {
    await stores.wallet.adjust(accountId, asMicros(-24_600_000), 'test');
    const outcomes = await Promise.all(
      [1, 4, 7, 10, 13].map((first) => stores.charges.charge(several(3, {}, {}, first))),
    );
    const whole = outcomes.filter(({ kind }) => kind === 'charged').length;
    expect(whole).toBeGreaterThan(0);
    expect(whole).toBeLessThanOrEqual(3);
    expect(await stores.accounts.read(accountId)).toMatchObject({
      availableMicros: 400_000 - whole * 120_000,
      inFlight: whole * 3,
    });
    expect(await stores.wallet.ledger(accountId)).toHaveLength(2 + whole * 3);
    await expectBalanced(stores);
  },

  'A refund of one of three gives back exactly its part': async (stores) => {
    const order = several(3, {}, { user });
    await stores.charges.charge(order);
    const [, second] = order.creations;
    if (!second) throw new Error('the order has three creations');
    const refund = { failure: 'GenerationFailed', announce: true, nowMillis: now + 5_000 } as const;
    expect(await stores.charges.refund(second, refund)).toBe('refunded');
    expect(await stores.charges.refund(second, refund)).toBe('already_terminal');
    expect(await stores.accounts.read(accountId)).toMatchObject({ availableMicros: 24_920_000, inFlight: 2 });
    expect((await stores.accounts.listKeys(accountId))[0]).toMatchObject({
      spent: { '2026_11': cents(8) },
      spentByDay: { '2026_11_21': cents(8) },
    });
    const statuses = await Promise.all(order.creations.map(async ({ id }) => stores.creations.read(id)));
    expect(statuses.map((creation) => creation?.status)).toEqual(['queued', 'failed', 'queued']);
    await expectBalanced(stores);
  },
};
