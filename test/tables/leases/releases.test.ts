/** Renderers of two releases beside each other: they never work on the same creation at once. */
import { describe, expect, it } from 'vitest';
import { compete, type Course } from './interleave.ts';
import { leaseInBoth, type Release, thisRelease } from './renderers.ts';

const seeds = 30;

async function courses(releases: Readonly<Record<string, Release>>): Promise<Course[]> {
  const all: Course[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) all.push(await compete(releases, seed));
  return all;
}

function takeoversOf(all: readonly Course[]): string[] {
  return [...new Set(all.flatMap(({ takeovers }) => takeovers))].sort();
}

describe('Renderers that compete for a creation', () => {
  it.each([
    ['two of this release', { this: thisRelease }, ['this>this']],
    [
      'two of this release and two of the release that writes both places',
      { both: leaseInBoth, this: thisRelease },
      ['both>both', 'both>this', 'this>both', 'this>this'],
    ],
  ])(
    'Of %s, only one works at a time, and a renderer whose lease was taken saves nothing',
    async (_who, releases, takeovers) => {
      const all = await courses(releases);
      expect(all.flatMap(({ wrong }, index) => wrong.map((text) => `seed ${index + 1}: ${text}`))).toEqual(
        [],
      );
      expect(takeoversOf(all)).toEqual(takeovers);
      expect(all.reduce((sum, { fenced }) => sum + fenced, 0)).toBeGreaterThan(seeds);
    },
  );
});
