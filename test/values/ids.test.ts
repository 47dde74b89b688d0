import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  parseAccountId,
  parseCreationId,
  parseKeyId,
  timeOfUuidV7,
  uuidV7,
} from '../../service/values/ids.ts';

const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });

describe('a UUIDv7', () => {
  it('A UUIDv7 equals the example of RFC 9562, appendix A.6', () => {
    // Tue Feb 22 2022 14:22:22.00 -05:00; the bits of version and variant are set whatever the dice say.
    const random = Uint8Array.from([
      255, 255, 255, 255, 255, 255, 0xfc, 0xc3, 0xd8, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f,
    ]);
    expect(uuidV7(1_645_557_742_000, random)).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
  });

  it.each([
    [0, '00000000-0000-7'],
    [2 ** 32, '00010000-0000-7'],
    [2 ** 48 - 1, 'ffffffff-ffff-7'],
  ])('A UUIDv7 of the time %d ms begins with %s', (millis, beginning) => {
    expect(uuidV7(millis, new Uint8Array(16)).slice(0, 15)).toBe(beginning);
  });

  it('The UUIDv7s sort by their times, for any random bytes', () => {
    fc.assert(
      fc.property(time, time, bytes, bytes, (a, b, first, second) => {
        fc.pre(a !== b);
        expect(uuidV7(a, first) < uuidV7(b, second)).toBe(a < b);
      }),
    );
  });

  it('A UUIDv7 always has version 7, the variant of RFC 9562 and the form of a creation id', () => {
    fc.assert(
      fc.property(time, bytes, (millis, random) => {
        const id = uuidV7(millis, random);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(parseCreationId(id)).toBe(id);
      }),
    );
  });

  it('A UUIDv7 gives its time back', () => {
    fc.assert(
      fc.property(time, bytes, (millis, random) => {
        expect(timeOfUuidV7(uuidV7(millis, random))).toBe(millis);
      }),
    );
  });

  it.each([
    ['another version', '017f22e2-79b0-4cc3-98c4-dc0c0c07398f'],
    ['a 7 beside the place of the version', '017f22e2-7970-4773-98c4-dc0c0c07398f'],
    ['upper case', '017F22E2-79B0-7CC3-98C4-DC0C0C07398F'],
    ['one character less', '017f22e2-79b0-7cc3-98c4-dc0c0c07398'],
    ['one character more', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f0'],
    ['a space before it', ' 017f22e2-79b0-7cc3-98c4-dc0c0c07398f'],
    ['no id', ''],
  ])('The time of a text is undefined when the text has %s', (_what, text) => {
    expect(timeOfUuidV7(text)).toBeUndefined();
  });
});

describe('an id that comes from outside', () => {
  it('An id in upper case names a creation, and is read in lower case', () => {
    expect(parseCreationId('017F22E2-79B0-7CC3-98C4-DC0C0C07398F')).toBe(
      '017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
    );
  });

  it.each([
    '',
    'x',
    '017f22e2-79b0-7cc3-98c4-dc0c0c07398',
    '017f22e279b07cc398c4dc0c0c07398f',
    ' 017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
    '017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n',
    '0017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
    '017f22e2-79b0-7cc3-98c4-dc0c0c07398f0',
    '017f22e2-79b0-7cc3-98c4-dc0c0c07398g',
  ])('The text %j names no creation', (text) => {
    expect(parseCreationId(text)).toBeUndefined();
  });

  it('Ten base62 characters name an account, and six name a key', () => {
    expect(parseAccountId('0aZ9876543')).toBe('0aZ9876543');
    expect(parseKeyId('0aZ987')).toBe('0aZ987');
    for (const text of ['', '0aZ98', '0aZ9876', '0aZ98-', '0aZ98#', '#0aZ987', '0aZ987\n'])
      expect(parseKeyId(text)).toBeUndefined();
    for (const text of ['', '0aZ987654', '0aZ98765432', '0aZ987654#', '#0aZ9876543', '0aZ9876543\n'])
      expect(parseAccountId(text)).toBeUndefined();
  });
});
