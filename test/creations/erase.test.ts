import { describe, expect, it } from 'vitest';
import { imageKeysOf, originalKeysOf } from '../../service/creations/erase.ts';
import { aCreation, storedImage } from '../fixtures/records.ts';

describe('the images of a creation', () => {
  it('are those of its results, its sources with their mask, and all its attempts, each once, and the thumbnails of the results', () => {
    const attempt = {
      provider: 'one',
      providerModel: 'm',
      startedAt: '2026-11-21T12:00:31.000Z',
      resultKey: 'results/late.png',
    };
    const creation = aCreation({
      results: [storedImage],
      sources: [{ ...storedImage, key: 'sources/a.png' }],
      mask: { ...storedImage, key: 'sources/mask.png' },
      attempts: [attempt, { ...attempt, resultKey: storedImage.key }],
    });
    const originals = ['results/late.png', storedImage.key, 'sources/a.png', 'sources/mask.png'];
    expect([...originalKeysOf(creation)].sort()).toEqual(originals);
    const small = ['late', 'unguessable'].flatMap((name) => [
      `results/${name}-480.webp`,
      `results/${name}-96.webp`,
    ]);
    expect([...imageKeysOf(creation)].sort()).toEqual([...originals, ...small].sort());
  });
});
