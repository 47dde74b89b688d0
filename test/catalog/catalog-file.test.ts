/**
 * service/catalog/models.json and service/catalog/provider-costs.json: whether the two files agree with themselves and each
 * other.
 */
import { describe, expect, it } from 'vitest';
import { leastPriceMicros, leastPriceOf } from '../../admin/catalog/margin-rule.ts';
import { billedTokens, billedUnits, billedUsd, type TokenCounts } from '../../service/catalog/billed-cost.ts';
import { providerCostsSchema } from '../../service/catalog/catalog-schema.ts';
import { offered, priceOf, routesFor } from '../../service/catalog/catalog.ts';
import providerCosts from '../../service/catalog/provider-costs.json' with { type: 'json' };
import { costOf } from '../../service/render/route-costs.ts';
import { aspectRatios, resolutions } from '../../service/contract/request-fields.ts';
import { asMicros, fromUsd } from '../../service/values/money.ts';
import { catalog } from './catalog-fixture.ts';

const costs = providerCostsSchema.parse(providerCosts);

/** What GPT Image 2.5 charges for a square: OpenAI's formula, at 30 USD for a million tokens. */
function usdOfSquare(quality: string | null, resolution: keyof typeof sides): number {
  const patches = edgeOfQuality[quality as keyof typeof edgeOfQuality] ** 2;
  const tokens = Math.ceil((patches * (2_000_000 + sides[resolution] ** 2)) / 4_000_000);
  return (tokens * 30) / 1_000_000;
}

const edgeOfQuality = { low: 16, medium: 24, high: 48, xhigh: 64, max: 96 };

const sides = { '1K': 1024, '2K': 2048, '4K': 2880 };

const everyModel = catalog.models.map((known) => [known.id, known] as const);

describe('service/catalog/models.json', () => {
  it('The catalog names every model once, and only models of the sandbox begin with "sandbox"', () => {
    const ids = catalog.models.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, routes } of catalog.models) {
      for (const { provider } of routes)
        expect(provider.startsWith('sandbox')).toBe(id.startsWith('sandbox'));
    }
  });

  it('The catalog has at most one route for a model, provider and quality', () => {
    for (const { id, routes } of catalog.models) {
      const tried = routes.map((route) => `${route.provider} ${route.provider_model} ${route.quality ?? ''}`);
      expect(new Set(tried).size, id).toBe(tried.length);
    }
  });

  it('The catalog names the source of every cost outside the sandbox, and source limits for every route that takes images', () => {
    for (const { id, routes } of catalog.models) {
      for (const route of routes) {
        expect(costOf(costs, route)?.source === null, id).toBe(id.startsWith('sandbox'));
        expect(route.source_limits === null, id).toBe(route.max_image_urls === 0);
      }
    }
  });

  it('What OpenAI charges for 2.5 follows from the tokens of a square: 30 USD for a million tokens', () => {
    const ofGeneration = costs.costs.filter(({ provider_model: name }) => name.startsWith('gpt-image-2.5-'));
    expect(ofGeneration).toHaveLength(5);
    for (const { quality, images } of ofGeneration)
      for (const { resolution, usd } of images)
        expect(usd, `${quality} ${resolution}`).toBeCloseTo(usdOfSquare(quality, resolution), 6);
  });

  it('GPT Image 2.6 costs in high quality what 2.5 costs, and in low quality up to 4.5 times as much', () => {
    const ofGeneration = costs.costs.filter(({ provider_model: name }) => name.startsWith('gpt-image-2.6-'));
    expect(ofGeneration).toHaveLength(3);
    for (const { quality, images } of ofGeneration) {
      for (const { resolution, usd } of images) {
        const times = usd / usdOfSquare(quality, resolution);
        expect(times, `${quality} ${resolution}`).toBeGreaterThanOrEqual(quality === 'low' ? 4.5 : 1 - 1e-9);
        expect(times, `${quality} ${resolution}`).toBeLessThan(quality === 'low' ? 4.9 : 1 + 1e-9);
      }
    }
  });

  it.each(everyModel)(
    'The model %s is sold for at least 140 %% of the cost of its dearest route, rounded up to a half cent',
    (_id, known) => {
      for (const price of known.pricing) {
        for (const part of ['usd', 'usd_per_input_image'] as const) {
          const dearest = Math.max(
            ...known.routes
              .flatMap((route) => costOf(costs, route)?.images ?? [])
              .filter((row) => row.resolution === price.resolution)
              .map((row) => fromUsd(row[part])),
          );
          const least = leastPriceMicros(asMicros(dearest));
          expect(least, part).toBeGreaterThanOrEqual(1.4 * dearest - 0.01);
          expect(fromUsd(price[part]), `${price.resolution} ${part}`).toBeGreaterThanOrEqual(least);
          expect(leastPriceOf(known, costs, price.resolution, part)).toBe(least);
        }
      }
    },
  );

  it.each(everyModel)(
    'The model %s has a route and a price for its own defaults and its longest prompt',
    (_id, known) => {
      const shape = {
        resolution: known.default_resolution,
        aspectRatio: known.default_aspect_ratio,
        outputFormat: known.default_output_format,
        promptLength: known.max_prompt_length,
        imageCount: 0,
      };
      expect(routesFor(known.routes, shape).length).toBeGreaterThan(0);
      expect(priceOf(known, known.default_resolution, 0)).toBeGreaterThan(0);
    },
  );

  it.each(everyModel)(
    'The model %s has one price for each resolution that a route renders, and no other price',
    (_id, known) => {
      const rendered = offered(resolutions, known.routes, (route) => route.resolutions);
      expect(known.pricing.map(({ resolution }) => resolution).sort()).toEqual([...rendered].sort());
    },
  );

  it.each(everyModel)(
    'The model %s has a known cost for every resolution of every route, and no route takes more images than the model',
    (_id, known) => {
      for (const route of known.routes) {
        const costed = costOf(costs, route)?.images.map(({ resolution }) => resolution);
        for (const resolution of route.resolutions) expect(costed).toContain(resolution);
        expect(route.max_image_urls).toBeLessThanOrEqual(known.max_image_urls);
      }
    },
  );

  it('The models of the sandbox differ in price, and together offer every resolution and ratio', () => {
    const sandboxes = catalog.models.filter(({ id }) => id.startsWith('sandbox'));
    const prices = sandboxes.map((known) => priceOf(known, known.default_resolution, 0));
    expect(new Set(prices).size).toBe(prices.length);
    const routes = sandboxes.flatMap((known) => known.routes);
    expect([...new Set(routes.map(({ provider }) => provider))].sort()).toEqual(['sandbox', 'sandbox-large']);
    expect(offered(resolutions, routes, (route) => route.resolutions)).toEqual(['1K', '2K', '4K']);
    expect(offered(aspectRatios, routes, (route) => route.aspect_ratios)).toEqual(aspectRatios);
    expect(new Set(sandboxes.map(({ max_image_urls: most }) => most > 0)).size).toBe(2);
    for (const { resolutions: rendered } of routes.filter(({ provider }) => provider === 'sandbox'))
      expect(rendered).not.toContain('4K');
    for (const { resolutions: rendered } of routes.filter(({ provider }) => provider === 'sandbox-large'))
      expect(rendered).not.toContain('1K');
  });
});

