/** A clock that stands still, and settings for the part of an adapter that verifies callbacks. */
import type { CallingVendor } from '../../lab/vendors/fakes/calls-back.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { CredentialsUnreadable, type VendorSettings } from '../../service/vendors/provider.ts';

/** Monday, 2026-11-23 12:00:00 UTC. */
const start = Date.parse('2026-11-23T12:00:00Z');

export interface StillClock {
  readonly clock: VendorSettings['clock'];
  now(): number;
  pass(millis: number): void;
}

export function stillClock(): StillClock {
  let now = start;
  return {
    clock: { now: () => now, timeout: (millis) => systemClock.timeout(millis) },
    now: () => now,
    pass: (millis) => void (now += millis),
  };
}

/** Values by their names, as the secret holds them. `isLost`: the secret store is away. */
export interface HeldCredentials {
  readonly values: Record<string, string | undefined>;
  isLost: boolean;
  readonly forgotten: string[];
}

export function settingsFor(
  name: string,
  fake: CallingVendor,
  clock: VendorSettings['clock'],
  held: HeldCredentials,
): VendorSettings {
  return {
    name,
    clock,
    baseUrl: fake.url,
    credentials: {
      read: (asked) =>
        held.isLost ? Promise.reject(new CredentialsUnreadable()) : Promise.resolve(held.values[asked]),
      forget: (forgotten) => void held.forgotten.push(forgotten),
    },
  };
}
