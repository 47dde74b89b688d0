/** Pages of many creations, on the table of the simulation. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDirectClient } from '../../lab/simulation/aws/http-exchange.ts';
import { createSimulatedTable } from '../../lab/simulation/aws/simulated-table.ts';
import { systemClock } from '../../service/aws/clock.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { creationToItem } from '../../service/creations/creation-items.ts';
import { type CreationQuery, pageOfCreations } from '../../service/creations/creation-reads.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { accountId, aCreation, now, seededBytes } from '../fixtures/records.ts';

const total = 1_203;
const idOf = (number: number): CreationId =>
  `019aa5a0-1000-7000-8000-${number.toString(16).padStart(12, '0')}` as CreationId;
/** Every 400th creation has another model. The oldest creation has the number 0. */
const modelOf = (number: number): string => (number % 400 === 0 ? 'sandbox-pro' : 'sandbox-sketch');
const rare = [1_200, 800, 400, 0].map(idOf);

/** The number of keys of each BatchGetItem, and the number of queries. */
let reads: number[] = [];
let queries = 0;

const memory = createSimulatedTable({ now: () => now });
const table: Table = {
  name: 'table',
  clock: systemClock,
  randomBytes: seededBytes,
  client: createDirectClient((operation, input) => {
    const { RequestItems: asked } = input as { RequestItems?: Record<string, { Keys: unknown[] }> };
    if (operation === 'Query') queries += 1;
    if (operation === 'BatchGetItem') reads.push(asked?.['table']?.Keys.length ?? 0);
    return memory.perform(operation, input);
  }),
};

beforeAll(async () => {
  for (let number = 0; number < total; number += 1) {
    const creation = aCreation({
      id: idOf(number),
      model: modelOf(number),
      status: number % 2 === 0 ? 'queued' : 'processing',
    });
    await table.client.send(new PutCommand({ TableName: table.name, Item: creationToItem(creation) }));
  }
});

async function walk(query: CreationQuery): Promise<{ found: CreationId[]; sizes: number[] }> {
  const found: CreationId[] = [];
  const sizes: number[] = [];
  for (let before = query.before, isFirst = true; isFirst || before !== undefined; isFirst = false) {
    const page = await pageOfCreations(table, accountId, {
      ...query,
      ...(before !== undefined && { before }),
    });
    found.push(...page.creations.map(({ id }) => id));
    sizes.push(page.creations.length);
    before = page.next;
  }
  return { found, sizes };
}

describe('A page of an account with many creations', () => {
  it('A page of 100 is read in one call of 100 keys, the newest first', async () => {
    reads = [];
    const page = await pageOfCreations(table, accountId, { limit: 100 });
    expect(page.creations.map(({ id }) => id)).toEqual(
      Array.from({ length: 100 }, (_, index) => idOf(total - 1 - index)),
    );
    expect([page.next, reads]).toEqual([idOf(total - 100), [100]]);
  });
});

describe('A page of the creations that a filter wants', () => {
  it('Matching creations are found across several pages of the index', async () => {
    expect((await walk({ limit: 20, model: 'sandbox-pro' })).found).toEqual(rare);
    expect((await walk({ limit: 1, model: 'sandbox-pro' })).found).toEqual(rare);
    expect((await walk({ limit: 20, model: 'sandbox-pro', status: 'processing' })).found).toEqual([]);
    expect((await walk({ limit: 100, status: 'processing' })).found).toEqual(
      Array.from({ length: 601 }, (_, index) => idOf(1_201 - 2 * index)),
    );
  });

  it('A page reads at most 500 records and then names the next page, even if it is short', async () => {
    reads = [];
    queries = 0;
    const page = await pageOfCreations(table, accountId, { limit: 20, model: 'sandbox-pro' });
    expect([page.creations.map(({ id }) => id), page.next]).toEqual([rare.slice(0, 2), idOf(total - 500)]);
    expect([reads, queries]).toEqual([[100, 100, 100, 100, 100], 5]);
  });

  it('A full page stops reading', async () => {
    reads = [];
    const page = await pageOfCreations(table, accountId, { limit: 30, status: 'queued' });
    expect([page.creations.length, page.next, reads]).toEqual([30, page.creations.at(-1)?.id, [100]]);
  });

  it('A page without matches is empty, and names a next page only while there are records to read', async () => {
    const { found, sizes } = await walk({ limit: 20, model: 'no-such-model' });
    expect([found, sizes]).toEqual([[], [0, 0, 0]]);
  });
});
