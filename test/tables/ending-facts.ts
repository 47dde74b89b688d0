/**
 * Facts about the end of a creation: refund, cancel and completion, and the lease before them. The file is long
 * because it is one table, which every store suite runs.
 */
import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import { keys } from '../../service/aws/dynamodb/table.ts';
import type { Refund } from '../../service/creations/refund.ts';
import type { Completion, LeaseOutcome } from '../../service/creations/creation-reads.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import { auditOf, differencesIn } from '../fixtures/books.ts';
import { accountId, aCreation, keyId, now, storedImage } from '../fixtures/records.ts';
import { type Facts, idOf, orderOf, type Stores } from './facts.ts';

const refund: Refund = { failure: 'GenerationFailed', nowMillis: now + 5_000, announce: true };
const done: Completion = {
  results: [storedImage],
  resultsExpireAt: now + 1_000_000,
  attempts: [],
  nowMillis: now + 5_000,
};
const first = (): CreationRecord => aCreation({ id: idOf(1) });
const webhook = { url: 'https://receiver.test/ok', status: 'pending' as const, attempts: 0, nextAt: now };
const at = new Date(now + 5_000).toISOString();
const attempts = [
  { provider: 'sandbox', providerModel: 'standard', startedAt: at, resultKey: 'results/x.png' },
];

function leased(outcome: LeaseOutcome): Extract<LeaseOutcome, { readonly kind: 'leased' }> {
  if (outcome.kind !== 'leased') throw new Error(`the lease was refused: ${outcome.kind}`);
  return outcome;
}

async function openWork({ item }: Stores): Promise<unknown> {
  const { openShard, dueAt } = (await item(keys.creation(idOf(1)))) ?? {};
  return { openShard, dueAt };
}

