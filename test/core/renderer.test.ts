import { describe, expect, it } from 'vitest';
import { rendererOf, renderers } from '../../core/renderer.ts';
import { aCreation } from '../fixtures/records.ts';

const source = { key: 'sources/a', width: 64, height: 64, contentType: 'image/png', bytes: 64 };

describe('the renderer of a creation', () => {
  it.each([
    ['1K', 0, 'small'],
    ['2K', 0, 'large'],
    ['4K', 0, 'large'],
    ['1K', 1, 'any'],
    ['4K', 10, 'any'],
  ] as const)(
    'A picture of %s from %i source images is rendered by the renderer "%s"',
    (resolution, count, renderer) => {
      const sources = Array.from({ length: count }, () => source);
      expect(rendererOf({ resolution, sources })).toBe(renderer);
    },
  );

  it('A creation keeps its renderer while it is rendered, so that a restart finds the same one', () => {
    const creation = aCreation({ resolution: '2K', sources: [] });
    const later = { ...creation, status: 'processing', executions: 3, attempts: [], recoveries: 2 } as const;
    expect(rendererOf(later)).toBe(rendererOf(creation));
  });

  it('The indexes keep their meaning, because executions of the last release still run', () => {
    expect(renderers).toEqual(['any', 'small', 'large']);
  });
});
