import { updateIf } from '../aws/dynamodb/conditional.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import { queryPage, type QueryParts, updateItem } from '../aws/dynamodb/send.ts';
import { type Item, keyOf, keys, openShards, openWorkIndex, type Table } from '../aws/dynamodb/table.ts';
import { startGraceMillis } from '../contract/limits.ts';
import { type CreationId, type NoticeId, parseCreationId, parseNoticeId } from '../values/ids.ts';
import type { OpenWork } from './executions.ts';
import { readSum } from './service-state-store.ts';

/** The creations of a page. Two BatchGetItems read as many with their leases. */
const pageSize = 100;
const indexLagMillis = 1_000;

const isFreeToHold = 'attribute_not_exists(startsHeld) OR startsHeld.#until <= :now';

export function createOpenWorkStore(table: Table) {
  return {
    /** Creations and notices that are due: lists of pages by shard, the most overdue first. */
    overdue: (nowMillis: number): readonly AsyncIterable<readonly (CreationId | NoticeId)[]>[] =>
      [...openShards('OPEN'), ...openShards('WEBHOOK')].map((shard) => overdueIn(table, shard, nowMillis)),
    /** Sets the time of the next check; undefined removes it. False when the creation changed meanwhile. */
    postpone: (creation: OpenWork, dueAt: number | undefined): Promise<boolean> =>
      dueAt === undefined
        ? updateDue(table, creation, 'REMOVE dueAt, openShard', {})
        : updateDue(table, creation, 'SET dueAt = :due', { ':due': dueAt }),
    /** Notes the start of the nth execution and the next check. False when the creation has changed. */
    noteStart: (creation: OpenWork, dueAt: number, execution: number): Promise<boolean> =>
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
    /** How many of the creations accepted in a span are open and unpostponed: the rate of usual starts. */
    acceptedLately: async (nowMillis: number, spanMillis: number): Promise<number> => {
      // A creation that no execution has written to is due a grace period after it was accepted.
      const to = nowMillis - indexLagMillis + startGraceMillis;
      return countAll(table, (shard) => dueBetween(shard, to - spanMillis, to));
    },
    /** Takes the right to start executions, `untilMillis` at most. False when another run has it. */
    holdStarts: async (holder: string, untilMillis: number, nowMillis: number): Promise<boolean> =>
      updateIf(table, keys.service(), {
        UpdateExpression: 'SET startsHeld = :held',
        ConditionExpression: isFreeToHold,
        ExpressionAttributeNames: { '#until': 'until' },
        ExpressionAttributeValues: { ':held': { holder, until: untilMillis }, ':now': nowMillis },
      }),
    releaseStarts: async (holder: string) => {
      await updateIf(table, keys.service(), {
        UpdateExpression: 'REMOVE startsHeld',
        ConditionExpression: 'startsHeld.holder = :holder',
        ExpressionAttributeValues: { ':holder': holder },
      });
    },
    /** Counts the open creations, and writes the count with the sum of the counters that goes with it. */
    recordOpenCount: (): Promise<number> => recordOpenCount(table),
  };
}

/** A count takes seconds, so its sum is the mean of the sums of the counters before and after it. */
async function recordOpenCount(table: Table): Promise<number> {
  const before = await readSum(table);
  const counted = await countAll(table, partOf);
  const after = await readSum(table);
  await updateItem(table, keys.service(), {
    UpdateExpression: 'SET openCreations = :open, openSum = :sum',
    ExpressionAttributeValues: { ':open': counted, ':sum': (before + after) / 2 },
  });
  return counted;
}

function partOf(shard: string): QueryParts {
  return {
    IndexName: openWorkIndex.name,
    KeyConditionExpression: `${openWorkIndex.partition} = :shard`,
    ExpressionAttributeValues: { ':shard': shard },
  };
}

/** The rows of a shard that are due from `from` up to, but not including, `to`. */
function dueBetween(shard: string, from: number, to: number): QueryParts {
  return { ...partOf(shard), range: { sort: openWorkIndex.sort, from, to: to - 1 } };
}

/** The creations and notices of a shard that are due: pages, the most overdue first. */
export async function* overdueIn(
  table: Table,
  shard: string,
  nowMillis: number,
): AsyncGenerator<readonly (CreationId | NoticeId)[]> {
  const base = partOf(shard);
  let from: Item | undefined;
  do {
    const page = await queryPage(table, {
      ...base,
      KeyConditionExpression: `${base.KeyConditionExpression ?? ''} AND ${openWorkIndex.sort} <= :now`,
      ExpressionAttributeValues: { ...base.ExpressionAttributeValues, ':now': nowMillis },
      Limit: pageSize,
      ...(from && { ExclusiveStartKey: from }),
    });
    yield (page.Items ?? []).flatMap((item: Item) => {
      const id = idIn(String(item['pk']));
      return id ? [id] : [];
    });
    from = page.LastEvaluatedKey;
  } while (from);
}

function idIn(pk: string): CreationId | NoticeId | undefined {
  const [kind, id = ''] = pk.split('#');
  return kind === 'NOTICE' ? parseNoticeId(id) : parseCreationId(id);
}

async function countAll(table: Table, partOfShard: (shard: string) => QueryParts): Promise<number> {
  const counts = await Promise.all(
    openShards('OPEN').map(async (shard) => {
      let count = 0;
      for await (const page of queryPages(table, { ...partOfShard(shard), Select: 'COUNT' }))
        count += page.Count ?? 0;
      return count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** What waits for the second pass of its erasure is not the reconciler's: to it, a settled creation has no work. */
const isNotErased = 'attribute_not_exists(erasedBy)';

/** The condition is the due time that was read, so that only one of two reconcilers acts. */
async function updateDue(
  table: Table,
  { id, dueAt }: OpenWork,
  update: string,
  values: Item,
): Promise<boolean> {
  return updateIf(table, keyOf(id), {
    UpdateExpression: update,
    ConditionExpression: `dueAt = :read AND ${isNotErased}`,
    ExpressionAttributeValues: { ':read': dueAt, ...values },
  });
}

export type OpenWorkStore = ReturnType<typeof createOpenWorkStore>;
