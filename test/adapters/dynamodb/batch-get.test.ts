/** Keys that DynamoDB leaves unprocessed are asked for again and never treated as absent. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { batchGet } from '../../../adapters/dynamodb/batch-get.ts';
import { fakeClock, stub } from '../../functions/fakes.ts';

const key = (sk: string): { pk: string; sk: string } => ({ pk: 'A', sk });

/**
 * A table that processes only the given number of keys of each read. The last number holds for all further
 * reads.
 */
function reading(processed: readonly number[]) {
  const clock = fakeClock();
  const asked: string[][] = [];
  const client = stub<DynamoDBDocumentClient>({
    send: (command: { input: { RequestItems: { table: { Keys: { pk: string; sk: string }[] } } } }) => {
      const keys = command.input.RequestItems.table.Keys;
      const count = processed[Math.min(asked.length, processed.length - 1)] ?? 0;
      asked.push(keys.map(({ sk }) => sk));
      const left = keys.slice(count);
      return Promise.resolve({
        Responses: { table: keys.slice(0, count) },
        UnprocessedKeys: left.length > 0 ? { table: { Keys: left } } : {},
      });
    },
  });
  return {
    clock,
    asked,
    table: { client, name: 'table', clock, randomBytes: (count: number) => new Uint8Array(count).fill(128) },
  };
}

describe('A read of several keys', () => {
  it('The read asks again for exactly the unprocessed keys, after a pause', async () => {
    const { table, asked, clock } = reading([2, 1, 5]);
    expect(await batchGet(table, ['1', '2', '3', '4'].map(key))).toEqual(['1', '2', '3', '4'].map(key));
    expect(asked).toEqual([['1', '2', '3', '4'], ['3', '4'], ['4']]);
    expect(clock.sleeps).toHaveLength(2);
    for (const pause of clock.sleeps) expect(pause).toBeGreaterThan(0);
  });

  it('The read is overloaded when keys stay unprocessed, after growing pauses', async () => {
    const { table, asked, clock } = reading([0]);
    await expect(batchGet(table, [key('1')])).rejects.toMatchObject({ name: 'Overloaded' });
    expect(asked.length).toBeGreaterThanOrEqual(3);
    expect(asked.length).toBeLessThanOrEqual(10);
    for (const [index, pause] of clock.sleeps.slice(1).entries())
      expect(pause).toBeGreaterThan(clock.sleeps[index] ?? Infinity);
  });
});
