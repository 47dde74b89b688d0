import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hourOf } from '../../service/accounts/account.ts';
import { createKey, hashKey, keyPrefix, parseKey } from '../../service/accounts/api-key.ts';
import {
  allowsModel,
  budgetsOf,
  counterExpiry,
  exceededBudget,
  isCounterGivenBack,
  isDayGivenBack,
  isExpired,
  oldestDayKept,
  spentInAll,
} from '../../service/accounts/caps.ts';
import { isUser, userHash, userProblems } from '../../service/accounts/end-user.ts';
import type { AccountId, KeyId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { sameHash } from '../../service/values/text.ts';
import { dayOf, nextDay } from '../../service/values/time.ts';
import { accountId, anApiKey, apiKeyText, keyId, now } from '../fixtures/records.ts';

const nothing = asMicros(0);

const capped = anApiKey({
  dailyCapMicros: asMicros(10),
  monthlyCapMicros: asMicros(20),
  totalCapMicros: asMicros(30),
  perUserMonthlyCapMicros: asMicros(15),
  spent: { '2026_10': asMicros(5), '2026_11': asMicros(8) },
  spentByDay: { '2026_11_20': asMicros(3), '2026_11_21': asMicros(4) },
});

describe('the days of a key', () => {
  it('The day of an instant is the day in UTC, and the next day begins at midnight', () => {
    expect([dayOf(Date.UTC(2026, 11, 31, 23, 59, 59, 999)), dayOf(Date.UTC(2027, 0, 1))]).toEqual([
      '2026_12_31',
      '2027_01_01',
    ]);
    expect(nextDay(Date.UTC(2026, 11, 31, 23, 59))).toBe('2027-01-01T00:00:00.000Z');
    expect(nextDay(Date.UTC(2028, 1, 28))).toBe('2028-02-29T00:00:00.000Z');
  });

  it('A time is rounded down to its UTC hour', () => {
    expect(hourOf(Date.UTC(2026, 10, 21, 12, 59, 59, 999))).toBe('2026-11-21T12:00:00.000Z');
    expect(hourOf(Date.UTC(2026, 10, 21, 13))).toBe('2026-11-21T13:00:00.000Z');
  });

  it('A charge keeps its own day and the three days before', () => {
    expect([oldestDayKept('2026_11_21'), oldestDayKept('2027_01_02')]).toEqual(['2026_11_18', '2026_12_30']);
  });

  it('A refund gives back to its own day and the two days before', () => {
    expect(['2026_11_21', '2026_11_19', '2026_11_18'].map((day) => isDayGivenBack(day, now))).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('the counter of a user', () => {
  it('The counter is kept for 92 days after its month, and a refund gives back until a day before', () => {
    const expiry = Date.UTC(2027, 2, 3);
    expect(counterExpiry('2026_11')).toBe(expiry);
    expect(counterExpiry('2026_12')).toBe(Date.UTC(2027, 3, 3));
    const last = expiry - 86_400_000;
    expect([isCounterGivenBack('2026_11', last - 1), isCounterGivenBack('2026_11', last)]).toEqual([
      true,
      false,
    ]);
  });
});

describe('the budgets of a key', () => {
  it('Each cap is listed in order with its own spend and the time of its reset', () => {
    expect(budgetsOf(capped, now, asMicros(7))).toEqual([
      { period: 'daily', capMicros: 10, spentMicros: 4, resetsAt: '2026-11-22T00:00:00.000Z' },
      { period: 'monthly', capMicros: 20, spentMicros: 8, resetsAt: '2026-12-01T00:00:00.000Z' },
      { period: 'total', capMicros: 30, spentMicros: 13, resetsAt: null },
      { period: 'user', capMicros: 15, spentMicros: 7, resetsAt: '2026-12-01T00:00:00.000Z' },
    ]);
    expect(budgetsOf(anApiKey(), now, asMicros(7))).toEqual([]);
    expect([spentInAll(capped), spentInAll(anApiKey())]).toEqual([13, 0]);
  });

  it.each([
    [6, 0, undefined],
    [7, 0, 'daily'],
    [6, 9, undefined],
    [6, 10, 'user'],
    [13, 10, 'daily'],
  ])('A cost of %i with %i spent for the user exceeds: %s', (cost, userSpent, period) => {
    expect(exceededBudget(capped, asMicros(cost), now, asMicros(userSpent))?.period).toBe(period);
  });

  it('A cost that exceeds several budgets is refused for the first one', () => {
    const { dailyCapMicros: _daily, ...monthly } = capped;
    const { monthlyCapMicros: _monthly, ...total } = monthly;
    expect([monthly, total].map((key) => exceededBudget(key, asMicros(18), now, nothing)?.period)).toEqual([
      'monthly',
      'total',
    ]);
  });
});

describe('the models and the expiry of a key', () => {
  it('A key without a list allows every model, and a key with a list only those', () => {
    expect(allowsModel(anApiKey(), 'a')).toBe(true);
    expect(['a', 'b'].map((model) => allowsModel(anApiKey({ models: ['a'] }), model))).toEqual([true, false]);
    expect(allowsModel(anApiKey({ models: [] }), 'a')).toBe(false);
  });

  it('A key has expired from the very moment of its expiry on', () => {
    const key = anApiKey({ expiresAt: new Date(now).toISOString() });
    expect([isExpired(key, now - 1), isExpired(key, now), isExpired(anApiKey(), now)]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

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

  it('An API key is refused when any two neighbouring characters are swapped', () => {
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

describe('the user of a request', () => {
  it.each<[string, unknown, string | undefined]>([
    ['one character', 'a', undefined],
    ['64 characters outside the basic plane', '🪶'.repeat(64), undefined],
    ['spaces, which are kept', ' a ', undefined],
    ['65 characters', 'a'.repeat(65), 'too_long'],
    ['an empty text', '', 'too_short'],
    ['a number', 7, 'invalid_type'],
    ['a line feed', 'a\nb', 'invalid_value'],
    ['DEL', 'a\u007f', 'invalid_value'],
    ['a control character of Latin-1', 'a\u0085', 'invalid_value'],
    ['half of a surrogate pair', 'a\ud83e', 'invalid_encoding'],
  ])('%s', (_what, value, code) => {
    expect(userProblems(value).map((problem) => problem.code)).toEqual(code === undefined ? [] : [code]);
    expect(isUser(value)).toBe(code === undefined);
  });

  it('The hash differs for each text and holds no character that a key of the table must not hold', () => {
    expect(userHash('a')).toBe('ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs');
    expect(userHash('a ')).not.toBe(userHash('a'));
  });
});
