/** Facts about accounts, wallets and the counters of the request path. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import { createBlockStore } from '../../service/api/block-store.ts';
import type { RequestState } from '../../service/api/request-store.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { asMicros } from '../../service/values/money.ts';
import { accountId, anAccount, anApiKey, keyId, now } from '../fixtures/records.ts';
import { type Facts, orderOf, type Stores } from './facts.ts';

const address = '203.0.113.7';
const stateOf = ({ requests }: Stores, nowMillis: number): Promise<RequestState> =>
  requests.read({
    clientAddress: address,
    key: { accountId, keyId },
    rate: 'post',
    nowMillis,
    idempotencyHash: 'hash',
    creationId: orderOf(1).creations[0].id,
  });

async function reject({ requests }: Stores, kind: '401' | '403', times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await requests.countRejection(address, kind, now);
}

export const accountFacts: Facts = {
  'One read returns everything about a request, and no expired Idempotency-Key': async (stores) => {
    const first = await stateOf(stores, now);
    expect(first).toMatchObject({
      account: await stores.accounts.read(accountId),
      apiKey: anApiKey(),
      rateCount: 0,
      openCreations: 0,
    });
    expect(Object.keys(first)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/block|idempotency|creation$/)]),
    );
    const order = orderOf(1, { idempotency: { hash: 'hash', requestHash: 'request' } });
    await stores.charges.charge(order);
    expect(await stateOf(stores, now)).toMatchObject({
      rateCount: 1,
      creation: order.creations[0],
      idempotency: { creationIds: [order.creations[0].id] },
    });
    const tomorrow = await stateOf(stores, now + 86_400_000);
    expect(tomorrow).not.toHaveProperty('idempotency');
    expect(tomorrow).toMatchObject({ rateCount: 0, creation: order.creations[0] });
  },

  'Requests are counted up to the limit of their minute': async ({ requests }) => {
    const count = (limit: number, at: number): Promise<boolean> =>
      requests.countRequest(accountId, 'get', limit, at);
    expect([
      await count(0, now),
      await count(2, now),
      await count(2, now),
      await count(2, now),
      await count(2, now + 30_000),
    ]).toEqual([false, true, true, false, true]);
  },

  'The second of two polls within the interval is refused': async ({ requests }) => {
    const poll = (at: number): Promise<boolean> => requests.stampPoll(orderOf(1).creations[0].id, 1_000, at);
    expect([await poll(now), await poll(now + 999), await poll(now + 1_000)]).toEqual([true, false, true]);
  },

  'Twenty rejections block an address, and a narrower block never replaces a wider one': async (stores) => {
    await reject(stores, '403', 19);
    expect((await stateOf(stores, now)).block).toBeUndefined();
    await reject(stores, '403', 1);
    expect((await stateOf(stores, now)).block).toMatchObject({ scope: 'public', untilMillis: now + 120_000 });
    await reject(stores, '401', 20);
    await reject(stores, '403', 1);
    expect((await stateOf(stores, now + 119_999)).block).toMatchObject({ scope: 'all' });
    expect((await stateOf(stores, now + 120_000)).block).toBeUndefined();
  },

  'A repeated movement with the same reference changes nothing, and another movement with it is refused':
    async ({ wallet, accounts }) => {
      const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
      const opening = { kind: 'top_up', amountMicros: asMicros(25_000_000), at };
      expect(await wallet.topUp(accountId, asMicros(25_000_000), 'opening')).toEqual({
        kind: 'already_applied',
        by: opening,
      });
      expect(await wallet.topUp(accountId, asMicros(25_000_001), 'opening')).toEqual({
        kind: 'reference_taken',
        by: opening,
      });
      expect(await wallet.adjust(accountId, asMicros(25_000_000), 'test', 'opening')).toEqual({
        kind: 'reference_taken',
        by: opening,
      });
      expect(await wallet.topUp(accountId, asMicros(2), 'second')).toEqual({ kind: 'applied' });
      const adjust = (amount: number): ReturnType<typeof wallet.adjust> =>
        wallet.adjust(accountId, asMicros(amount), 'test', 'third');
      expect([await adjust(-7), await adjust(-7)]).toEqual([
        { kind: 'applied' },
        { kind: 'already_applied', by: { kind: 'adjustment', amountMicros: -7, at } },
      ]);
      expect(await adjust(-8)).toEqual({
        kind: 'reference_taken',
        by: { kind: 'adjustment', amountMicros: -7, at },
      });
      expect(await accounts.read(accountId)).toMatchObject({ availableMicros: 25_000_002 - 7 });
      expect(
        (await wallet.ledger(accountId)).map(({ kind, reference }) => `${kind} ${reference ?? ''}`).sort(),
      ).toEqual(['adjustment third', 'top_up opening', 'top_up second']);
    },

  'A reference of an older release, which has no kind, means a top-up': async ({ table, wallet }) => {
    const at = '2026-11-01T00:00:00.000Z';
    const by = { kind: 'top_up', amountMicros: 5, at };
    const Item = { ...keys.reference(accountId, 'old'), amountMicros: 5, at };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
    expect(await wallet.topUp(accountId, asMicros(5), 'old')).toEqual({ kind: 'already_applied', by });
    expect(await wallet.topUp(accountId, asMicros(6), 'old')).toEqual({ kind: 'reference_taken', by });
  },

  'Every adjustment without a reference is made, and the credit line changes from the value that was read':
    async ({ wallet, accounts }) => {
      await wallet.adjust(accountId, asMicros(-15_000_000), 'test');
      await wallet.adjust(accountId, asMicros(-15_000_000), 'test');
      expect(await wallet.setCreditLine(accountId, asMicros(1), asMicros(5))).toBe('changed_meanwhile');
      expect(await wallet.setCreditLine(accountId, asMicros(0), asMicros(7))).toBe('changed');
      expect(await accounts.read(accountId)).toMatchObject({
        availableMicros: 25_000_000 - 30_000_000 + 7,
        creditLineMicros: 7,
      });
      const rows = await wallet.ledger(accountId);
      expect(rows.map(({ kind }) => kind).sort()).toEqual([
        'adjustment',
        'adjustment',
        'credit_line',
        'top_up',
      ]);
      expect(rows.reduce((sum, { amountMicros }) => sum + amountMicros, 0)).toBe(25_000_000 - 30_000_000 + 7);
    },

  'No movement lifts an account above 10^9 USD or takes it as far below zero': async ({
    wallet,
    accounts,
  }) => {
    const largest = 1_000_000_000_000_000;
    const tooMuch = asMicros(largest - 25_000_000 + 1);
    expect(await wallet.topUp(accountId, tooMuch, 'much')).toEqual({ kind: 'out_of_range' });
    expect(await wallet.adjust(accountId, tooMuch, 'test')).toEqual({ kind: 'out_of_range' });
    expect(await wallet.setCreditLine(accountId, asMicros(0), tooMuch)).toBe('out_of_range');
    expect(await wallet.topUp(accountId, asMicros(tooMuch - 1), 'much')).toEqual({ kind: 'applied' });
    expect(await accounts.read(accountId)).toMatchObject({ availableMicros: largest });
    expect(await wallet.topUp(accountId, asMicros(1), 'one')).toEqual({ kind: 'out_of_range' });
    expect(await wallet.adjust(accountId, asMicros(-largest), 'test')).toEqual({ kind: 'applied' });
    expect(await wallet.adjust(accountId, asMicros(-largest), 'test')).toEqual({ kind: 'applied' });
    expect(await wallet.adjust(accountId, asMicros(-1), 'test')).toEqual({ kind: 'out_of_range' });
    expect(await accounts.read(accountId)).toMatchObject({ availableMicros: -largest });
  },

  'Several changes of the hidden models at once are all kept': async ({ accounts }) => {
    await accounts.change(accountId, { hiddenModels: ['first', 'second'] });
    const hide = (model: string): Promise<void> =>
      accounts.changeHiddenModels(accountId, { hide: [model], show: [] });
    await Promise.all([
      hide('third'),
      hide('fourth'),
      accounts.changeHiddenModels(accountId, { hide: [], show: ['second'] }),
    ]);
    expect((await accounts.read(accountId))?.policy.hiddenModels.toSorted()).toEqual([
      'first',
      'fourth',
      'third',
    ]);
  },

  'The limits of a key are set, changed one by one, and removed': async ({ accounts }) => {
    const limits = {
      dailyCapMicros: asMicros(1),
      monthlyCapMicros: asMicros(5),
      totalCapMicros: asMicros(9),
      perUserMonthlyCapMicros: asMicros(2),
      models: ['sandbox-pro'],
      expiresAt: '2027-01-01T00:00:00.000Z',
    };
    const none = {
      dailyCapMicros: null,
      monthlyCapMicros: null,
      totalCapMicros: null,
      perUserMonthlyCapMicros: null,
      models: null,
      expiresAt: null,
    };
    expect(await accounts.changeKey(accountId, keyId, limits)).toBe(true);
    expect(await accounts.listKeys(accountId)).toEqual([anApiKey(limits)]);
    expect(await accounts.changeKey(accountId, keyId, { ...none, totalCapMicros: asMicros(7) })).toBe(true);
    expect(await accounts.listKeys(accountId)).toEqual([anApiKey({ totalCapMicros: asMicros(7) })]);
    expect(await accounts.changeKey(accountId, keyId, none)).toBe(true);
    expect(await accounts.listKeys(accountId)).toEqual([anApiKey()]);
    expect(await accounts.changeKey(accountId, 'Absent' as typeof keyId, limits)).toBe(false);
  },

  'A lifted block is gone with its counts, so that the next rejection does not block again': async (
    stores,
  ) => {
    const blocks = createBlockStore(stores.table);
    await reject(stores, '401', 20);
    await reject(stores, '403', 3);
    const block = { untilMillis: now + 120_000, scope: 'all' };
    expect(await blocks.read(address, now)).toEqual({ block, rejected: { 401: 20, 403: 3 } });
    expect(await blocks.read(address, now + 120_000)).toEqual({ rejected: { 401: 0, 403: 0 } });
    await blocks.lift(address, now);
    expect(await blocks.read(address, now)).toEqual({ rejected: { 401: 0, 403: 0 } });
    await reject(stores, '401', 1);
    expect((await stateOf(stores, now)).block).toBeUndefined();
  },

  'Accounts and keys are created once, changed, listed and revoked': async ({ accounts }) => {
    expect(await accounts.create(anAccount({ createdAt: '2026-11-02T00:00:00.000Z' }))).toBe(false);
    expect(await accounts.createKey(anApiKey({ hash: 'another' }))).toBe('id_taken');
    await accounts.change(accountId, {
      providers: ['sandbox'],
      maxConcurrent: 3,
      hiddenModels: ['sandbox-pro'],
    });
    expect(await accounts.read(accountId)).toMatchObject({
      limits: { maxConcurrent: 3 },
      policy: { providers: ['sandbox'], hiddenModels: ['sandbox-pro'] },
    });
    await accounts.change(accountId, { providers: 'all', name: 'Atelier' });
    expect((await accounts.list()).map(({ name, policy }) => ({ name, policy }))).toEqual([
      { name: 'Atelier', policy: { providers: 'all', hiddenModels: ['sandbox-pro'] } },
    ]);
    await expect(
      accounts.change('N0body0000' as typeof accountId, { maxConcurrent: 1 }),
    ).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
    const revoke = (at: string): Promise<boolean> => accounts.revokeKey(accountId, keyId, at);
    expect([
      await revoke('2026-11-21T01'),
      await revoke('2026-11-22T01'),
      await accounts.revokeKey(accountId, 'Absent' as typeof keyId, 'x'),
    ]).toEqual([true, true, false]);
    expect(await accounts.listKeys(accountId)).toEqual([anApiKey({ revokedAt: '2026-11-21T01' })]);
  },

  'Webhook secrets are replaced only when the current secret is the one that was read': async ({
    accounts,
    deliveries,
  }) => {
    const first = { sealed: 'one', issuedAt: now };
    expect(await deliveries.deliveringAccount(accountId)).toEqual({ name: 'Studio', secrets: [] });
    expect([
      await accounts.replaceSecrets(accountId, undefined, [first]),
      await accounts.replaceSecrets(accountId, undefined, [{ ...first, sealed: 'other' }]),
    ]).toEqual([true, false]);
    const next = [
      { sealed: 'two', issuedAt: now + 1 },
      { ...first, replacedAt: now + 1 },
    ];
    expect([
      await accounts.replaceSecrets(accountId, { ...first, sealed: 'none' }, next),
      await accounts.replaceSecrets(accountId, first, next),
    ]).toEqual([false, true]);
    expect(await deliveries.deliveringAccount(accountId)).toEqual({ name: 'Studio', secrets: next });
  },
};
