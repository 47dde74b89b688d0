import { describe, expect, it } from 'vitest';
import { heldLimit } from '../../lib/held-limit.ts';
import { parseSettings } from '../../lib/settings.ts';

const limitOf = (places: number | 'shared', input: Parameters<typeof parseSettings>[1] = {}): string =>
  heldLimit(places, parseSettings('config/staging.ts', input));

describe('how many requests of an account are held at a door', () => {
  it.each([
    [100, '25'],
    [50, '12'],
    [8, '2'],
    // Never fewer than two.
    [1, '2'],
    // The item of the places must stay small.
    [10_000, '500'],
  ])('An account may hold a quarter of %d places: %s', (places, limit) => {
    expect(limitOf(places)).toBe(limit);
  });

  it('A door that shares its executions counts 100 places, or the executions of the account of AWS if these are fewer', () => {
    expect(limitOf('shared')).toBe('25');
    expect(limitOf('shared', { alarms: { concurrentExecutions: 40 } })).toBe('10');
  });

  it('The setting is a percentage', () => {
    expect(limitOf(100, { heldSharePercent: 100 })).toBe('100');
    expect(() => limitOf(100, { heldSharePercent: 0 })).toThrow(
      'config/staging.ts: heldSharePercent: must be a whole number from 1 to 100 (is 0)',
    );
  });
});
