import { describe, expect, it } from 'vitest';
import type { RouteAttempt } from '../../service/creations/creation.ts';
import { jobOf } from '../../service/creations/render-job.ts';
import { stub } from '../api/fakes.ts';
import { aCreation } from '../fixtures/records.ts';

describe('the quality of a job', () => {
  const qualityOf = (
    asked: 'auto' | 'low' | undefined,
    attempt: Pick<RouteAttempt, 'providerModel' | 'quality'>,
  ): unknown => jobOf(aCreation(asked === undefined ? {} : { quality: asked }), attempt, stub({})).quality;

  it('is that of the route, which decides the price, whatever the request names', () => {
    expect(qualityOf('low', { providerModel: 'm', quality: 'high' })).toBe('high');
    expect(qualityOf('auto', { providerModel: 'm', quality: 'high' })).toBe('high');
  });

  it('is that of the request at a route without one, and auto is never sent: the vendor would choose the price', () => {
    expect(qualityOf('low', { providerModel: 'm' })).toBe('low');
    expect(qualityOf('auto', { providerModel: 'm' })).toBeUndefined();
    expect(qualityOf(undefined, { providerModel: 'm' })).toBeUndefined();
  });
});
