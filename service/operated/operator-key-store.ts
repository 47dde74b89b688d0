/** Operator keys, their counters, and what a request of one reads first. */
import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { putNew, updateIf } from '../aws/dynamodb/conditional.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import { getItem } from '../aws/dynamodb/send.ts';
import {
  type Item,
  type ItemKey,
  keys,
  listingIndex,
  minuteOf,
  type Table,
  ttlAttribute,
} from '../aws/dynamodb/table.ts';
import type { TransactItem } from '../aws/dynamodb/transaction.ts';
import { type Block, blockFromItem } from '../api/request-store.ts';
import { rateWindowSeconds } from '../contract/limits.ts';
import { asMicros, type Micros } from '../values/money.ts';
import { dayOf } from '../values/time.ts';
import type { OperatorKey } from './operator-key.ts';

const partition = (id: string): string => `OPERATOR_KEY#${id}`;
const keyOf = (id: string): ItemKey => ({ pk: partition(id), sk: 'OPERATOR_KEY' });
const rateKey = (id: string, rate: 'get' | 'post', nowMillis: number): ItemKey => ({
  pk: partition(id),
  sk: `RATE#${rate.toUpperCase()}#${minuteOf(nowMillis)}`,
});
const rememberedKey = (id: string, hash: string): ItemKey => ({
  pk: partition(id),
  sk: `IDEMPOTENCY#${hash}`,
});
const dayAttribute = (day: string): string => `credited_${day}`;

