import type { CreationRecord } from '../../core/creation.ts';
import { parseCreationId, type CreationId } from '../../core/ids.ts';
import type { OpenWorkStore } from '../../core/ports/executions.ts';
import { updateIf } from './conditional.ts';
import { queryPages } from './query.ts';
import { queryPage, updateItem, type QueryParts } from './send.ts';
import { keys, openShards, openWorkIndex, type Item, type Table } from './table.ts';

/** The most creations of a shard that one run of the reconciler takes. The next run takes the others. */
const pageSize = 100;

/** The index of creations that still need work, for the reconciler. */
export function createOpenWorkStore(table: Table): OpenWorkStore {
  return {
    overdue: async (nowMillis) => {
      const pages = await Promise.all(
        [...openShards('OPEN'), ...openShards('WEBHOOK')].map((shard) => overdueIn(table, shard, nowMillis)),
      );
      return pages
        .flat()
        .sort((a, b) => a.dueAt - b.dueAt)
        .map((row) => row.id);
    },
    postpone: (creation, dueAt) =>
      dueAt === undefined
        ? updateDue(table, creation, 'REMOVE dueAt, openShard', {})
        : updateDue(table, creation, 'SET dueAt = :due', { ':due': dueAt }),
    noteStart: (creation, dueAt, execution) =>
      updateDue(
        table,
        creation,
        'SET dueAt = :due, executions = :execution, recoveries = recoveries + :one',
        {
          ':due': dueAt,
          ':execution': execution,
          ':one': 1,
        },
      ),
    recordOpenCount: async () => {
      const counts = await Promise.all(openShards('OPEN').map((shard) => countIn(table, shard)));
      const openCreations = counts.reduce((sum, count) => sum + count, 0);
      await updateItem(table, keys.service(), {
        UpdateExpression: 'SET openCreations = :open',
        ExpressionAttributeValues: { ':open': openCreations },
      });
      return openCreations;
    },
  };
}

function partOf(shard: string): QueryParts {
  return {
    IndexName: openWorkIndex.name,
    KeyConditionExpression: `${openWorkIndex.partition} = :shard`,
    ExpressionAttributeValues: { ':shard': shard },
  };
}

async function overdueIn(
  table: Table,
  shard: string,
  nowMillis: number,
): Promise<{ id: CreationId; dueAt: number }[]> {
  const base = partOf(shard);
  const answer = await queryPage(table, {
    ...base,
    KeyConditionExpression: `${base.KeyConditionExpression ?? ''} AND ${openWorkIndex.sort} <= :now`,
    ExpressionAttributeValues: { ...base.ExpressionAttributeValues, ':now': nowMillis },
    Limit: pageSize,
  });
  return (answer.Items ?? []).flatMap((item: Item) => {
    const id = parseCreationId(String(item['pk']).slice('CREATION#'.length));
    return id ? [{ id, dueAt: Number(item['dueAt']) }] : [];
  });
}

async function countIn(table: Table, shard: string): Promise<number> {
  let count = 0;
  for await (const page of queryPages(table, { ...partOf(shard), Select: 'COUNT' })) count += page.Count ?? 0;
  return count;
}

/** The condition is the due time that was read, so that only one of two reconcilers acts. */
async function updateDue(
  table: Table,
  creation: CreationRecord,
  update: string,
  values: Item,
): Promise<boolean> {
  return updateIf(table, keys.creation(creation.id), {
    UpdateExpression: update,
    ConditionExpression: 'dueAt = :read',
    ExpressionAttributeValues: { ':read': creation.dueAt, ...values },
  });
}
