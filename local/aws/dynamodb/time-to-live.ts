import * as z from 'zod';
import type { AwsCall, AwsOutput } from '../aws-call.ts';
import { parseInput } from '../call-input.ts';
import { checkInput, engine, readItem, readTable, runAction } from './dynalite.ts';
import type { AttributeMap, Store } from './dynalite.ts';
import { tokenLifetimeMillis, tokenPrefix, tokenRecordSchema } from './transactions.ts';
import { bufferWrites, readingStore } from './write-buffer.ts';
import type { Mutex } from '../mutex.ts';

const ttlPrefix = 'ttl~';

const specificationSchema = z.object({ AttributeName: z.string().min(1), Enabled: z.boolean() });
const updateInput = z.object({ TableName: z.string(), TimeToLiveSpecification: specificationSchema });
const describeInput = z.object({ TableName: z.string() });

/** UpdateTimeToLive. The setting is stored beside the tables. */
export async function updateTimeToLive(store: Store, call: AwsCall): Promise<AwsOutput> {
  const { TableName, TimeToLiveSpecification } = parseInput(updateInput, call);
  await readTable(store, TableName);
  await store.db.batch([{ type: 'put', key: ttlPrefix + TableName, value: TimeToLiveSpecification }]);
  return { TimeToLiveSpecification };
}

/** DescribeTimeToLive. */
export async function describeTimeToLive(store: Store, call: AwsCall): Promise<AwsOutput> {
  const { TableName } = parseInput(describeInput, call);
  await readTable(store, TableName);
  const set = specificationSchema.optional().parse(await store.db.get(ttlPrefix + TableName));
  const enabled = set?.Enabled === true;
  return {
    TimeToLiveDescription: enabled
      ? { TimeToLiveStatus: 'ENABLED', AttributeName: set.AttributeName }
      : { TimeToLiveStatus: 'DISABLED' },
  };
}

/**
 * Deletes the items whose time is over, and the request tokens that can no longer be replayed. Resolves with
 * the number of deleted items.
 */
export async function expireItems(store: Store, exclusive: Mutex, nowMillis: number): Promise<number> {
  let deleted = 0;
  for await (const [key, value] of store.db.iterator(prefixRange(ttlPrefix))) {
    const { AttributeName, Enabled } = specificationSchema.parse(value);
    if (Enabled)
      deleted += await expireTable(store, exclusive, key.slice(ttlPrefix.length), AttributeName, nowMillis);
  }
  for await (const [key, value] of store.db.iterator(prefixRange(tokenPrefix))) {
    if (tokenRecordSchema.parse(value).atMs <= nowMillis - tokenLifetimeMillis)
      await exclusive(() => store.db.batch([{ type: 'del', key }]));
  }
  return deleted;
}

async function expireTable(
  store: Store,
  exclusive: Mutex,
  name: string,
  attribute: string,
  nowMillis: number,
): Promise<number> {
  const table = await readTable(store, name);
  const isOver = (item: AttributeMap | undefined): boolean => {
    const seconds = item?.[attribute]?.N;
    return typeof seconds === 'string' && Number(seconds) * 1000 <= nowMillis;
  };
  let deleted = 0;
  const items: AsyncIterable<AttributeMap> = readingStore(store).getItemDb(name).createValueStream({});
  for await (const item of items) {
    if (!isOver(item)) continue;
    deleted += await exclusive(async () => {
      // Read the item again under the lock, because a later write may have given it more time.
      const Key = Object.fromEntries(
        table.KeySchema.map(({ AttributeName }) => [AttributeName, item[AttributeName] ?? {}]),
      );
      if (!isOver(await readItem(store, name, engine.createKey(Key, table)))) return 0;
      const buffer = bufferWrites(store);
      await runAction(buffer.store, 'DeleteItem', checkInput(store, 'DeleteItem', { TableName: name, Key }));
      await buffer.commit();
      return 1;
    });
  }
  return deleted;
}

function prefixRange(prefix: string): { gte: string; lt: string } {
  return { gte: prefix, lt: `${prefix}\uffff` };
}
