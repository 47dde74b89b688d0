import { describe, expect, it } from 'vitest';
import { imageKeysOf } from '../../service/creations/erase.ts';
import { aCreation, storedImage } from '../fixtures/records.ts';

describe('the images of a creation', () => {
  it('are those of its results, its sources and all its attempts, each once', () => {
    const attempt = {
      provider: 'one',
      providerModel: 'm',
      startedAt: '2026-11-21T12:00:31.000Z',
      resultKey: 'results/late.png',
    };
    const creation = aCreation({
      results: [storedImage],
      sources: [{ ...storedImage, key: 'sources/a.png' }],
      attempts: [attempt, { ...attempt, resultKey: storedImage.key }],
    });
    expect([...imageKeysOf(creation)].sort()).toEqual(['results/late.png', storedImage.key, 'sources/a.png']);
  });
});
