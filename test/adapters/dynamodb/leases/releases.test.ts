/** Renderers of two releases beside each other: they never work on the same creation at once. */
import { describe, expect, it } from 'vitest';
import { compete, type Course } from './interleave.ts';
import { leaseInItsItem, leaseInTheCreation, thisRelease, type Release } from './renderers.ts';

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
      'two of this release and two of the release before',
      { before: leaseInTheCreation, this: thisRelease },
      ['before>before', 'before>this', 'this>before', 'this>this'],
    ],
    [
      'two of this release and two of the release after',
      { this: thisRelease, after: leaseInItsItem },
      ['after>after', 'after>this', 'this>after', 'this>this'],
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

  it('Without the release between them, the release before would work beside the release after', async () => {
    const all = await courses({ before: leaseInTheCreation, after: leaseInItsItem });
    expect(all.flatMap(({ wrong }) => wrong)).not.toEqual([]);
  });
});
