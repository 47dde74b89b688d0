/** The refusals of a request for a model that cannot be rendered as the request asks. */
import { describe, expect, it } from 'vitest';
import type { Model } from '../../core/catalog.ts';
import { quoteImage } from '../../functions/operations/generate/quote-image.ts';
import { catalogOf, routeOf } from './catalog-fixture.ts';
import { pngOf } from './fakes.ts';
import { accepting, post } from './serve-fixture.ts';

describe('a request for a model that cannot be rendered as asked', () => {
  const standard = { model: 'sandbox-standard', prompt: 'a pier' };

  it('The request is accepted when its prompt is exactly as long as a route takes', async () => {
    const services = catalogOf({ routes: routeOf({ max_prompt_length: 6 }) });
    expect((await post(accepting({ services }), standard, { handle: quoteImage })).status).toBe(200);
  });

  it('The request is answered 400 when no route takes the source image as it is', async () => {
    const limits = { content_types: ['image/png'], max_bytes: 1, min_side: 64, max_side: 64, max_pixels: 9 };
    const routes = routeOf({ source_limits: limits } as Partial<Model['routes'][number]>);
    const bytes = Buffer.concat([pngOf(64, 128), Buffer.alloc(1_250_000)]);
    const stage = accepting({
      services: catalogOf({ routes }),
      fetchSource: async () => Promise.resolve({ kind: 'fetched', bytes }),
    });
    const answer = await post(stage, { ...standard, image_urls: ['https://images.test/1'] });
    const message =
      'no provider enabled for this account takes it for sandbox-standard: this is image/png of 64 x 128 pixels and 1.3 MB';
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        error: {
          code: 'ERR_INVALID_REQUEST',
          message: `image_urls[0]: ${message}`,
          details: {
            reason: 'provider_policy_no_route',
            errors: [{ field: 'image_urls[0]', code: 'not_taken', message }],
          },
        },
      },
    ]);
  });
});
