/** The names and the keys of the table, stated literally, because existing tables hold them. */

import { describe, expect, it } from 'vitest';
import {
  keys,
  listingIndex,
  minuteOf,
  openShard,
  openShards,
  openWorkIndex,
  ttlAttribute,
} from '../../../service/aws/dynamodb/table.ts';
import type { CreationId } from '../../../service/values/ids.ts';
import { accountId, creationId, keyId } from '../../fixtures/records.ts';

describe('The keys of the table', () => {
  it('Each item has one of these keys', () => {
    const account = `ACCOUNT#${accountId}`;
    expect([
      keys.account(accountId),
      keys.apiKey(accountId, keyId),
      keys.rate(accountId, 'get', 7),
      keys.rate(accountId, 'post', 7),
      keys.idempotency(accountId, 'hash'),
      keys.ledger(accountId, 'time', 'kind', 'id'),
      keys.reference(accountId, 'order'),
      keys.testDelivery(accountId),
      keys.delivery(accountId, 'time', 'id'),
      keys.creation(creationId),
      keys.lease(creationId),
      keys.poll(creationId),
      keys.block('203.0.113.7'),
      keys.rejected('203.0.113.7', '401', 7),
      keys.service(),
    ]).toEqual([
      { pk: account, sk: 'ACCOUNT' },
      { pk: account, sk: 'KEY#Key001' },
      { pk: account, sk: 'RATE#GET#7' },
      { pk: account, sk: 'RATE#POST#7' },
      { pk: account, sk: 'IDEMPOTENCY#hash' },
      { pk: account, sk: 'LEDGER#time#kind#id' },
      { pk: account, sk: 'REFERENCE#order' },
      { pk: account, sk: 'TEST_DELIVERY' },
      { pk: account, sk: 'DELIVERY#time#id' },
      { pk: `CREATION#${creationId}`, sk: 'CREATION' },
      { pk: `CREATION#${creationId}`, sk: 'LEASE' },
      { pk: `CREATION#${creationId}`, sk: 'POLL' },
      { pk: 'IP#203.0.113.7', sk: 'BLOCK' },
      { pk: 'IP#203.0.113.7', sk: 'REJECTED#401#7' },
      { pk: 'SERVICE', sk: 'SERVICE' },
    ]);
  });
});

describe('The indexes of the table', () => {
  it('The indexes have these names and attributes, and expiresAtSeconds is the expiry of an item', () => {
    expect([openWorkIndex, listingIndex, ttlAttribute]).toEqual([
      { name: 'open_work', partition: 'openShard', sort: 'dueAt' },
      { name: 'listing', partition: 'listing', sort: 'listed' },
      'expiresAtSeconds',
    ]);
  });

  it('Each kind of open work has four shards', () => {
    expect([openShards('OPEN'), openShards('WEBHOOK')]).toEqual([
      ['OPEN#0', 'OPEN#1', 'OPEN#2', 'OPEN#3'],
      ['WEBHOOK#0', 'WEBHOOK#1', 'WEBHOOK#2', 'WEBHOOK#3'],
    ]);
  });

  it('The last digit of a creation’s id chooses its shard', () => {
    const shardOf = (digit: string): string =>
      openShard('OPEN', `019aa5a0-1000-7000-8000-00000000000${digit}` as CreationId);
    const digits = Array.from({ length: 16 }, (_, digit) => digit.toString(16));
    expect(digits.map(shardOf)).toEqual(
      [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3].map((shard) => `OPEN#${shard}`),
    );
  });
});

describe('The minute of a time', () => {
  it.each([
    [0, 0],
    [59_999, 0],
    [60_000, 1],
    [119_999, 1],
    [120_000, 2],
  ])('The minute of %i milliseconds since the epoch is %i', (millis, minute) => {
    expect(minuteOf(millis)).toBe(minute);
  });
});
