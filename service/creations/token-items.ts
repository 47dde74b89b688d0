/** The token of an end user in a charge and in a refund. */
import { isTokenGivenBack, tokenEnd, type UserToken } from '../accounts/user-token.ts';
import { userTokenFromItem } from '../accounts/user-token-items.ts';
import { type Item, keys, type Table } from '../aws/dynamodb/table.ts';
import type { TransactItem } from '../aws/dynamodb/transaction.ts';
import type { Micros } from '../values/money.ts';
import type { CreationRecord } from './creation.ts';

export type TokenRefusal =
  | { readonly kind: 'token_ended'; readonly how: 'expired' | 'revoked' }
  /** Its limit or its uses do not cover the creations any more. */
  | { readonly kind: 'token_used_up'; readonly token: UserToken };

export interface TokenCharge {
  readonly cost: Micros;
  readonly count: number;
  readonly nowMillis: number;
}

const works = 'attribute_not_exists(revokedAt) AND expiresAt > :at';
const coversTheCost = 'leftMicros >= :cost AND usesLeft >= :uses';

/** The token: works, and its limit and its uses cover the creations. */
export function tokenPart(
  table: Table,
  { token, cost, count, nowMillis }: TokenCharge & { readonly token: Pick<UserToken, 'id' | 'accountId'> },
) {
  const item: TransactItem = {
    Update: {
      TableName: table.name,
      Key: keys.userToken(token.accountId, token.id),
      UpdateExpression: 'SET leftMicros = leftMicros - :cost, usesLeft = usesLeft - :uses',
      ConditionExpression: `${works} AND ${coversTheCost}`,
      ExpressionAttributeValues: {
        ':at': new Date(nowMillis).toISOString(),
        ':cost': cost,
        ':uses': count,
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
  const refusal = (old: Item | undefined): TokenRefusal => {
    const stored = old && userTokenFromItem(old);
    const how = stored ? tokenEnd(stored, {}, nowMillis) : 'expired';
    return !stored || how
      ? { kind: 'token_ended', how: how ?? 'expired' }
      : { kind: 'token_used_up', token: stored };
  };
  return { item, refusal };
}

/** The charge goes back to the limit of the token. A use never does. */
export function tokenGivenBack(table: Table, creation: CreationRecord, nowMillis: number): TransactItem[] {
  const { accountId, tokenId, createdAt, costMicros } = creation;
  if (tokenId === undefined || !isTokenGivenBack(createdAt, nowMillis)) return [];
  return [
    {
      Update: {
        TableName: table.name,
        Key: keys.userToken(accountId, tokenId),
        UpdateExpression: 'ADD leftMicros :tokenBack',
        ExpressionAttributeValues: { ':tokenBack': costMicros },
      },
    },
  ];
}
