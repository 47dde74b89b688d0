/** The audit of an account over three months, on a table: what it finds, and how much it reads. */
import { BatchWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { auditUnits } from '../../lab/cost/standing.ts';
import { createDirectClient } from '../../lab/simulation/aws/http-exchange.ts';
import { createSimulatedTable } from '../../lab/simulation/aws/simulated-table.ts';
import type { Item } from '../../local/dynamodb/attributes.ts';
import { sizeOfItem } from '../../local/dynamodb/values.ts';
import { accountToItem, apiKeyToItem } from '../../service/accounts/account-items.ts';
import { auditBooks, type AuditReport } from '../../service/audit/audit-books.ts';
import { createAuditRunStore } from '../../service/audit/audit-run-store.ts';
import { createBooksReader } from '../../service/audit/books-reads.ts';
import { createClosingStore } from '../../service/audit/closing-store.ts';
import type { AuditServices } from '../../service/audit/open.ts';
import { keys, type Table } from '../../service/aws/dynamodb/table.ts';
import { creationToItem } from '../../service/creations/creation-items.ts';
import { type CreationId, uuidV7 } from '../../service/values/ids.ts';
import { asMicros, type Micros } from '../../service/values/money.ts';
import { dayOf, monthOf } from '../../service/values/time.ts';
import { fakeClock, fakeLog, stub } from '../api/fakes.ts';
import {
  accountId,
  aCompletedCreation,
  anAccount,
  anApiKey,
  keyId,
  seededBytes,
} from '../fixtures/records.ts';

const eachMonth = 400;
const costMicros = 40_000;
const months = [Date.UTC(2026, 8), Date.UTC(2026, 9), Date.UTC(2026, 10)] as const;
const betweenMillis = 60_000;

/** The items of one completed creation: its record and its row of the ledger. */
function itemsAt(millis: number): Record<string, unknown>[] {
  const id = uuidV7(millis, seededBytes(16)) as CreationId;
  const at = new Date(millis).toISOString();
  const charged = { chargedMonth: monthOf(millis), chargedDay: dayOf(millis) };
  const { dueAt: _dueAt, ...creation } = aCompletedCreation({ id, createdAt: at, ...charged });
  const row = {
    ...keys.ledger(accountId, at, 'charge', id),
    ...{ kind: 'charge', amountMicros: 0 - costMicros, at, creationId: id, keyId, model: creation.model },
    ...{ month: charged.chargedMonth, day: charged.chargedDay, requestId: id },
  };
  return [creationToItem(creation), row];
}

/** The table with the months, and the read units of its reads: of whole items, whatever a projection leaves out. */
async function books() {
  const clock = fakeClock(Date.UTC(2026, 11, 2, 1));
  const memory = createSimulatedTable({ now: () => clock.now() });
  const read = { units: 0 };
  const unitsOf = (bytes: number, isConsistent: boolean): number =>
    Math.ceil(bytes / 4096) * (isConsistent ? 1 : 0.5);
  const whole = (item: Item): Item => memory.get(item['pk']?.S ?? '', item['sk']?.S ?? '') ?? item;
  const client = createDirectClient((operation, input) => {
    const answer = memory.perform(operation, input);
    const isConsistent = input['ConsistentRead'] === true;
    if (operation === 'Query') {
      const items = (answer['Items'] ?? []) as Item[];
      const sizes = items.map((item) => sizeOfItem(input['IndexName'] === undefined ? whole(item) : item));
      read.units += unitsOf(
        sizes.reduce((sum, size) => sum + size, 1),
        isConsistent,
      );
    } else if (operation === 'BatchGetItem')
      for (const [name, { ConsistentRead }] of Object.entries(
        input['RequestItems'] as Record<string, { ConsistentRead: boolean }>,
      ))
        for (const item of (answer['Responses'] as Record<string, Item[]>)[name] ?? [])
          read.units += unitsOf(
            sizeOfItem(memory.get(`CREATION#${item['id']?.S ?? ''}`, 'CREATION') ?? item),
            ConsistentRead,
          );
    return answer;
  });
  const table: Table = { client, name: 'table', clock, randomBytes: seededBytes };
  const moments = months.flatMap((month) =>
    Array.from({ length: eachMonth }, (_, number) => month + number * betweenMillis),
  );
  const spent: Record<string, Micros> = {};
  for (const millis of moments) spent[monthOf(millis)] = asMicros((spent[monthOf(millis)] ?? 0) + costMicros);
  // A key keeps its last days, and all charges of a month are on its first day.
  const spentByDay = { [dayOf(months[2])]: asMicros(eachMonth * costMicros) };
  const items = [
    accountToItem(
      anAccount({
        availableMicros: asMicros(0 - moments.length * costMicros),
        creditLineMicros: asMicros(0),
      }),
    ),
    apiKeyToItem(anApiKey({ spent, spentByDay })),
    ...moments.flatMap(itemsAt),
  ];
  while (items.length > 0)
    await client.send(
      new BatchWriteCommand({
        RequestItems: { table: items.splice(0, 25).map((Item) => ({ PutRequest: { Item } })) },
      }),
    );
  const log = fakeLog();
  const parts = {
    books: createBooksReader(table),
    closings: createClosingStore(table),
    runs: createAuditRunStore(table),
  };
  return {
    table,
    log,
    audit: async (day: string): Promise<{ report: AuditReport; units: number }> => {
      clock.set(Date.parse(`${day}T01:00:00.000Z`));
      read.units = 0;
      const services = stub<AuditServices>({ clock, log, ...parts });
      const report = await auditBooks(services, day, () => 900_000);
      return { report, units: read.units };
    },
  };
}

it('Only a whole count reads what is closed, and it finds a row of a closed month that was changed', async () => {
  const { audit, table, log } = await books();
  const first = await audit('2026-12-02');
  expect(first.report).toMatchObject({ rows: 3 * eachMonth, differences: 0, isFinished: true });
  expect(first.units / (3 * eachMonth)).toBeCloseTo(auditUnits, 2);

  const at = new Date(months[1] + 7 * betweenMillis);
  const [, row] = itemsAt(at.getTime());
  const changed = {
    TableName: table.name,
    Key: { pk: row?.['pk'], sk: row?.['sk'] },
    UpdateExpression: 'SET amountMicros = :wrong',
    ExpressionAttributeValues: { ':wrong': -1 },
  };
  await table.client.send(new UpdateCommand(changed));
  const daily = await audit('2026-12-03');
  expect(daily.report).toMatchObject({ rows: 0, differences: 0, isFinished: true });
  expect(daily.units).toBeLessThan(10);
  expect(log.lines).not.toContain('alarm books_out_of_balance');

  expect((await audit('2027-01-02')).report).toMatchObject({ rows: 3 * eachMonth });
  expect(log.text()).toContain('closing balance of 2026_11');
  expect(log.text()).toContain('spend of key Key001 in 2026_10');
});
