import { type Item, type ItemKey, keys, ttlAttribute } from '../aws/dynamodb/table.ts';
import { metadataFrom } from './account-items.ts';
import type { UserToken } from './user-token.ts';

/** The item outlives the token by a day and an hour, so every refund on the day of its charge finds the item. */
const keptSeconds = 25 * 3600;

export function userTokenToItem({ metadata, ...token }: UserToken): Item & ItemKey {
  return {
    ...keys.userToken(token.accountId, token.id),
    ...token,
    ...(metadata && { metadata: JSON.stringify(metadata) }),
    [ttlAttribute]: Math.ceil(Date.parse(token.expiresAt) / 1000) + keptSeconds,
  };
}

export function userTokenFromItem({ pk, sk, [ttlAttribute]: _ttl, metadata, ...stored }: Item): UserToken {
  return {
    ...stored,
    ...(metadata !== undefined && { metadata: metadataFrom(metadata) }),
  } as unknown as UserToken;
}
