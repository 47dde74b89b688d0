/** Facts about open work, webhook attempts and listings. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import { creationToItem } from '../../service/creations/creation-items.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import { countOpen, createServiceSwitch } from '../../service/creations/service-state-store.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import { accountId, aCreation, keyId, now, storedImage } from '../fixtures/records.ts';
import { creationIdIn } from '../fixtures/values.ts';
import { type Facts, idOf, orderOf, overdueIds, type Stores } from './facts.ts';

const pending = { url: 'https://receiver.test/ok', status: 'pending' as const, attempts: 0, nextAt: now };

/** A completed creation whose webhook is due. */
async function announced({ charges, creations }: Stores): Promise<CreationRecord> {
  await charges.charge(orderOf(1, {}, { webhook: pending }));
  const creation = aCreation({ id: idOf(1), webhook: pending });
  await creations.complete(creation, {
    results: [storedImage],
    resultsExpireAt: now + 1_000_000,
    attempts: [],
    nowMillis: now,
  });
  return creation;
}

/** The nth attempt. Its id is a UUIDv7, which holds its time. */
function attempt(number: number, startedAt: number): Delivery {
  const hex = startedAt.toString(16).padStart(12, '0');
  const id = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-00000000000${number}`;
  return {
    id,
    accountId,
    creationId: idOf(1),
    event: 'creation.completed',
    url: pending.url,
    attempt: number,
    startedAt: new Date(startedAt).toISOString(),
  };
}

/** Ids of the same shard. */
const sameShard = (index: number): CreationRecord['id'] =>
  creationIdIn(`019aa5a0-1000-7000-8000-${(index * 16).toString(16).padStart(12, '0')}`);

export const workFacts: Facts = {
  'Overdue work of all shards is listed and counted': async ({ charges, openWork, requests }) => {
    const dueAt = [50_000, 10_000, 30_000, 20_000, 90_000];
    for (const [index, due] of dueAt.entries())
      await charges.charge(orderOf(index, {}, { dueAt: now + due }));
    expect([...(await overdueIds(openWork, now + 50_000))].sort()).toEqual([0, 1, 2, 3].map(idOf));
    expect(await overdueIds(openWork, now + 9_999)).toEqual([]);
    expect(await openWork.recordOpenCount()).toBe(5);
    expect(
      await requests.read({
        clientAddress: '127.0.0.1',
        key: { accountId, keyId },
        rate: 'post',
        nowMillis: now,
      }),
    ).toMatchObject({ openCreations: 5 });
  },

  'The estimate of open creations follows starts and ends between two counts': async ({
    table,
    charges,
    openWork,
    requests,
  }) => {
    const key = { accountId, keyId };
    const estimate = async (): Promise<number> =>
      (await requests.read({ clientAddress: '127.0.0.1', key, rate: 'post', nowMillis: now })).openCreations;
    const count = async (first: number, change: 1 | -1, creations: number): Promise<void> => {
      for (let index = first; index < first + creations; index += 1)
        await countOpen(table, idOf(index), change);
    };
    await count(0, 1, 12);
    for (let index = 0; index < 3; index += 1) await charges.charge(orderOf(index));
    expect(await openWork.recordOpenCount()).toBe(3);
    expect(await estimate()).toBe(3);
    await count(12, 1, 10);
    await count(3, -1, 5);
    expect(await estimate()).toBe(8);
    // These starts belong to no creation, so the next count takes them out again.
    expect(await openWork.recordOpenCount()).toBe(3);
    expect(await estimate()).toBe(3);
  },

  'Every request learns that the service is closed until it is opened': async ({ table, requests }) => {
    const closing = createServiceSwitch(table);
    const read = (rate: 'get' | 'post') =>
      requests.read({ clientAddress: '127.0.0.1', key: { accountId, keyId }, rate, nowMillis: now });
    const closed = { message: 'We move.', since: '2026-11-21T12:00:00.000Z' };
    await closing.close(closed);
    expect(await read('post')).toMatchObject({ closed });
    expect(await read('get')).toMatchObject({ closed });
    expect(await closing.read()).toEqual({ closed, openCreations: 0 });
    await closing.open();
    expect(await read('post')).not.toHaveProperty('closed');
    expect(await closing.read()).toEqual({ openCreations: 0 });
  },

  'Overdue work of one shard comes in pages, the most overdue first': async ({ table, openWork }) => {
    const count = 230;
    // The ids differ by sixteen, so all of them are in the same shard.
    const ids = Array.from({ length: count }, (_, index) => sameShard(index));
    for (const [index, id] of ids.entries()) {
      const creation = aCreation({ id, dueAt: now + count - index });
      await table.client.send(new PutCommand({ TableName: table.name, Item: creationToItem(creation) }));
    }
    const pages: (readonly string[])[] = [];
    for (const list of openWork.overdue(now + count))
      for await (const page of list) if (page.length > 0) pages.push(page);
    expect(pages.map((page) => page.length)).toEqual([100, 100, 30]);
    expect(pages.flat()).toEqual([...ids].reverse());
  },

  'Creations are read at once in the order of their ids, and an absent one is left out': async ({
    charges,
    creations,
  }) => {
    for (const number of [1, 2, 3]) await charges.charge(orderOf(number));
    const read = await creations.readAll([3, 9, 1].map(idOf));
    expect(read.map(({ id }) => id)).toEqual([3, 1].map(idOf));
    expect(read[0]).toEqual(await creations.read(idOf(3)));
    expect(await creations.readAll([])).toEqual([]);
  },

  'Creations count as accepted lately from six seconds to one second ago, while nobody touched them': async ({
    charges,
    openWork,
  }) => {
    const acceptedAgo = [0, 999, 1_000, 1_001, 5_999, 6_000, 6_001];
    for (const [index, ago] of acceptedAgo.entries())
      await charges.charge(orderOf(index, {}, { dueAt: now - ago + 60_000 }));
    expect(await openWork.acceptedLately(now, 5_000)).toBe(3);
    await openWork.postpone(aCreation({ id: idOf(4), dueAt: now - 5_999 + 60_000 }), now + 60_000);
    expect(await openWork.acceptedLately(now, 5_000)).toBe(2);
  },

  'Only one run of the reconciler holds the starts, until it gives them back or its time is over': async ({
    openWork,
  }) => {
    const hold = (holder: string, at: number): Promise<boolean> =>
      openWork.holdStarts(holder, at + 50_000, at);
    expect([await hold('one', now), await hold('two', now + 49_999)]).toEqual([true, false]);
    await openWork.releaseStarts('two');
    expect(await hold('two', now + 1)).toBe(false);
    await openWork.releaseStarts('one');
    expect([await hold('two', now + 2), await hold('three', now + 50_002)]).toEqual([true, true]);
    expect(await openWork.recordOpenCount()).toBe(0);
    expect(await hold('four', now + 50_003)).toBe(false);
  },

  'Only one of two reconcilers that read the same due time acts': async ({
    charges,
    openWork,
    creations,
  }) => {
    await charges.charge(orderOf(1));
    const read = aCreation({ id: idOf(1) });
    expect(await openWork.noteStart(read, now + 120_000, 2)).toBe(true);
    expect(await openWork.noteStart(read, now + 130_000, 2)).toBe(false);
    expect(await openWork.postpone(read, now + 130_000)).toBe(false);
    const noted = await creations.read(idOf(1));
    expect(noted).toMatchObject({ executions: 2, recoveries: 1, dueAt: now + 120_000 });
    expect(await openWork.postpone(noted ?? read, undefined)).toBe(true);
    expect(await overdueIds(openWork, now + 10_000_000)).toEqual([]);
  },

  'An attempt is claimed once, in its turn and never before its time': async (stores) => {
    const creation = await announced(stores);
    const { deliveries } = stores;
    const claim = (number: number, at: number): Promise<boolean> =>
      deliveries.claim({
        delivery: attempt(number, at),
        body: '{"n":1}',
        nextAt: at + 70_000,
        nowMillis: at,
      });
    const another = { ...attempt(1, now), id: '019aa5a0-0000-7000-8000-0000000000ff' };
    expect([await claim(2, now), await claim(1, now - 1), await claim(1, now)]).toEqual([false, false, true]);
    expect(
      await deliveries.claim({ delivery: another, body: '{"n":1}', nextAt: now + 70_000, nowMillis: now }),
    ).toBe(false);
    // The answer to the claim was lost, and the same attempt asks again.
    expect(await claim(1, now)).toBe(true);
    await deliveries.settle({ ...attempt(1, now), outcome: 'failed', status: 500 }, { at: now + 60_000 });
    expect([await claim(2, now + 59_999), await claim(2, now + 60_000)]).toEqual([false, true]);
    await deliveries.settle(
      { ...attempt(2, now + 60_000), outcome: 'delivered', status: 204 },
      { status: 'delivered' },
    );
    expect(await claim(3, now + 10_000_000)).toBe(false);
    expect((await stores.creations.read(creation.id))?.webhook).toEqual({
      ...pending,
      status: 'delivered',
      attempts: 2,
      nextAt: now + 130_000,
      body: '{"n":1}',
      claimedBy: attempt(2, now + 60_000).id,
    });
    expect(await overdueIds(stores.openWork, now + 10_000_000)).toEqual([]);
    const log = await deliveries.log(accountId, 10);
    expect(
      log.map(({ attempt: number, outcome, nextAttemptAt }) => [number, outcome, nextAttemptAt]),
    ).toEqual([
      [2, 'delivered', undefined],
      [1, 'failed', new Date(now + 60_000).toISOString()],
    ]);
    expect(await deliveries.log(accountId, 1)).toEqual(log.slice(0, 1));
    expect(await deliveries.find(accountId, attempt(1, now).id)).toEqual(log[1]);
  },

  'A webhook is given up only after its last attempt, and a settled webhook cannot be skipped': async (
    stores,
  ) => {
    const creation = await announced(stores);
    const status = async (): Promise<string | undefined> =>
      (await stores.creations.read(creation.id))?.webhook?.status;
    await stores.deliveries.giveUp(creation.id);
    expect(await status()).toBe('pending');
    for (let number = 1; number <= 5; number += 1) {
      expect(
        await stores.deliveries.claim({
          delivery: attempt(number, now + number),
          body: '{}',
          nextAt: now,
          nowMillis: now + number,
        }),
      ).toBe(true);
    }
    await stores.deliveries.giveUp(creation.id);
    expect(await status()).toBe('failed');
    await expect(stores.deliveries.skip(creation.id)).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
    });
    expect(await status()).toBe('failed');
  },

  'A settled webhook is opened again once, with all its attempts': async (stores) => {
    const creation = await announced(stores);
    expect(await stores.deliveries.reopen(creation, now)).toBe(false);
    await stores.deliveries.skip(creation.id);
    expect([
      await stores.deliveries.reopen(creation, now + 1),
      await stores.deliveries.reopen(creation, now + 1),
    ]).toEqual([true, false]);
    expect(await stores.creations.read(creation.id)).toMatchObject({
      executions: 2,
      webhook: { status: 'pending', attempts: 0, nextAt: now + 1 },
    });
    expect(await overdueIds(stores.openWork, now + 30_001)).toEqual([creation.id]);
  },

  'Only one test delivery is allowed in its interval, and a second one learns how long to wait': async ({
    deliveries,
  }) => {
    expect([
      await deliveries.claimTest(accountId, 30_000, now),
      await deliveries.claimTest(accountId, 30_000, now + 10_000),
    ]).toEqual([0, 20_000]);
    expect(await deliveries.claimTest(accountId, 30_000, now + 30_000)).toBe(0);
  },

  'Creations are listed newest first, after a cursor': async ({ charges, creations }) => {
    for (const number of [3, 1, 2]) await charges.charge(orderOf(number));
    const ids = async (limit: number, before?: ReturnType<typeof idOf>): Promise<string[]> =>
      (await creations.list(accountId, limit, before)).map(({ id }) => id);
    expect(await ids(2)).toEqual([3, 2].map(idOf));
    expect(await ids(2, idOf(2))).toEqual([idOf(1)]);
    expect(await ids(2, idOf(1))).toEqual([]);
  },

  'More creations than one BatchGetItem allows are listed, and a page of 100 names the next page': async ({
    creations,
    table,
  }) => {
    const most = 103;
    const newestFirst = Array.from({ length: most }, (_, index) => idOf(most - 1 - index));
    for (const id of newestFirst) {
      await table.client.send(
        new PutCommand({ TableName: table.name, Item: creationToItem(aCreation({ id })) }),
      );
    }
    expect((await creations.list(accountId, most)).map(({ id }) => id)).toEqual(newestFirst);
    const page = await creations.page(accountId, { limit: 100 });
    expect([page.creations.map(({ id }) => id), page.next]).toEqual([newestFirst.slice(0, 100), idOf(3)]);
    const rest = await creations.page(accountId, { limit: 100, before: idOf(3) });
    expect([rest.creations.map(({ id }) => id), rest.next]).toEqual([newestFirst.slice(100), undefined]);
  },

  'Creations are found by their status and their model': async ({ charges, creations }) => {
    for (const number of [1, 2, 3, 4])
      await charges.charge(
        orderOf(number, {}, { model: number % 2 === 0 ? 'sandbox-pro' : 'sandbox-sketch' }),
      );
    await creations.complete(aCreation({ id: idOf(2) }), {
      results: [storedImage],
      resultsExpireAt: now + 1_000_000,
      attempts: [],
      nowMillis: now,
    });
    const ids = async (
      filter: { status?: 'queued' | 'completed'; model?: string },
      limit = 10,
    ): Promise<string[]> =>
      (await creations.page(accountId, { limit, ...filter })).creations.map(({ id }) => id);
    expect(await ids({ model: 'sandbox-pro' })).toEqual([4, 2].map(idOf));
    expect(await ids({ status: 'completed' })).toEqual([idOf(2)]);
    expect(await ids({ status: 'queued', model: 'sandbox-pro' })).toEqual([idOf(4)]);
    expect(await ids({ status: 'queued' }, 2)).toEqual([4, 3].map(idOf));
  },

  'Metadata is kept under any name that a client chooses': async ({ charges, creations }) => {
    const metadata = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c","":"d"}') as Record<
      string,
      string
    >;
    expect(await charges.charge(orderOf(1, {}, { metadata }))).toEqual({ kind: 'charged' });
    const read = await creations.read(idOf(1));
    expect(Object.entries(read?.metadata ?? {})).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
      ['', 'd'],
    ]);
  },
};
