import { describe, expect, it } from 'vitest';
import { checkIdempotencyKey, idempotencyHash } from '../../functions/operations/generate/idempotency.ts';

const fine = (header: string): boolean => {
  try {
    checkIdempotencyKey(header);
    return true;
  } catch {
    return false;
  }
};

describe('an Idempotency-Key', () => {
  it('The key is the same key bare, in quotes and with white space around it', () => {
    const hashes = ['order-7', '"order-7"', '  order-7 ', ' "order-7" '].map(idempotencyHash);
    expect(new Set(hashes)).toHaveLength(1);
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    '"order-7"8',
    'x"order-7"',
    '"order-7',
    'order-7"',
    '""order-7""',
    'Order-7',
    'order-77',
    'order-',
  ])('The header %s is another key than order-7', (header) => {
    expect(idempotencyHash(header)).toMatch(/^[0-9a-f]{64}$/);
    expect(idempotencyHash(header)).not.toBe(idempotencyHash('order-7'));
  });

  it.each([' ', '!', '~', 'k'.repeat(255), `"${'k'.repeat(255)}"`, 'a b'])(
    'The header %j holds a key unless it is blank',
    (header) => {
      const isBlank = header.trim() === '';
      expect([fine(header), idempotencyHash(header) !== undefined]).toEqual([!isBlank, !isBlank]);
    },
  );

  it.each([
    '',
    '""',
    'k'.repeat(256),
    `"${'k'.repeat(256)}"`,
    '\x1fkey',
    'key\x7f',
    'ké',
    'a\tb',
    'k\u2028y',
  ])('The header %j is refused', (header) => {
    expect([fine(header), idempotencyHash(header)]).toEqual([false, undefined]);
  });

  it('A request without the header is not refused', () => {
    expect(idempotencyHash(undefined)).toBeUndefined();
    expect(() => {
      checkIdempotencyKey(undefined);
    }).not.toThrow();
  });
});
