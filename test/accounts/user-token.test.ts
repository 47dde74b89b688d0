/** The text of a token of an end user, and what its id says. */
import { expect, it } from 'vitest';
import { hashForUser, newUserToken, parseUserToken } from '../../service/accounts/user-token.ts';
import type { KeyId } from '../../service/values/ids.ts';
import { accountId, keyId, seededBytes } from '../fixtures/records.ts';

const otherKey = 'Key00B' as KeyId;
const tokenOf = (user: string, id = keyId) => newUserToken({ id, accountId }, user, seededBytes);

it('A token names its account and its key, and has the hash under which it is stored', () => {
  const { id, hash, text } = tokenOf('ada');
  expect(parseUserToken(text)).toEqual({ accountId, keyId, id, hash });
});

it('Tokens of one user have the same hash of an Idempotency-Key, whichever key made them', () => {
  const hash = hashForUser(tokenOf('ada').id, 'key');
  expect(hashForUser(tokenOf('ada', otherKey).id, 'key')).toBe(hash);
  expect(hashForUser(tokenOf('bob').id, 'key')).not.toBe(hash);
});
