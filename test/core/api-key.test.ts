import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKey, hashKey, keyPrefix, parseKey, sameHash } from '../../core/api-key.ts';
import type { AccountId, KeyId } from '../../core/ids.ts';
import { accountId, apiKeyText, keyId } from '../fixtures/records.ts';

const digits = Array.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
const base62 = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...digits), minLength: length, maxLength: length });
const generated = fc
  .tuple(base62(10), base62(6), fc.uint8Array({ minLength: 18, maxLength: 18, max: 247 }))
  .map(([account, key, random]) => createKey(account as AccountId, key as KeyId, () => random));

describe('an API key', () => {
  it('An API key is dk_live_ and 40 base62 characters, which name the account and the key', () => {
    expect(keyPrefix).toBe('dk_live_');
    expect(apiKeyText).toBe('dk_live_Acc0unt001Key0010123456789ABCDEFGHGdMBPH');
    expect(parseKey(apiKeyText)).toMatchObject({ accountId, keyId });
  });

  it('An API key gives back its account, its id and its hash, for any random bytes', () => {
    fc.assert(
      fc.property(
        base62(10),
        base62(6),
        fc.uint8Array({ minLength: 18, maxLength: 18, max: 247 }),
        (account, key, random) => {
          const text = createKey(account as AccountId, key as KeyId, () => random);
          expect(parseKey(text)).toEqual({
            accountId: account,
            keyId: key,
            hash: createHash('sha256').update(text).digest('hex'),
          });
        },
      ),
    );
  });

  it('An API key is refused when any one of its characters is changed', () => {
    fc.assert(
      fc.property(generated, fc.nat(39), fc.constantFrom(...digits), (key, place, digit) => {
        const at = keyPrefix.length + place;
        fc.pre(key[at] !== digit);
        expect(parseKey(`${key.slice(0, at)}${digit}${key.slice(at + 1)}`)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it('An API key is refused when any two neighbouring characters change places', () => {
    fc.assert(
      fc.property(generated, fc.nat(38), (key, place) => {
        const at = keyPrefix.length + place;
        fc.pre(key[at] !== key[at + 1]);
        expect(
          parseKey(`${key.slice(0, at)}${key[at + 1] ?? ''}${key[at] ?? ''}${key.slice(at + 2)}`),
        ).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['nothing', ''],
    ['the prefix alone', keyPrefix],
    ['another prefix', apiKeyText.replace('dk_live_', 'dk_test_')],
    ['upper case', apiKeyText.toUpperCase()],
    ['one character less', apiKeyText.slice(0, -1)],
    ['one character more', `${apiKeyText}0`],
    ['a line break at the end', `${apiKeyText}\n`],
    ['a space before it', ` ${apiKeyText}`],
  ])('An API key is refused when it is %s', (_what, text) => {
    expect(parseKey(text)).toBeUndefined();
  });
});

describe("a key's hash", () => {
  it('The hash of a key is the SHA-256 of the whole key in lower-case hex', () => {
    // echo -n dk_live_ | sha256sum
    expect(hashKey('dk_live_')).toBe(createHash('sha256').update('dk_live_', 'ascii').digest('hex'));
    expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('The hash of a key equals itself and no other text', () => {
    const hash = hashKey('one');
    expect(sameHash(hash, hashKey('one'))).toBe(true);
    expect(sameHash(hash, hashKey('two'))).toBe(false);
    expect(sameHash(hash, '')).toBe(false);
    expect(sameHash(hash, hash.slice(0, -2))).toBe(false);
  });
});