/** What no vendor bills for a picture. */
const nonsense = [
  -1,
  -0.000_001,
  NaN,
  Infinity,
  1e12,
  1e308,
  undefined,
  null,
  true,
  [],
  {},
  'many',
  '',
  '-3',
  '1e3',
  ' 3',
];

/** Figures of a vendor's answer, turned into money or left out. */
describe('an amount in USD', () => {
  it.each([
    [0, 0],
    [0.02, 20_000],
    [0.000_000_4, 0],
    [0.123_456_7, 123_457],
    [100, 100_000_000],
  ])('%d USD are %d micro-dollars', (usd, micros) => expect(billedUsd(usd)).toBe(micros));

  it.each([...nonsense, '0.02', 100.01])('%j is no bill', (usd) => expect(billedUsd(usd)).toBeUndefined());
});

describe('a number of units', () => {
  it.each([
    [4, 20_000],
    ['1.5', 7_500],
    ['0', 0],
    [3.008, 15_040],
  ])('%j units at 0.005 USD are %d micro-dollars', (units, micros) =>
    expect(billedUnits(units, fromUsd(0.005))).toBe(micros),
  );

  it.each(nonsense)('%j units are no bill', (units) =>
    expect(billedUnits(units, fromUsd(0.005))).toBeUndefined(),
  );

  it('Units without a price are no bill', () => expect(billedUnits(4, undefined)).toBeUndefined());
});

describe('a number of tokens', () => {
  const prices = { text_in: 5, image_in: 8, image_out: 30, text_out: null };
  const counts: TokenCounts = { text_in: 14, image_in: 100, image_out: 196, text_out: 0 };

  it('Each kind of token has its price', () => {
    expect(billedTokens(counts, prices)).toBe(asMicros(14 * 5 + 100 * 8 + 196 * 30));
    expect(billedTokens({ ...counts, text_out: 10 }, { ...prices, text_out: 7.5 })).toBe(
      asMicros(14 * 5 + 100 * 8 + 196 * 30 + 75),
    );
  });

  it.each(['text_in', 'image_in', 'image_out', 'text_out'])('Nonsense for %s is no bill', (name) => {
    for (const value of nonsense) expect(billedTokens({ ...counts, [name]: value }, prices)).toBeUndefined();
  });

  it('No tokens of a picture, text that has no price, and tokens without prices are no bill', () => {
    expect(billedTokens({ ...counts, image_out: 0 }, prices)).toBeUndefined();
    expect(billedTokens({ ...counts, text_out: 1 }, prices)).toBeUndefined();
    expect(billedTokens(counts, undefined)).toBeUndefined();
  });
});