/** What an Idempotency-Key has made. */
export interface Remembered {
  readonly requestHash: string;
  /** Names what the request made. The operation shows it in its current state. */
  readonly made: string;
  readonly status: number;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

export interface OperatorState {
  readonly block?: Block;
  readonly key?: OperatorKey;
  readonly rateCount: number;
  readonly remembered?: Remembered;
}

export interface OperatorQuestion {
  readonly clientAddress: string;
  readonly keyId: string | undefined;
  readonly rate: 'get' | 'post';
  readonly idempotencyHash: string | undefined;
  readonly nowMillis: number;
}

/** A new value for each limit that changes. null removes the limit. */
export type OperatorKeyChange = {
  readonly [Name in 'scopes' | 'expiresAt' | 'from' | 'dailyCreditCapMicros' | 'postRate' | 'getRate']?:
    | OperatorKey[Name]
    | null;
};

const remembersMillis = 86_400_000;

export function createOperatorKeyStore(table: Table) {
  return {
    /** False when the id is taken. */
    create: ({ creditedByDay: _, ...key }: OperatorKey): Promise<boolean> =>
      putNew(table, {
        ...keyOf(key.id),
        ...key,
        [listingIndex.partition]: 'OPERATOR_KEYS',
        [listingIndex.sort]: `${key.createdAt}#${key.id}`,
      }),
    read: async (id: string): Promise<OperatorKey | undefined> => {
      const item = await getItem(table, keyOf(id));
      return item && operatorKeyFromItem(item);
    },
    /** The oldest first. */
    list: async (): Promise<OperatorKey[]> => {
      const rows: Item[] = [];
      const query = {
        IndexName: listingIndex.name,
        KeyConditionExpression: `${listingIndex.partition} = :keys`,
        ExpressionAttributeValues: { ':keys': 'OPERATOR_KEYS' },
      };
      for await (const { Items = [] } of queryPages(table, query)) rows.push(...Items);
      const found = await batchGet(
        table,
        rows.map((row) => ({ pk: String(row['pk']), sk: String(row['sk']) })),
      );
      return found.map(operatorKeyFromItem).sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
    },
    /** False when there is no such key. */
    change: (id: string, change: OperatorKeyChange): Promise<boolean> => {
      const set = Object.entries(change).filter(([, value]) => value !== null);
      const removed = Object.entries(change).filter(([, value]) => value === null);
      return updateIf(table, keyOf(id), {
        UpdateExpression: [
          ...(set.length > 0 ? [`SET ${set.map(([name]) => `#${name} = :${name}`).join(', ')}`] : []),
          ...(removed.length > 0 ? [`REMOVE ${removed.map(([name]) => `#${name}`).join(', ')}`] : []),
        ].join(' '),
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeNames: Object.fromEntries(Object.keys(change).map((name) => [`#${name}`, name])),
        ...(set.length > 0 && {
          ExpressionAttributeValues: Object.fromEntries(set.map(([name, value]) => [`:${name}`, value])),
        }),
      });
    },
    /** False when there is no such key. A second revocation keeps the time of the first one. */
    revoke: (id: string, at: string): Promise<boolean> =>
      updateIf(table, keyOf(id), {
        UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :at)',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':at': at },
      }),
    /** One consistent BatchGetItem: a revoked key is dead at once. */
    question: (question: OperatorQuestion): Promise<OperatorState> => readState(table, question),
    /** Counts one request. False when the limit of the window is used up. */
    countRequest: (id: string, rate: 'get' | 'post', limit: number, nowMillis: number): Promise<boolean> =>
      updateIf(table, rateKey(id, rate, nowMillis), {
        UpdateExpression: 'ADD #count :one SET #ttl = :ttl',
        ConditionExpression: 'attribute_not_exists(#count) OR #count < :limit',
        ExpressionAttributeNames: { '#count': 'count', '#ttl': ttlAttribute },
        ExpressionAttributeValues: {
          ':one': 1,
          ':limit': limit,
          ':ttl': Math.floor(nowMillis / 1000) + 2 * rateWindowSeconds,
        },
      }),
    noteUse: async (id: string, hour: string): Promise<void> => {
      await updateIf(table, keyOf(id), {
        UpdateExpression: 'SET lastUsedAt = :hour',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':hour': hour },
      });
    },
    /** The Idempotency-Key of a request that makes something, for the transaction that makes it. */
    remembers: (
      id: string,
      hash: string,
      record: Omit<Remembered, 'expiresAt'>,
      nowMillis: number,
    ): TransactItem => ({
      Put: {
        TableName: table.name,
        Item: {
          ...rememberedKey(id, hash),
          ...record,
          expiresAt: nowMillis + remembersMillis,
          [ttlAttribute]: Math.ceil((nowMillis + remembersMillis) / 1000),
        },
        ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now',
        ExpressionAttributeValues: { ':now': nowMillis },
      },
    }),
    remembered: async (id: string, hash: string): Promise<Remembered | undefined> => {
      const item = await getItem(table, rememberedKey(id, hash));
      return item && rememberedFrom(item);
    },
    /**
     * Counts a credit of the key on its day. The condition holds the cap exactly, and no revoked key credits.
     */
    credits: (
      { id, dailyCreditCapMicros: cap, creditedByDay }: OperatorKey,
      amount: Micros,
      nowMillis: number,
    ): TransactItem => {
      const day = dayOf(nowMillis);
      const old = Object.keys(creditedByDay).filter((one) => one < dayOf(nowMillis - 2 * 86_400_000));
      const conditions = [
        'attribute_exists(pk)',
        'attribute_not_exists(revokedAt)',
        ...(cap === undefined
          ? ['attribute_not_exists(dailyCreditCapMicros)']
          : [
              'dailyCreditCapMicros = :cap',
              // An amount above the cap fits on no day.
              amount <= cap ? '(attribute_not_exists(#day) OR #day <= :room)' : '#day <= :room',
            ]),
      ];
      return {
        Update: {
          TableName: table.name,
          Key: keyOf(id),
          UpdateExpression: `ADD #day :amount${old.length > 0 ? ` REMOVE ${old.map((_, index) => `#old${index}`).join(', ')}` : ''}`,
          ConditionExpression: conditions.join(' AND '),
          ExpressionAttributeNames: {
            '#day': dayAttribute(day),
            ...Object.fromEntries(old.map((one, index) => [`#old${index}`, dayAttribute(one)])),
          },
          ExpressionAttributeValues: {
            ':amount': amount,
            ...(cap !== undefined && { ':cap': cap, ':room': cap - amount }),
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      };
    },
  };
}

function operatorKeyFromItem(item: Item): OperatorKey {
  const days = Object.entries(item).flatMap(([name, value]): [string, Micros][] =>
    name.startsWith(dayAttribute('')) ? [[name.slice(dayAttribute('').length), asMicros(Number(value))]] : [],
  );
  const known = Object.entries(item).filter(
    ([name]) =>
      !name.startsWith(dayAttribute('')) &&
      !['pk', 'sk', listingIndex.partition, listingIndex.sort].includes(name),
  );
  return { ...Object.fromEntries(known), creditedByDay: Object.fromEntries(days) } as unknown as OperatorKey;
}

function rememberedFrom(item: Item): Remembered {
  return {
    requestHash: String(item['requestHash']),
    made: String(item['made']),
    status: Number(item['status']),
    expiresAt: Number(item['expiresAt']),
  };
}

async function readState(table: Table, question: OperatorQuestion): Promise<OperatorState> {
  const { keyId, nowMillis, idempotencyHash } = question;
  const wanted = {
    block: keys.block(question.clientAddress),
    ...(keyId !== undefined && { key: keyOf(keyId), rate: rateKey(keyId, question.rate, nowMillis) }),
    ...(keyId !== undefined &&
      idempotencyHash !== undefined && { remembered: rememberedKey(keyId, idempotencyHash) }),
  };
  const items = await batchGet(table, Object.values(wanted));
  const found = (key: ItemKey | undefined): Item | undefined =>
    key && items.find(({ pk, sk }) => pk === key.pk && sk === key.sk);
  const block = found(wanted.block);
  const stored = block && blockFromItem(block);
  const key = found(wanted.key);
  const remembered = found(wanted.remembered);
  const live = remembered && rememberedFrom(remembered);
  return {
    ...(stored && stored.untilMillis > nowMillis && { block: stored }),
    ...(key && { key: operatorKeyFromItem(key) }),
    rateCount: Number(found(wanted.rate)?.['count'] ?? 0),
    ...(live && live.expiresAt > nowMillis && { remembered: live }),
  };
}
