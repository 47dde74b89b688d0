import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomBase62, toBase62 } from '../../core/base62.ts';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('base62', () => {
  it.each([
    [0n, 1, '0'],
    [9n, 1, '9'],
    [10n, 1, 'A'],
    [35n, 1, 'Z'],
    [36n, 1, 'a'],
    [61n, 1, 'z'],
    [62n, 2, '10'],
    [62n ** 6n - 1n, 6, 'zzzzzz'],
    [1n, 6, '000001'],
  ])('The number %d in %d places of base62 is %s', (value, places, text) => {
    expect(toBase62(value, places)).toBe(text);
  });

  it('A number keeps its value in base62', () => {
    const read = (text: string): bigint =>
      Array.from(text).reduce((sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)), 0n);
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 62n ** 10n - 1n }),
        (value) => read(toBase62(value, 10)) === value,
      ),
    );
  });
});

describe('a random base62 text', () => {
  it('A random base62 text skips bytes of 248 and above, and asks for more bytes', () => {
    const source = [Uint8Array.of(248, 255, 0), Uint8Array.of(61, 247, 1)];
    expect(randomBase62(3, () => source.shift() ?? new Uint8Array(3))).toBe('0zz');
  });

  it('Exactly four of the 248 byte values make each digit of a random base62 text', () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const counts = Map.groupBy(
      randomBase62(248, () => all),
      (digit) => digit,
    );
    expect([...counts.values()].map((found) => found.length)).toEqual(Array<number>(62).fill(4));
  });
});
