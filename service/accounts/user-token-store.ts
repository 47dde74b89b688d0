import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { putNew, updateIf } from '../aws/dynamodb/conditional.ts';
import { keys, type Table } from '../aws/dynamodb/table.ts';
import type { AccountId, TokenId } from '../values/ids.ts';
import { userTokenFromItem, userTokenToItem } from './user-token-items.ts';
import type { UserToken } from './user-token.ts';

/** Every function throws Overloaded when the table stayed busy. */
export function createUserTokens(table: Table) {
  return {
    /** False when another token has the id. */
    create: (token: UserToken): Promise<boolean> => putNew(table, userTokenToItem(token)),
    read: async (account: AccountId, id: TokenId): Promise<UserToken | undefined> => {
      const [item] = await batchGet(table, [keys.userToken(account, id)]);
      return item && userTokenFromItem(item);
    },
    /** False when there is no such token. A second revocation keeps the time of the first one. */
    revoke: (account: AccountId, id: TokenId, at: string): Promise<boolean> =>
      updateIf(table, keys.userToken(account, id), {
        UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :at)',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':at': at },
      }),
  };
}