export const endingFacts: Facts = {
  'A refund fails the creation and returns cost, slot and spend once': async (stores) => {
    await stores.charges.charge(orderOf(1));
    expect(await stores.charges.refund(first(), refund)).toBe('refunded');
    expect(await stores.charges.refund(first(), { ...refund, nowMillis: now + 9_000 })).toBe(
      'already_terminal',
    );
    expect(await stores.accounts.read(accountId)).toMatchObject({ availableMicros: 25_000_000, inFlight: 0 });
    expect((await stores.accounts.listKeys(accountId))[0]?.spent).toEqual({ '2026_11': 0 });
    expect(await stores.creations.read(idOf(1))).toMatchObject({
      status: 'failed',
      failure: 'GenerationFailed',
      refundedMicros: 40_000,
      completedAt: at,
    });
    expect(await openWork(stores)).toEqual({});
    expect(
      (await stores.wallet.ledger(accountId)).slice(1).map(({ kind, amountMicros }) => [kind, amountMicros]),
    ).toEqual([
      ['charge', -40_000],
      ['refund', 40_000],
    ]);
    expect(await stores.charges.refund(aCreation({ id: idOf(9) }), refund)).toBe('already_terminal');
  },

  'A cancel fails an open creation with these attempts, and returns cost, slot and spend once': async (
    stores,
  ) => {
    await stores.charges.charge(orderOf(1, {}, { webhook }));
    const queued = { ...first(), webhook };
    expect(await stores.charges.cancel(queued, { attempts: [], nowMillis: now + 5_000 })).toBe('cancelled');
    expect(await stores.charges.cancel(queued, { attempts: [], nowMillis: now + 9_000 })).toBe('moved_on');
    expect(await stores.charges.refund(queued, refund)).toBe('already_terminal');
    expect(await stores.creations.complete(queued, done)).toBe('already_terminal');
    expect(await stores.accounts.read(accountId)).toMatchObject({ availableMicros: 25_000_000, inFlight: 0 });
    expect((await stores.accounts.listKeys(accountId))[0]?.spent).toEqual({ '2026_11': 0 });
    expect(await stores.creations.read(idOf(1))).toMatchObject({
      status: 'failed',
      failure: 'InternalFailure',
      refundedMicros: 40_000,
      completedAt: at,
      cancelledAt: at,
      webhook: { status: 'pending' },
    });
    expect(
      (await stores.wallet.ledger(accountId)).slice(1).map(({ kind, reason }) => [kind, reason]),
    ).toEqual([
      ['charge', undefined],
      ['refund', 'Cancelled'],
    ]);
    expect(await differencesIn(stores.table)).toEqual([]);
  },

  'Of an attempt that begins and a cancel that saw no attempt, the first one wins': async (stores) => {
    const { creations, charges } = stores;
    await charges.charge(orderOf(1));
    await charges.charge(orderOf(2));
    const one = leased(await creations.lease(idOf(1), 'one', now + 6_000, now));
    const two = leased(await creations.lease(idOf(2), 'one', now + 6_000, now));
    expect(await creations.saveAttempts(idOf(1), one.turn, attempts)).toBe(true);
    expect(await charges.cancel(one.creation, { attempts: [], nowMillis: now })).toBe('moved_on');
    expect(await charges.cancel(two.creation, { attempts: [], nowMillis: now })).toBe('cancelled');
    expect(await creations.saveAttempts(idOf(2), two.turn, attempts)).toBe(false);
    expect((await creations.read(idOf(2)))?.attempts).toEqual([]);
  },

  'A cancel of a stopped job stores how its attempt ended, and only with the attempts that were looked at':
    async (stores) => {
      const { creations, charges } = stores;
      await charges.charge(orderOf(1));
      const { turn } = leased(await creations.lease(idOf(1), 'one', now + 6_000, now));
      const running = [{ ...attempts[0], jobId: 'job-1' }] as CreationRecord['attempts'];
      await creations.saveAttempts(idOf(1), turn, running);
      const stopped = running.map((attempt) => ({ ...attempt, outcome: 'cancelled' as const, endedAt: at }));
      expect(await charges.cancel({ ...first(), attempts }, { attempts: stopped, nowMillis: now })).toBe(
        'moved_on',
      );
      expect(
        await charges.cancel({ ...first(), attempts: running }, { attempts: stopped, nowMillis: now }),
      ).toBe('cancelled');
      expect((await creations.read(idOf(1)))?.attempts).toEqual(stopped);
    },

  'The note of a cancel needs an open creation with these attempts, and only its own time takes it back':
    async (stores) => {
      const { creations, charges } = stores;
      await charges.charge(orderOf(1));
      const noteOf = async (): Promise<unknown> => (await creations.read(idOf(1)))?.cancelRequestedAt;
      expect(await creations.noteCancel({ ...first(), attempts }, 'one')).toBe(false);
      expect(await creations.noteCancel(first(), 'one')).toBe(true);
      expect(await noteOf()).toBe('one');
      expect(await creations.noteCancel(first(), 'two')).toBe(true);
      expect(await creations.withdrawCancel(first(), 'one')).toBe(false);
      expect(await creations.withdrawCancel({ ...first(), attempts }, 'two')).toBe(false);
      expect(await creations.withdrawCancel(first(), 'two')).toBe(true);
      expect(await noteOf()).toBeUndefined();
      expect(await creations.withdrawCancel(first(), 'two')).toBe(true);
      await creations.complete(first(), done);
      expect(await creations.noteCancel(first(), 'three')).toBe(false);
    },

  'A refund after a cancel that the vendor confirmed says so': async (stores) => {
    await stores.charges.charge(orderOf(1));
    await stores.charges.refund(first(), { ...refund, failure: 'InternalFailure', isCancelled: true });
    expect(await stores.creations.read(idOf(1))).toMatchObject({ status: 'failed', cancelledAt: at });
  },

  'A refund in December reduces the spend of November, and its ledger row names the day of the charge':
    async (stores) => {
      await stores.charges.charge(orderOf(1));
      await stores.charges.refund(first(), { ...refund, nowMillis: Date.UTC(2026, 11, 1) });
      expect((await stores.accounts.listKeys(accountId))[0]?.spent).toEqual({ '2026_11': 0 });
      const named = { kind: 'refund', model: 'sandbox-standard', chargedOn: '2026-11-21' };
      expect((await stores.wallet.ledger(accountId)).at(-1)).toMatchObject(named);
    },

  'A completion frees the slot and keeps the cost once, and no refund follows it': async (stores) => {
    await stores.charges.charge(orderOf(1));
    expect(await stores.creations.complete(first(), done)).toBe('completed');
    expect(await stores.creations.complete(first(), done)).toBe('already_terminal');
    expect(await stores.charges.refund(first(), refund)).toBe('already_terminal');
    expect(await stores.accounts.read(accountId)).toMatchObject({ availableMicros: 24_960_000, inFlight: 0 });
    expect(await stores.creations.read(idOf(1))).toMatchObject({
      status: 'completed',
      results: [storedImage],
      completedAt: at,
      refundedMicros: 0,
    });
    expect(await openWork(stores)).toEqual({});
  },

  'A creation with a webhook stays open work after its end, unless the webhook is not announced': async (
    stores,
  ) => {
    await stores.charges.charge(orderOf(1, {}, { webhook }));
    await stores.creations.complete({ ...first(), webhook }, done);
    expect(await openWork(stores)).toEqual({ openShard: 'WEBHOOK#1', dueAt: now + 115_000 });
    await stores.charges.charge(orderOf(2, {}, { webhook }));
    await stores.charges.refund(aCreation({ id: idOf(2), webhook }), { ...refund, announce: false });
    expect(await stores.creations.read(idOf(2))).toMatchObject({
      status: 'failed',
      webhook: { status: 'skipped' },
    });
  },

  'A lease belongs to one holder until it expires, and to nobody after the creation has ended': async (
    stores,
  ) => {
    const { creations, charges } = stores;
    expect(await creations.lease(idOf(1), 'one', now + 6_000, now)).toEqual({ kind: 'absent' });
    expect(await creations.lease(idOf(1), 'two', now + 6_000, now)).toEqual({ kind: 'absent' });
    await charges.charge(orderOf(1));
    const one = leased(await creations.lease(idOf(1), 'one', now + 6_000, now));
    expect(one.creation).toMatchObject({ status: 'processing', startedAt: first().createdAt });
    expect(await creations.readAll([idOf(1)])).toMatchObject([
      { lease: { holder: 'one', until: now + 6_000 } },
    ]);
    expect(await creations.lease(idOf(1), 'two', now + 9_000, now + 5_999)).toEqual({
      kind: 'leased_by_another',
    });
    const again = leased(await creations.lease(idOf(1), 'one', now + 7_000, now + 1_000));
    expect(again.creation.startedAt).toBe(first().createdAt);
    expect(await creations.renewLease(idOf(1), 'two', now + 99_000)).toBe(false);
    expect(await creations.renewLease(idOf(1), 'one', now + 8_000)).toBe(true);
    expect(await creations.readAll([idOf(1)])).toMatchObject([
      { lease: { holder: 'one', until: now + 8_000 } },
    ]);
    expect(await creations.saveAttempts(idOf(1), one.turn, attempts)).toBe(false);
    expect(await creations.saveAttempts(idOf(1), again.turn, attempts)).toBe(true);
    expect(await creations.lease(idOf(1), 'two', now + 20_000, now + 7_999)).toEqual({
      kind: 'leased_by_another',
    });
    const two = leased(await creations.lease(idOf(1), 'two', now + 20_000, now + 8_000));
    expect(two.creation.attempts).toEqual(attempts);
    expect(await creations.renewLease(idOf(1), 'one', now + 99_000)).toBe(false);
    expect(await creations.saveAttempts(idOf(1), again.turn, [])).toBe(false);
    await creations.complete(first(), { ...done, attempts });
    expect(await creations.lease(idOf(1), 'three', now + 20_000, now + 9_000)).toEqual({ kind: 'terminal' });
    expect(await creations.lease(idOf(1), 'two', now + 90_000, now + 80_000)).toEqual({ kind: 'terminal' });
    expect(await creations.read(idOf(1))).not.toHaveProperty('lease');
    const [ended] = await creations.readAll([idOf(1)]);
    expect(ended).toMatchObject({ status: 'completed', attempts });
    expect(ended).not.toHaveProperty('lease');
  },

  'Each lease has a higher turn, also after the time to live has removed the item of the lease': async (
    stores,
  ) => {
    const { creations, charges, table } = stores;
    await charges.charge(orderOf(1));
    const turnOf = async (holder: string, at: number): Promise<number> =>
      leased(await creations.lease(idOf(1), holder, at + 6_000, at)).turn;
    const turns = [await turnOf('one', now), await turnOf('two', now + 6_000)];
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: keys.lease(idOf(1)) }));
    turns.push(await turnOf('three', now + 86_400_000));
    expect(turns).toEqual([...new Set(turns)].sort((one, other) => one - other));
    expect((await creations.read(idOf(1)))?.fence).toBe(turns.at(-1));
  },

  'A lease that is given back is free at once, and its item stays a day for its turn': async (stores) => {
    const { creations, charges, item } = stores;
    await charges.charge(orderOf(1));
    leased(await creations.lease(idOf(1), 'one', now + 6_000, now));
    expect(await creations.renewLease(idOf(1), 'one', now + 1_000)).toBe(true);
    const two = leased(await creations.lease(idOf(1), 'two', now + 7_000, now + 1_000));
    expect(await item(keys.lease(idOf(1)))).toEqual({
      ...keys.lease(idOf(1)),
      holder: 'two',
      until: now + 7_000,
      turn: two.turn,
      expiresAtSeconds: Math.floor(now / 1000) + 1 + 86_400,
    });
  },

  'A lease and its renewals write no lease into the creation': async (stores) => {
    const { creations, charges, item } = stores;
    await charges.charge(orderOf(1));
    const one = leased(await creations.lease(idOf(1), 'one', now + 6_000, now));
    expect(one.creation).not.toHaveProperty('lease');
    const before = await item(keys.creation(idOf(1)));
    expect(await creations.renewLease(idOf(1), 'one', now + 8_000)).toBe(true);
    expect(await item(keys.creation(idOf(1)))).toEqual(before);
  },

  'A lease that the release before wrote into the creation holds until its time is over': async (stores) => {
    const { creations, charges, table } = stores;
    await charges.charge(orderOf(1));
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keys.creation(idOf(1)),
        UpdateExpression: 'SET lease = :lease',
        ExpressionAttributeValues: { ':lease': { holder: 'before', until: now + 6_000 } },
      }),
    );
    expect(await creations.lease(idOf(1), 'one', now + 9_000, now + 5_999)).toEqual({
      kind: 'leased_by_another',
    });
    expect(await creations.readAll([idOf(1)])).toMatchObject([
      { lease: { holder: 'before', until: now + 6_000 } },
    ]);
    leased(await creations.lease(idOf(1), 'two', now + 12_000, now + 6_000));
    expect(await creations.readAll([idOf(1)])).toMatchObject([
      { lease: { holder: 'two', until: now + 12_000 } },
    ]);
  },

  'A later turn stays the fence when an earlier renderer comes to the creation after it': async (stores) => {
    const { creations, charges, table } = stores;
    await charges.charge(orderOf(1));
    const fence = now + 1_000_000;
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keys.creation(idOf(1)),
        UpdateExpression: 'SET fence = :fence',
        ExpressionAttributeValues: { ':fence': fence },
      }),
    );
    expect(await creations.lease(idOf(1), 'slow', now + 6_000, now)).toEqual({ kind: 'leased_by_another' });
    expect(await creations.read(idOf(1))).toMatchObject({ status: 'queued', fence });
  },

  'The token of a task is stored with the lease, stays under a lease without a token, and outlives the creation':
    async ({ charges, creations }) => {
      const id = idOf(1);
      const take = async (holder: string, token?: string): Promise<string> =>
        (await creations.lease(id, holder, now + 60_000, now, token)).kind;
      expect(await creations.taskToken(id)).toBeUndefined();
      await charges.charge(orderOf(1));
      expect(await creations.taskToken(id)).toBeUndefined();
      expect(await take('renderer', 'token-1')).toBe('leased');
      expect(await creations.taskToken(id)).toBe('token-1');
      // A renderer that does not get the lease must not hide the token of the one that has it.
      expect(await take('another', 'token-2')).toBe('leased_by_another');
      expect(await creations.taskToken(id)).toBe('token-1');
      await creations.renewLease(id, 'renderer', now);
      expect(await take('callback')).toBe('leased');
      expect(await creations.taskToken(id)).toBe('token-1');
      await creations.renewLease(id, 'callback', now);
      expect(await take('renderer', 'token-3')).toBe('leased');
      expect(await creations.complete(first(), done)).toBe('completed');
      expect(await creations.taskToken(id)).toBe('token-3');
    },

  'The audit finds no difference after all this, and finds a change that was made by hand': async (
    stores,
  ) => {
    await Promise.all([1, 2, 3].map((number) => stores.charges.charge(orderOf(number))));
    await stores.charges.refund(aCreation({ id: idOf(1) }), refund);
    await stores.creations.complete(aCreation({ id: idOf(2) }), done);
    const audit = async (only?: typeof accountId): Promise<string[]> =>
      (await auditOf(stores.table, only)).differences.map(({ what }) => what);
    expect((await auditOf(stores.table)).counted).toMatchObject({ accounts: 1, creations: 3, rows: 5 });
    expect(await audit()).toEqual([]);
    await stores.openWork.postpone(aCreation({ id: idOf(3) }), undefined);
    expect(await audit(accountId)).toEqual([`due time of ${idOf(3)}`]);
    const spend = (micros: number): Promise<unknown> =>
      stores.table.client.send(
        new UpdateCommand({
          TableName: stores.table.name,
          Key: keys.apiKey(accountId, keyId),
          UpdateExpression: 'SET spent_2026_11 = :is',
          ExpressionAttributeValues: { ':is': micros },
        }),
      );
    await spend(0);
    expect(await audit()).toEqual([`spend of key ${keyId} in 2026_11`, `due time of ${idOf(3)}`]);
  },
};
