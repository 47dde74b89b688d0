/** Where the items of before a restore are: in the old table, or in the folder that `darkroom serve` left. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  BatchGetItemCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type KeysAndAttributes,
} from '@aws-sdk/client-dynamodb';
import { itemsInCopy } from '../../local/copied-items.ts';
import { runningService } from '../../local/service-record.ts';
import { readMoment } from '../../service/values/time.ts';
import { itemsOf, patiently, pauseMillis } from '../move/busy-table.ts';
import { type RawItem, textOf } from '../move/items.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';

/** The most keys of BatchGetItem. */
const pageLength = 100;

export interface Items {
  readonly pages: () => AsyncIterable<readonly RawItem[]>;
  /** The items of these keys, by their names (keyName). */
  readonly get: (keys: readonly RawItem[]) => Promise<ReadonlyMap<string, RawItem>>;
}

export interface Restored {
  readonly old: Items;
  readonly restored: Items;
  /** The services on the restored table. */
  readonly services: OperatorServices;
  /** Unix milliseconds to which the table was restored. */
  readonly sinceMillis: number;
}

export interface RestoredOptions {
  readonly table?: string;
  readonly from?: string;
  readonly since?: string;
}

/** DynamoDB says from which table a table was restored, and to which moment. Throws OperatorError. */
export async function openRestored(services: OperatorServices, options: RestoredOptions): Promise<Restored> {
  const table = options.table ?? services.table.name;
  const on = { ...services, table: { ...services.table, name: table } };
  const { dynamo } = services.raw;
  const described = await patiently(services, () =>
    dynamo.send(new DescribeTableCommand({ TableName: table })),
  );
  const { SourceTableArn, RestoreDateTime } = described.Table?.RestoreSummary ?? {};
  const from = options.from ?? SourceTableArn;
  if (from === undefined)
    throw new OperatorError(
      `--from: ${table} was not restored by DynamoDB: name the old table, or the folder of the old service.`,
    );
  const sinceMillis = options.since === undefined ? RestoreDateTime?.getTime() : readMoment(options.since);
  if (sinceMillis === undefined)
    throw new OperatorError(
      '--since: name the moment of the backup as RFC 3339, such as 2026-11-21T09:00:00Z.',
    );
  const old = await itemsFrom(from, services);
  return { old, restored: itemsIn(on), services: on, sinceMillis };
}

async function itemsFrom(from: string, services: OperatorServices): Promise<Items> {
  if (existsSync(path.join(from, 'tables'))) {
    if (await runningService(from))
      throw new OperatorError(`--from: a service runs in ${from}: end it first.`);
    return itemsOfFolder((await itemsInCopy(from, services.table.name)) as unknown as RawItem[]);
  }
  const [, , , region, , resource] = from.split(':');
  const name = resource?.replace('table/', '') ?? from;
  const { dynamo } = services.raw;
  // The old table may be in another region.
  const isHere = region === undefined || region === (await dynamo.config.region());
  const client = isHere ? dynamo : new DynamoDBClient({ region, maxAttempts: 3 });
  return itemsIn({
    ...services,
    raw: { ...services.raw, dynamo: client },
    table: { ...services.table, name },
  });
}

function itemsOfFolder(items: readonly RawItem[]): Items {
  const byName = new Map(items.map((item) => [keyName(item), item]));
  return {
    pages: async function* () {
      for (let start = 0; start < items.length; start += pageLength)
        yield await Promise.resolve(items.slice(start, start + pageLength));
    },
    get: (keys) =>
      Promise.resolve(
        new Map(
          keys.flatMap((key) => {
            const item = byName.get(keyName(key));
            return item ? [[keyName(key), item] as const] : [];
          }),
        ),
      ),
  };
}

function itemsIn(services: OperatorServices): Items {
  return {
    pages: async function* () {
      const page: RawItem[] = [];
      for await (const item of itemsOf(services)) {
        page.push(item);
        if (page.length === pageLength) yield page.splice(0);
      }
      if (page.length > 0) yield page;
    },
    get: async (keys) => {
      const found = new Map<string, RawItem>();
      const unique = [...new Map(keys.map((key) => [keyName(key), keyOf(key)])).values()];
      for (let start = 0; start < unique.length; start += pageLength)
        for (const item of await getPage(services, unique.slice(start, start + pageLength)))
          found.set(keyName(item), item);
      return found;
    },
  };
}

async function getPage(services: OperatorServices, keys: RawItem[]): Promise<RawItem[]> {
  const { raw, table, clock } = services;
  const items: RawItem[] = [];
  let open: Record<string, KeysAndAttributes> = { [table.name]: { Keys: keys, ConsistentRead: true } };
  for (let attempt = 1; Object.keys(open).length > 0; attempt += 1) {
    if (attempt > 1) await clock.sleep(pauseMillis(attempt));
    const RequestItems = open;
    const answer = await patiently(services, () =>
      raw.dynamo.send(new BatchGetItemCommand({ RequestItems })),
    );
    items.push(...(answer.Responses?.[table.name] ?? []));
    open = answer.UnprocessedKeys ?? {};
  }
  return items;
}

export function keyOf(item: RawItem): RawItem {
  return { pk: { S: textOf(item, 'pk') }, sk: { S: textOf(item, 'sk') } };
}

export function keyName(item: RawItem): string {
  return `${textOf(item, 'pk')}\n${textOf(item, 'sk')}`;
}
