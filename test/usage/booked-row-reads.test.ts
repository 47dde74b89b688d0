/** A ledger of a hundred thousand rows, which a table makes page by page. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { readBookedRows } from '../../service/usage/booked-row-reads.ts';
import { sumMargin } from '../../service/usage/margin.ts';
import { sumUsage } from '../../service/usage/usage.ts';
import { fakeClock, stub } from '../api/fakes.ts';
import { accountId, keyId } from '../fixtures/records.ts';

const rows = 100_000;
/** A page of 1 MB has some thousand rows. */
const pageSize = 4_000;
const padded = (number: number): string => String(number).padStart(12, '0');

interface Watched {
  readonly table: Table;
  /** The largest number of creations that were read and not yet summed. */
  readonly mostCreations: () => number;
  readonly summed: (count: number) => void;
  readonly pages: () => number;
}

function tableOfManyRows(): Watched {
  let [pages, open, most] = [0, 0, 0];
  const send = async ({ input }: { input: Readonly<Record<string, unknown>> }): Promise<object> => {
    const batch = input['RequestItems'] as { table: { Keys: { pk: string }[] } } | undefined;
    if (batch) {
      const found = batch.table.Keys.map(({ pk }) => creationOf(pk.replace('CREATION#', '')));
      open += found.length;
      most = Math.max(most, open);
      return Promise.resolve({ Responses: { table: found } });
    }
    pages += 1;
    const from = Number((input['ExclusiveStartKey'] as { sk: string } | undefined)?.sk ?? 0);
    const Items = Array.from({ length: pageSize }, (_, place) => rowOf(from + place));
    const next = from + pageSize;
    return Promise.resolve({ Items, ...(next < rows && { LastEvaluatedKey: { sk: String(next) } }) });
  };
  return {
    table: {
      client: stub<DynamoDBDocumentClient>({ send: send as never }),
      name: 'table',
      clock: fakeClock(),
      randomBytes: (count) => new Uint8Array(count),
    },
    mostCreations: () => most,
    summed: (count) => {
      open -= count;
    },
    pages: () => pages,
  };
}

function rowOf(number: number): object {
  const at = new Date(Date.UTC(2026, 9, 1) + number * 20_000).toISOString();
  const user = `user-${number % 500}`;
  return { kind: 'charge', amountMicros: -40_000, at, creationId: padded(number), keyId, user };
}

function creationOf(id: string): object {
  const attempt = { provider: 'openai', outcome: 'rendered', providerCostMicros: 6_001 };
  return { id, status: 'completed', model: 'one', attempts: [attempt] };
}

describe('a ledger of 100,000 rows', () => {
  it('The sums are exact, and at most 400 creations are in memory at once', async () => {
    const { table, mostCreations, summed, pages } = tableOfManyRows();
    const [usage, margin] = [sumUsage('user'), sumMargin('provider')];
    for await (const some of readBookedRows(table, accountId, { from: '2026-10-01', to: '2026-10-31' })) {
      for (const booked of some) {
        usage.add(booked);
        margin.add(accountId, booked);
      }
      summed(some.length);
    }
    expect(pages()).toBe(rows / pageSize);
    expect(mostCreations()).toBe(400);
    expect(usage.groups()).toHaveLength(500);
    expect(usage.total()).toMatchObject({ creations: rows, completed: rows, chargedMicros: 4_000_000_000 });
    expect(margin.total()).toMatchObject({
      revenueMicros: 4_000_000_000,
      costMicros: 600_100_000,
      costUnknown: 0,
    });
  });

  it('A page is read only when the rows before it are summed', async () => {
    const { table, pages } = tableOfManyRows();
    let summed = 0;
    for await (const some of readBookedRows(table, accountId, { from: '2026-10-01', to: '2026-10-31' })) {
      summed += some.length;
      expect(pages()).toBe(Math.ceil(summed / pageSize));
      if (summed >= 3 * pageSize) break;
    }
    expect(pages()).toBe(3);
  });
});
