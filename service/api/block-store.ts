/** Shows and lifts the blocks of addresses with too many rejected authentications. For the operator. */
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { getItem, send } from '../aws/dynamodb/send.ts';
import { keys, minuteOf, type Table } from '../aws/dynamodb/table.ts';
import { blockFromItem } from './request-store.ts';

export interface AddressStanding {
  readonly block?: { readonly untilMillis: number; readonly scope: 'all' | 'public' };
  /** The rejected authentications of this minute, by the status of the answer. */
  readonly rejected: Readonly<Record<'401' | '403', number>>;
}

const kinds = ['401', '403'] as const;

/** Both throw Overloaded when the table stayed busy. */
export function createBlockStore(table: Table) {
  return {
    /** @param address as clientAddress() gives it */
    read: async (address: string, nowMillis: number): Promise<AddressStanding> => {
      const [block, wrongKeys, inactive] = await Promise.all([
        getItem(table, keys.block(address)),
        ...kinds.map((kind) => getItem(table, keys.rejected(address, kind, minuteOf(nowMillis)))),
      ]);
      const stored = block && blockFromItem(block);
      return {
        ...(stored && stored.untilMillis > nowMillis && { block: stored }),
        rejected: { 401: Number(wrongKeys?.['count'] ?? 0), 403: Number(inactive?.['count'] ?? 0) },
      };
    },
    /** Removes the block and the counts of this minute, so that the next rejection does not block again. */
    lift: async (address: string, nowMillis: number) => {
      // The counts go first: a rejection between the deletions could otherwise block the address again.
      const counts = kinds.map((kind) => keys.rejected(address, kind, minuteOf(nowMillis)));
      for (const key of [...counts, keys.block(address)]) {
        await send(table, (options) =>
          table.client.send(new DeleteCommand({ TableName: table.name, Key: key }), options),
        );
      }
    },
  };
}
