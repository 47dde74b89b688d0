/** Facts about the charge. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect } from 'vitest';
import type { Item } from '../../local/dynamodb/attributes.ts';
import { sizeOfItem } from '../../local/dynamodb/values.ts';
import { type ItemKey, keys, minuteOf } from '../../service/aws/dynamodb/table.ts';
import type { ChargeOrder } from '../../service/creations/charge.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { accountId, anApiKey, keyId, now } from '../fixtures/records.ts';
import { cents, type Facts, idOf, orderOf, type Stores } from './facts.ts';

const dayMillis = 86_400_000;

/** Everything that a refused charge must not change. */
async function everythingOf({ accounts, wallet, item }: Stores): Promise<unknown> {
  return {
    account: await accounts.read(accountId),
    keys: await accounts.listKeys(accountId),
    ledger: await wallet.ledger(accountId),
    rate: await item(keys.rate(accountId, 'post', minuteOf(now))),
    creation: await item(keys.creation(idOf(1))),
  };
}

/** Charges, and expects that the charge changed nothing. */
async function refused(stores: Stores, order: ChargeOrder): Promise<unknown> {
  const before = await everythingOf(stores);
  const outcome = await stores.charges.charge(order);
  expect(await everythingOf(stores)).toEqual(before);
  return outcome;
}

const idempotency = (change: object = {}): NonNullable<ChargeOrder['idempotency']> => ({
  hash: 'hash',
  requestHash: 'request',
  ...change,
});

const charged = { kind: 'charged' };

