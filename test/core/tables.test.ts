/**
 * Tables and constants of core, stated a second time: a change of any entry has to be made here, too. The
 * second statement of the metrics is docs/alarms.md, which test/docs/tables.test.ts compares.
 */
import { describe, expect, it } from 'vitest';
import { hourOf } from '../../core/account.ts';
import { isEnabled, providers, type ProviderName } from '../../core/providers.ts';

describe('core/account.ts and core/creation.ts', () => {
  it('A time is rounded down to its UTC hour', () => {
    expect(hourOf(Date.UTC(2026, 10, 21, 12, 59, 59, 999))).toBe('2026-11-21T12:00:00.000Z');
    expect(hourOf(Date.UTC(2026, 10, 21, 13))).toBe('2026-11-21T13:00:00.000Z');
  });
});

describe('core/providers.ts', () => {
  it.each(Object.keys(providers) as ProviderName[])(
    'The provider %s is enabled by its name in the list, and without the list only when it needs nothing',
    (name) => {
      const needsNothing = name === 'sandbox' || name === 'sandbox-large';
      expect(isEnabled(name, [name])).toBe(true);
      expect(isEnabled(name, [])).toBe(needsNothing);
      expect(isEnabled(name, ['another'])).toBe(needsNothing);
    },
  );
});
