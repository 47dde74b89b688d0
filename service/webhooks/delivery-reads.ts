/** Reads the delivery log. The id of a delivery holds its time, and the key of its row begins with that time. */
import { getItem, queryPage, type QueryParts } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, type Table } from '../aws/dynamodb/table.ts';
import type { CreationRecord } from '../creations/creation.ts';
import { type AccountId, type CreationId, type EndpointId, timeOfUuidV7 } from '../values/ids.ts';
import { deliveryFromItem } from './delivery-store.ts';
import type { Delivery, DeliveryOutcome } from './delivery.ts';

/** Maximum number of pages that one call reads. A page has 1 MB, about two thousand rows. */
const mostPages = 4;
/** Five attempts with their waits take less than this. */
const roundMillis = 20 * 60_000;

export function createDeliveryReads(table: Table) {
  return {
    page: (account: AccountId, query: DeliveryQuery): Promise<DeliveryPage> => pageOf(table, account, query),
    find: async (account: AccountId, id: string): Promise<Delivery | undefined> => {
      const key = keyOfDelivery(account, id);
      const item = key && (await getItem(table, key));
      return item && deliveryFromItem(item);
    },
    /** The attempts of a creation, the oldest first: those after its end, and those of its last round. */
    ofCreation: (creation: CreationRecord): Promise<readonly Delivery[]> => ofCreation(table, creation),
    /** The attempts since this time, the newest first. Of a very long log, only the newest thousands. */
    since: async (account: AccountId, sinceMillis: number): Promise<readonly Delivery[]> => {
      const { items } = await read(table, newest(account, { from: new Date(sinceMillis).toISOString() }));
      return items.map(deliveryFromItem);
    },
  };
}

function keyOfDelivery(account: AccountId, id: string): ItemKey | undefined {
  const startedAt = timeOfUuidV7(id);
  return startedAt === undefined ? undefined : keys.delivery(account, new Date(startedAt).toISOString(), id);
}

interface Times {
  readonly from?: string;
  readonly to?: string;
}

function newest(account: AccountId, { from = '', to = '~' }: Times): QueryParts {
  return {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': keys.account(account).pk },
    range: { sort: 'sk', from: `DELIVERY#${from}`, to: `DELIVERY#${to}` },
    ScanIndexForward: false,
  };
}

interface Read {
  readonly items: readonly Item[];
  /** The key after which more follow. */
  readonly next?: Item;
}

/** Reads until there are `enough` items, or nothing is left, or the call has read its share. */
async function read(table: Table, parts: QueryParts, after?: ItemKey, enough = Infinity): Promise<Read> {
  const items: Item[] = [];
  let next: Item | undefined = after;
  for (let page = 0; page < mostPages && items.length < enough; page += 1) {
    const found = await queryPage(table, { ...parts, ...(next && { ExclusiveStartKey: next }) });
    items.push(...(found.Items ?? []));
    next = found.LastEvaluatedKey;
    if (!next) return { items };
  }
  return { items, ...(next && { next }) };
}

async function pageOf(table: Table, account: AccountId, query: DeliveryQuery): Promise<DeliveryPage> {
  const { limit, after, outcome, creationId, endpointId } = query;
  const filters = [
    ...(outcome === undefined
      ? []
      : [outcome === 'unknown' ? 'attribute_not_exists(outcome)' : 'outcome = :outcome']),
    ...(creationId === undefined ? [] : ['creationId = :creation']),
    ...(endpointId === undefined ? [] : ['endpointId = :endpoint']),
  ];
  const parts = newest(account, {});
  const { items, next } = await read(
    table,
    {
      ...parts,
      ...(filters.length > 0 ? { FilterExpression: filters.join(' AND ') } : { Limit: limit + 1 }),
      ExpressionAttributeValues: {
        ...parts.ExpressionAttributeValues,
        ...(outcome !== undefined && outcome !== 'unknown' && { ':outcome': outcome }),
        ...(creationId !== undefined && { ':creation': creationId }),
        ...(endpointId !== undefined && { ':endpoint': endpointId }),
      },
    },
    after === undefined ? undefined : keyOfDelivery(account, after),
    limit + 1,
  );
  const deliveries = items.slice(0, limit).map(deliveryFromItem);
  const last = items.length > limit ? deliveries.at(-1)?.id : idOf(next);
  return { deliveries, ...(last !== undefined && { next: last }) };
}

function idOf(key: Item | undefined): string | undefined {
  return key && String(key['sk']).split('#')[2];
}

async function ofCreation(table: Table, creation: CreationRecord): Promise<readonly Delivery[]> {
  const { id, accountId, completedAt, webhook } = creation;
  if (completedAt === undefined || webhook === undefined || webhook.claimedBy === undefined) return [];
  const first = Date.parse(completedAt);
  const last = timeOfUuidV7(webhook.claimedBy) ?? first;
  const rounds = last <= first + roundMillis ? [first] : [first, last - roundMillis];
  const found = await Promise.all(
    rounds.map(async (from) => {
      const parts = newest(accountId, {
        from: new Date(from).toISOString(),
        to: `${new Date(from + roundMillis).toISOString()}~`,
      });
      const { items } = await read(table, {
        ...parts,
        FilterExpression: 'creationId = :creation',
        ExpressionAttributeValues: { ...parts.ExpressionAttributeValues, ':creation': id },
      });
      return items.map(deliveryFromItem);
    }),
  );
  const byId = new Map(found.flat().map((delivery) => [delivery.id, delivery]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

interface DeliveryQuery {
  readonly limit: number;
  readonly after?: string;
  readonly outcome?: DeliveryOutcome;
  readonly creationId?: CreationId;
  readonly endpointId?: EndpointId;
}

interface DeliveryPage {
  /** The newest first. */
  readonly deliveries: readonly Delivery[];
  /** The id after which the next page begins. With a filter, a page may be short and not the last. */
  readonly next?: string;
}
