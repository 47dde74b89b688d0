import { describe, expect, it } from 'vitest';
import { readIdempotencyKey } from '../../functions/http/idempotency-key.ts';

/** The hash of a valid key; otherwise the kind of what was read. */
const read = (header?: string): string => {
  const key = readIdempotencyKey(header);
  return key.kind === 'valid' ? key.hash : key.kind;
};

describe('an Idempotency-Key', () => {
  it('The key is the same key bare, in quotes and with white space around it', () => {
    const hashes = ['order-7', '"order-7"', '  order-7 ', ' "order-7" '].map(read);
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
    expect(read(header)).toMatch(/^[0-9a-f]{64}$/);
    expect(read(header)).not.toBe(read('order-7'));
  });

  it.each([' ', '!', '~', 'k'.repeat(255), `"${'k'.repeat(255)}"`, 'a b'])(
    'The header %j holds a key unless it is blank',
    (header) => {
      expect(read(header)).toMatch(header.trim() === '' ? /^malformed$/ : /^[0-9a-f]{64}$/);
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
    expect(read(header)).toBe('malformed');
  });

  it('A request without the header is not refused', () => {
    expect(read(undefined)).toBe('absent');
  });
});
