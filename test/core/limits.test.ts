import { describe, expect, it } from 'vitest';
import * as limits from '../../core/limits.ts';

describe('the limits', () => {
  it('are this table', () => {
    expect({ ...limits }).toMatchObject({
      defaultLimits: { postRate: 60, getRate: 600, maxConcurrent: 20, deadlineSeconds: 300 },
      limitRanges: {
        postRate: [0, 1_000_000],
        getRate: [0, 1_000_000],
        maxConcurrent: [0, 100_000],
        deadlineSeconds: [1, 720],
      },
      serviceCapacity: 2_000,
      pollIntervalMillis: 1_000,
      rateWindowSeconds: 60,
      rejectionsBeforeBlock: 20,
      blockSeconds: 120,
      idempotencySeconds: 86_400,
      maxBodyBytes: 262_144,
      maxUrlLength: 2_048,
      sourcesAtOnce: 4,
      sourceTimeoutMillis: 5_000,
      allSourcesTimeoutMillis: 15_000,
      sourceRedirects: 3,
      maxSourceBytes: 10_000_000,
      sourceSide: { least: 64, most: 8_192 },
      maxSourcePixels: 25_000_000,
      longestWaitSeconds: 20,
      latestAnswerMillis: 25_000,
    });
  });
});
