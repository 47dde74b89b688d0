/** Facts about accounts, wallets and the counters of the request path. */
import { expect } from 'vitest';
import { asMicros } from '../../../core/money.ts';
import type { RequestState } from '../../../core/ports/requests.ts';
import { accountId, anAccount, anApiKey, keyId, now } from '../../fixtures/records.ts';
import { orderOf, type Facts, type Stores } from './facts.ts';

const address = '203.0.113.7';
const stateOf = ({ requests }: Stores, nowMillis: number): Promise<RequestState> =>
  requests.read({ clientAddress: address, key: { accountId, keyId }, rate: 'post', nowMillis, idempotencyHash: 'hash', creationId: orderOf(1).creation.id });

async function reject({ requests }: Stores, kind: '401' | '403', times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await requests.countRejection(address, kind, now);
}

export const accountFacts: Facts = {
  'one read tells everything of a request, and no key that is over': async (stores) => {
    const first = await stateOf(stores, now);
    expect(first).toMatchObject({ account: await stores.accounts.read(accountId), apiKey: anApiKey(), rateCount: 0, openCreations: 0 });
    expect(Object.keys(first)).not.toEqual(expect.arrayContaining([expect.stringMatching(/block|idempotency|creation$/)]));
    const order = orderOf(1, { idempotency: { hash: 'hash', requestHash: 'request' } });
    await stores.charges.charge(order);
    expect(await stateOf(stores, now)).toMatchObject({ rateCount: 1, creation: order.creation, idempotency: { creationId: order.creation.id } });
    const tomorrow = await stateOf(stores, now + 86_400_000);
    expect(tomorrow).not.toHaveProperty('idempotency');
    expect(tomorrow).toMatchObject({ rateCount: 0, creation: order.creation });
  },

  'requests are counted up to the limit of their minute': async ({ requests }) => {
    const count = (limit: number, at: number): Promise<boolean> => requests.countRequest(accountId, 'get', limit, at);
    expect([await count(0, now), await count(2, now), await count(2, now), await count(2, now), await count(2, now + 30_000)]).toEqual([false, true, true, false, true]);
  },

  'of two polls within the interval the second is refused': async ({ requests }) => {
    const poll = (at: number): Promise<boolean> => requests.stampPoll(orderOf(1).creation.id, 1_000, at);
    expect([await poll(now), await poll(now + 999), await poll(now + 1_000)]).toEqual([true, false, true]);
  },

  'twenty rejections block an address; the wider block is never replaced by the narrower': async (stores) => {
    await reject(stores, '403', 19);
    expect((await stateOf(stores, now)).block).toBeUndefined();
    await reject(stores, '403', 1);
    expect((await stateOf(stores, now)).block).toMatchObject({ scope: 'public', untilMillis: now + 120_000 });
    await reject(stores, '401', 20);
    await reject(stores, '403', 1);
    expect((await stateOf(stores, now + 119_999)).block).toMatchObject({ scope: 'all' });
    expect((await stateOf(stores, now + 120_000)).block).toBeUndefined();
  },

  'a top-up’s reference counts once; an adjustment may overdraw; the credit line is set from what was read': async ({ wallet, accounts }) => {
    expect([await wallet.topUp(accountId, asMicros(1), 'opening'), await wallet.topUp(accountId, asMicros(2), 'second')]).toEqual([false, true]);
    await wallet.adjust(accountId, asMicros(-30_000_000), 'test');
    expect([await wallet.setCreditLine(accountId, asMicros(1), asMicros(5)), await wallet.setCreditLine(accountId, asMicros(0), asMicros(7))]).toEqual([false, true]);
    expect(await accounts.read(accountId)).toMatchObject({ availableMicros: 25_000_002 - 30_000_000 + 7, creditLineMicros: 7 });
    const rows = await wallet.ledger(accountId);
    expect(rows.map(({ kind }) => kind).sort()).toEqual(['adjustment', 'credit_line', 'top_up', 'top_up']);
    expect(rows.reduce((sum, { amountMicros }) => sum + amountMicros, 0)).toBe(25_000_002 - 30_000_000 + 7);
  },

  'accounts and keys are made once, changed, listed and revoked': async ({ accounts }) => {
    expect(await accounts.create(anAccount())).toBe(false);
    expect(await accounts.createKey(anApiKey())).toBe(false);
    await accounts.change(accountId, { providers: ['sandbox'], maxConcurrent: 3, hiddenModels: ['sandbox-pro'] });
    expect(await accounts.read(accountId)).toMatchObject({ limits: { maxConcurrent: 3 }, policy: { providers: ['sandbox'], hiddenModels: ['sandbox-pro'] } });
    await accounts.change(accountId, { providers: 'all' });
    expect((await accounts.list()).map(({ policy }) => policy)).toEqual([{ providers: 'all', hiddenModels: ['sandbox-pro'] }]);
    await expect(accounts.change('N0body0000' as typeof accountId, { maxConcurrent: 1 })).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
    const revoke = (at: string): Promise<boolean> => accounts.revokeKey(accountId, keyId, at);
    expect([await revoke('2026-11-21T01'), await revoke('2026-11-22T01'), await accounts.revokeKey(accountId, 'Absent' as typeof keyId, 'x')]).toEqual([true, true, false]);
    expect(await accounts.listKeys(accountId)).toEqual([anApiKey({ revokedAt: '2026-11-21T01' })]);
  },

  'secrets are replaced from those that were read': async ({ accounts, deliveries }) => {
    const first = { sealed: 'one', issuedAt: now };
    expect(await deliveries.accountSecrets(accountId)).toEqual([]);
    expect([await accounts.replaceSecrets(accountId, undefined, [first]), await accounts.replaceSecrets(accountId, undefined, [first])]).toEqual([true, false]);
    const next = [{ sealed: 'two', issuedAt: now + 1 }, { ...first, replacedAt: now + 1 }];
    expect([await accounts.replaceSecrets(accountId, { ...first, sealed: 'none' }, next), await accounts.replaceSecrets(accountId, first, next)]).toEqual([false, true]);
    expect(await deliveries.accountSecrets(accountId)).toEqual(next);
  },
};
