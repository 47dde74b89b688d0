import { describe, expect, it } from 'vitest';
import { placeOfRequest, requestIdOf } from '../../service/api/request-id.ts';

const at = Date.UTC(2026, 10, 27, 12, 0, 0, 900);
const key = 'dk_live_Acc0unt001KeyId1andTheSecretRest';

describe('the id of a request', () => {
  it.each([
    ['a bearer', { authorization: `Bearer ${key}` }],
    ['a bearer in other letters', { authorization: `bearer  ${key}` }],
    ['the header of a key', { 'x-api-key': key }],
    ['the token of a user', { authorization: 'Bearer dk_user_Acc0unt001KeyId1andTheRest' }],
  ])('names the account and the second with %s', (_what, headers) => {
    const id = requestIdOf('JKJaXmPLvHcESHA=', headers, at);
    expect(id).toBe('JKJaXmPLvHcESHA=.Acc0unt001.tp5tc0');
    expect(placeOfRequest(id)).toEqual({ accountId: 'Acc0unt001', atMillis: Date.UTC(2026, 10, 27, 12) });
    expect(id).not.toContain('KeyId1');
  });

  it.each([
    ['no key', {}],
    ['another credential', { authorization: 'Basic dk_live_Acc0unt001KeyId1' }],
    ['a key that names no account', { authorization: 'Bearer dk_live_short' }],
  ])('is that of the gateway with %s', (_what, headers) => {
    expect(requestIdOf('JKJaXmPLvHcESHA=', headers, at)).toBe('JKJaXmPLvHcESHA=');
  });

  it('in another form gives no account and no time', () => {
    for (const text of [
      '',
      'JKJaXmPLvHcESHA=',
      'a.b.c',
      'id.Acc0unt001',
      'id.Acc0unt001.12',
      'id.Acc0unt00!.tp5tc0',
    ])
      expect(placeOfRequest(text)).toBeUndefined();
  });
});
