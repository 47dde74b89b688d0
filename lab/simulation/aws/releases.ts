/**
 * The releases of one world. They are the same code. They differ in the version of the schema that they write,
 * and in the newest version that they understand.
 */
import type { Schema } from '../../../service/values/runtime.ts';
import type { Invocation, World } from '../world/simulated-world.ts';

/** A change of the schema goes over two releases: `between` understands version 2, and `after` writes it. */
export const releaseSchemas = {
  before: { written: 1, newestKnown: 1 },
  between: { written: 1, newestKnown: 2 },
  after: { written: 2, newestKnown: 2 },
} as const satisfies Readonly<Record<string, Schema>>;

export type Release = keyof typeof releaseSchemas;

export interface Releases {
  readonly current: () => Release;
  readonly deploy: (release: Release) => void;
  /** Notes that the running invocation runs this release, and returns what the release understands. */
  readonly begin: (release: Release) => Schema;
  /** Undefined for an invocation that knows no schema, and outside of all invocations. */
  readonly of: (invocation: Invocation | undefined) => Release | undefined;
  /** When a release was current last that did not understand every record; -Infinity when there was none. */
  readonly lastBehindAt: () => number;
}

/** Creates the releases of one world. The first one is `before`. */
export function createReleases(world: World): Releases {
  const ran = new WeakMap<Invocation, Release>();
  let current: Release = 'before';
  let newestWritten = 1;
  let behindUntil = -Infinity;
  const isBehind = (): boolean => releaseSchemas[current].newestKnown < newestWritten;
  return {
    current: () => current,
    deploy: (release) => {
      if (isBehind()) behindUntil = world.time.now();
      world.note(`release ${release} takes the place of ${current}`);
      world.mishap(`release ${current} to ${release}`);
      current = release;
      newestWritten = Math.max(newestWritten, releaseSchemas[release].written);
    },
    begin: (release) => {
      const invocation = world.current();
      if (invocation) ran.set(invocation, release);
      return releaseSchemas[release];
    },
    of: (invocation) => invocation && ran.get(invocation),
    lastBehindAt: () => (isBehind() ? world.time.now() : behindUntil),
  };
}
