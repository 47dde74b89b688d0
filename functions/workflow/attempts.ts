/**
 * The attempts at a creation's routes. The record keeps them, so that a renderer after a crash knows what was
 * begun.
 */
import type { RouteAttempt, RouteChoice } from '../../core/creation.ts';

export interface Attempts {
  /** In the order in which the routes were begun. */
  readonly all: readonly RouteAttempt[];
  /** The last attempt at this route; undefined when none was begun. */
  at(route: RouteChoice): RouteAttempt | undefined;
  /** Adds an attempt that begins now. */
  begin(attempt: RouteAttempt): void;
  /** Replaces the last attempt at the same route. */
  set(attempt: RouteAttempt): void;
  /** Writes all attempts into the record. Throws when another renderer holds the lease by now. */
  save(): Promise<void>;
}

/** @param write writes the attempts into the record */
export function openAttempts(
  known: readonly RouteAttempt[],
  write: (attempts: readonly RouteAttempt[]) => Promise<void>,
): Attempts {
  const all = [...known];
  const placeOf = (route: RouteChoice): number => all.findLastIndex((attempt) => isOf(attempt, route));
  return {
    all,
    at: (route) => all[placeOf(route)],
    begin: (attempt) => void all.push(attempt),
    set: (attempt) => {
      const place = placeOf(attempt);
      if (place === -1) throw new Error('no attempt at this route was begun');
      all[place] = attempt;
    },
    save: async () => write(all),
  };
}

export function isOf(attempt: RouteChoice, route: RouteChoice): boolean {
  return (
    attempt.provider === route.provider &&
    attempt.providerModel === route.providerModel &&
    attempt.quality === route.quality
  );
}
