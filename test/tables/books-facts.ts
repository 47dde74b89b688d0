/** Facts about the audit's reads, which combine the creations of the ledger and of the list. */
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import { auditTable } from '../../admin/audit-table.ts';
import { accountToItem } from '../../service/accounts/account-items.ts';
import { createAuditRunStore } from '../../service/audit/audit-run-store.ts';
import { finished } from '../../service/audit/audit-run.ts';
import { createBooksReader } from '../../service/audit/books-reads.ts';
import { createClosingStore } from '../../service/audit/closing-store.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { creationToItem } from '../../service/creations/creation-items.ts';
import { type AccountId, type CreationId, uuidV7 } from '../../service/values/ids.ts';
import { auditOf } from '../fixtures/books.ts';
import { collect } from '../fixtures/values.ts';
import { accountId, aCreation, anAccount, now } from '../fixtures/records.ts';
import { type Facts, idOf, orderOf } from './facts.ts';

const namesOf = ({ differences }: Awaited<ReturnType<typeof auditOf>>): string[] =>
  differences.map(({ what }) => what).sort();

export const booksFacts: Facts = {
  'A creation that is in the ledger and in no list is counted once': async ({ table, charges }) => {
    await charges.charge(orderOf(1));
    await charges.charge(orderOf(2));
    const { listing: _listing, listed: _listed, ...unlisted } = creationToItem(orderOf(1).creations[0]);
    await table.client.send(new PutCommand({ TableName: table.name, Item: unlisted }));
    const audited = await auditOf(table, accountId);
    expect(audited.counted.creations).toBe(2);
    expect(namesOf(audited)).toEqual([]);
  },

  'The audit counts more creations than one read returns': async ({ table }) => {
    const ids = Array.from({ length: 103 }, (_, index) => idOf(index));
    for (const id of ids)
      await table.client.send(
        new PutCommand({ TableName: table.name, Item: creationToItem(aCreation({ id })) }),
      );
    expect((await auditOf(table, accountId)).counted.creations).toBe(103);
  },

  'A difference that is gone at the next comparison was a movement between two reads': async ({
    table,
    charges,
  }) => {
    await charges.charge(orderOf(1));
    const setInFlight = (inFlight: number): Promise<unknown> =>
      table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: keys.account(accountId),
          UpdateExpression: 'SET inFlight = :is',
          ExpressionAttributeValues: { ':is': inFlight },
        }),
      );
    await setInFlight(0);
    const pauses: number[] = [];
    const sleep = async (millis: number): Promise<void> => {
      pauses.push(millis);
      await setInFlight(1);
    };
    const clock = { ...table.clock, sleep };
    expect((await auditTable({ table, clock })).differences).toEqual([]);
    expect(pauses).toEqual([1_000]);
    await setInFlight(2);
    expect(namesOf(await auditOf(table))).toEqual(['in_flight']);
  },

  'The list of accounts continues after a position': async ({ table }) => {
    const second = anAccount({ id: 'Acc0unt002' as AccountId, createdAt: '2027-01-01T00:00:00.000Z' });
    await table.client.send(new PutCommand({ TableName: table.name, Item: accountToItem(second) }));
    const books = createBooksReader(table);
    const [all = []] = await collect(books.accounts());
    expect(all.map(({ id }) => id)).toEqual([accountId, second.id]);
    const [behind = []] = await collect(books.accounts(all[0]?.place));
    expect(behind.map(({ id }) => id)).toEqual([second.id]);
  },

  'One holder works on a run of the audit at a time, and the next one goes on with it': async ({ table }) => {
    const runs = createAuditRunStore(table);
    const [one, two] = ['one', 'two'].map((holder) => ({ holder, untilMillis: now + 1_000 }));
    if (!one || !two) throw new Error('there are two holders');
    const run = await runs.take('2026-11-21', one, now);
    if (run === 'none') throw new Error('the run was not taken');
    expect(run.progress.accounts).toBe(0);
    expect(await runs.take('2026-11-21', two, now + 999)).toBe('none');
    const further = { ...run, progress: { ...run.progress, after: 'here', accounts: 7 } };
    expect(await runs.save(further, one)).toBe(true);
    expect(await runs.take('2026-11-22', { ...two, untilMillis: now + 2_000 }, now + 1_000)).toEqual(further);
    expect(await runs.save(further, one)).toBe(false);
    const ended = { ...further, finishedAt: '2026-11-21T13:00:00.000Z' };
    expect(await runs.save(ended, { ...two, untilMillis: 0 })).toBe(true);
    expect(await runs.take('2026-11-21', one, now + 3_000)).toBe('none');
    expect(await runs.take('2026-11-22', one, now + 3_000)).toMatchObject({
      day: '2026-11-22',
      progress: { accounts: 0 },
    });
  },

  'The first run, and the first one from the second day of a month, counts the whole books': async ({
    table,
  }) => {
    const runs = createAuditRunStore(table);
    const days = ['2026-11-21', '2026-11-22', '2026-12-01', '2026-12-02', '2026-12-03', '2027-01-04'];
    const whole: string[] = [];
    for (const day of days) {
      const run = await runs.take(day, { holder: day, untilMillis: now }, now);
      if (run === 'none') throw new Error('the run was not taken');
      if (run.isWhole) whole.push(day);
      await runs.save(finished(run, 'now'), { holder: day, untilMillis: 0 });
    }
    expect(whole).toEqual(['2026-11-21', '2026-12-02', '2027-01-04']);
  },

  'The closing balances of an account come in the order of their months': async ({ table }) => {
    const closings = createClosingStore(table);
    const sums = { rows: 2, availableMicros: -7, creditLineMicros: 3 };
    await closings.write(accountId, { month: '2026_12', ...sums });
    await closings.write(accountId, { month: '2026_11', ...sums });
    await closings.write('Acc0unt002' as AccountId, { month: '2026_10', ...sums });
    expect(await closings.read(accountId)).toEqual([
      { month: '2026_11', ...sums },
      { month: '2026_12', ...sums },
    ]);
  },

  'The audit reads what is an hour old at half the price, and other rows and records consistently': async ({
    table,
    charges,
  }) => {
    const at = now - 7_200_000;
    const id = uuidV7(at, table.randomBytes(16)) as CreationId;
    await charges.charge(orderOf(1, {}, { id, createdAt: new Date(at).toISOString() }));
    const reads: unknown[] = [];
    table.client.middlewareStack.add(
      (next) => (args) => {
        const { ConsistentRead, RequestItems } = args.input as Record<string, unknown>;
        const [batch] = Object.values((RequestItems ?? {}) as Record<string, { ConsistentRead: boolean }>);
        reads.push(batch ? batch.ConsistentRead : ConsistentRead);
        return next(args);
      },
      { step: 'initialize', name: 'consistency', override: true },
    );
    const books = createBooksReader(table);
    const read = async (settledMillis: number): Promise<unknown> => {
      reads.length = 0;
      const rows = (await collect(books.ledger(accountId, undefined, settledMillis))).flat();
      const ids = rows.flatMap(({ row }) => row.creationId ?? []);
      return { rows: rows.length, records: (await books.creations(ids, settledMillis)).length, reads };
    };
    expect(await read(0)).toEqual({ rows: 2, records: 1, reads: [true, true] });
    expect(await read(now - 3_600_000)).toEqual({ rows: 2, records: 1, reads: [false, true, false] });
  },
};