export const chargeFacts: Facts = {
  'Items that expire hold their expiry in whole seconds': async (stores) => {
    const seconds = Math.floor(now / 1000);
    const untilOf = async (key: ItemKey): Promise<unknown> => (await stores.item(key))?.['expiresAtSeconds'];
    await stores.charges.charge(orderOf(1, { idempotency: idempotency() }));
    expect(await untilOf(keys.rate(accountId, 'post', minuteOf(now)))).toBe(seconds + 120);
    expect(await untilOf(keys.idempotency(accountId, 'hash'))).toBe(Math.ceil((now + dayMillis) / 1000));
    await stores.requests.countRequest(accountId, 'get', 5, now);
    expect(await untilOf(keys.rate(accountId, 'get', minuteOf(now)))).toBe(seconds + 120);
    await stores.requests.stampPoll(idOf(1), 1_000, now);
    expect(await untilOf(keys.poll(idOf(1)))).toBe(seconds + 60);
    for (let rejection = 0; rejection < 20; rejection += 1)
      await stores.requests.countRejection('203.0.113.9', '401', now);
    expect(await untilOf(keys.rejected('203.0.113.9', '401', minuteOf(now)))).toBe(seconds + 120);
    expect(await untilOf(keys.block('203.0.113.9'))).toBe(seconds + 120);
  },

  'A charge takes the cost, a place and one request, adds to the spend, and writes creation and ledger row':
    async (stores) => {
      const order = orderOf(1);
      expect(await stores.charges.charge(order)).toEqual(charged);
      expect(await stores.accounts.read(accountId)).toMatchObject({
        availableMicros: 24_960_000,
        inFlight: 1,
      });
      expect(await stores.accounts.listKeys(accountId)).toEqual([
        anApiKey({
          spent: { '2026_11': cents(4) },
          spentByDay: { '2026_11_21': cents(4) },
          lastUsedAt: '2026-11-21T12:00:00.000Z',
        }),
      ]);
      expect(await stores.item(keys.rate(accountId, 'post', minuteOf(now)))).toMatchObject({ count: 1 });
      expect(await stores.creations.read(idOf(1))).toEqual(order.creations[0]);
      expect((await stores.wallet.ledger(accountId)).at(-1)).toEqual({
        kind: 'charge',
        amountMicros: -40_000,
        at: order.creations[0].createdAt,
        creationId: idOf(1),
        keyId,
        month: '2026_11',
        day: '2026_11_21',
        model: 'sandbox-standard',
      });
    },

  'The ledger row of a charge with a user is one write unit, and half of one without': async (stores) => {
    const sizes: number[] = [];
    const sized = async (id: CreationId): Promise<void> => {
      const item = await stores.item(keys.ledger(accountId, new Date(now).toISOString(), 'charge', id));
      sizes.push(sizeOfItem(marshall(item) as Item));
    };
    const requestId = 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef';
    const model = 'a-model-with-a-rather-long-name-v2';
    await stores.charges.charge(orderOf(1, {}, { requestId, model }));
    await sized(idOf(1));
    await stores.charges.charge(orderOf(2, {}, { requestId, model, user: '\u{1F3A8}'.repeat(64) }));
    await sized(idOf(2));
    expect(sizes[0]).toBeLessThanOrEqual(512);
    expect(sizes[1]).toBeLessThanOrEqual(1024);
  },

  'A charge above the available balance is refused and returns that balance': async (stores) => {
    await stores.wallet.adjust(accountId, asMicros(-24_960_001), 'test');
    expect(await refused(stores, orderOf(1))).toEqual({ kind: 'over_balance', availableMicros: 39_999 });
    await stores.wallet.adjust(accountId, asMicros(1), 'test');
    expect(await stores.charges.charge(orderOf(1))).toEqual(charged);
  },

  'A charge without a free slot is refused and returns how many creations are open': async (stores) => {
    await stores.accounts.change(accountId, { maxConcurrent: 1 });
    await stores.charges.charge(orderOf(2));
    expect(await refused(stores, orderOf(1))).toEqual({ kind: 'too_many_open', limit: 1, current: 1 });
  },

  'A revoked key, or a key whose cap has changed, is charged nothing': async (stores) => {
    expect(await refused(stores, orderOf(1, { apiKey: anApiKey({ monthlyCapMicros: cents(9) }) }))).toEqual({
      kind: 'key_changed',
      apiKey: anApiKey(),
    });
    await stores.accounts.revokeKey(accountId, keyId, '2026-11-21T12:00:00.000Z');
    expect(await refused(stores, orderOf(1))).toEqual({ kind: 'key_revoked' });
    expect(await refused(stores, orderOf(1, {}, { keyId: 'Absent' as typeof keyId }))).toEqual({
      kind: 'key_revoked',
    });
  },

  'A suspended or absent account is charged nothing': async (stores) => {
    await stores.accounts.change(accountId, { condition: 'suspended' });
    expect(await refused(stores, orderOf(1))).toEqual({ kind: 'account_not_active', condition: 'suspended' });
    expect(await refused(stores, orderOf(1, {}, { accountId: 'N0body0000' as typeof accountId }))).toEqual({
      kind: 'account_not_active',
      condition: 'gone',
    });
  },

  'A charge above the rate is refused, and the first of several reasons is returned': async (stores) => {
    expect(await stores.charges.charge(orderOf(2, { postRate: 1 }))).toEqual(charged);
    await stores.wallet.adjust(accountId, asMicros(-24_960_000), 'test');
    expect(await refused(stores, orderOf(1, { postRate: 1 }))).toEqual({ kind: 'rate_used_up' });
    expect(await refused(stores, orderOf(1, { nowMillis: now + 60_000 }))).toEqual({
      kind: 'over_balance',
      availableMicros: 0,
    });
  },

  'A refused charge does not use up its token': async (stores) => {
    await stores.wallet.adjust(accountId, asMicros(-25_000_000), 'test');
    expect(await stores.charges.charge(orderOf(1))).toMatchObject({ kind: 'over_balance' });
    await stores.wallet.adjust(accountId, cents(4), 'test');
    expect(await stores.charges.charge(orderOf(1))).toEqual(charged);
  },

  'An Idempotency-Key names one charge until it expires or a new charge replaces a failed one': async (
    stores,
  ) => {
    expect(await stores.charges.charge(orderOf(2, { idempotency: idempotency() }))).toEqual(charged);
    const taken = {
      kind: 'idempotency_taken',
      record: { creationIds: [idOf(2)], requestHash: 'request', expiresAt: now + dayMillis },
    };
    expect(await refused(stores, orderOf(1, { idempotency: idempotency() }))).toMatchObject(taken);
    expect(
      await refused(stores, orderOf(1, { idempotency: idempotency({ replaces: idOf(3) }) })),
    ).toMatchObject(taken);
    expect(
      await refused(stores, orderOf(1, { idempotency: idempotency(), nowMillis: now + dayMillis - 1 })),
    ).toMatchObject(taken);
    expect(
      await stores.charges.charge(orderOf(3, { idempotency: idempotency({ replaces: idOf(2) }) })),
    ).toEqual(charged);
    expect(
      await stores.charges.charge(orderOf(4, { idempotency: idempotency(), nowMillis: now + dayMillis })),
    ).toEqual(charged);
    const expired = { nowMillis: now + 2 * dayMillis - 1, idempotency: idempotency() };
    expect(await stores.charges.charge(orderOf(5, expired))).toMatchObject({
      kind: 'idempotency_taken',
      record: { creationIds: [idOf(4)] },
    });
  },
};
