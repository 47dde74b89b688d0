import { describe, expect, it } from 'vitest';
import { catalogSchema, providerCostsSchema } from '../../service/catalog/catalog-schema.ts';

const sourceLimits = {
  content_types: ['image/png'],
  max_bytes: 1,
  min_side: 1,
  max_side: 1,
  max_pixels: 1,
};
const route = {
  provider: 'sandbox',
  provider_model: 'p',
  quality: null,
  resolutions: ['1K'],
  aspect_ratios: ['1:1'],
  output_formats: ['png'],
  max_prompt_length: 1,
  needs_prompt: true,
  max_image_urls: 0,
  source_limits: null,
};
const price = { resolution: '1K', usd: 0, usd_per_input_image: 0 };
/** The least of a model that the schema takes: every number and every text is at its lower limit. */
const least = {
  id: 'ab',
  name: 'n',
  description: 'd',
  max_prompt_length: 1,
  max_image_urls: 0,
  default_resolution: '1K',
  default_aspect_ratio: '1:1',
  default_output_format: 'png',
  pricing: [price],
  deprecated_at: null,
  sunset_at: null,
  routes: [route],
};

/** "path: message" of each problem of a catalog with this model; none when the catalog is taken. */
function problemsOf(model: object): string[] {
  const parsed = catalogSchema.safeParse({ models: [model] });
  return (parsed.error?.issues ?? []).map(({ path, message }) => `${path.slice(2).join('.')}: ${message}`);
}
const isTaken = (model: object): boolean => problemsOf(model).length === 0;
const modelWith = (change: object): object => ({ ...least, ...change });
const routeWith = (change: object): object => ({ ...least, routes: [{ ...route, ...change }] });
const priceWith = (change: object): object => ({ ...least, pricing: [{ ...price, ...change }] });
const limitsWith = (change: object): object => routeWith({ source_limits: { ...sourceLimits, ...change } });

describe('the schema of the catalog', () => {
  it('The schema takes a model that has the least of everything', () => {
    expect(problemsOf(least)).toEqual([]);
  });

  it('The schema takes a model that has the most of everything', () => {
    const most = {
      ...least,
      id: `0${'a'.repeat(61)}.-`,
      max_prompt_length: 10_000,
      max_image_urls: 10,
      routes: [
        {
          ...route,
          quality: 'max',
          resolutions: ['1K', '2K', '4K'],
          output_formats: ['png', 'jpeg', 'webp'],
          max_prompt_length: 10_000,
          needs_prompt: false,
          max_image_urls: 10,
          source_limits: { ...sourceLimits, content_types: ['image/jpeg', 'image/png', 'image/webp'] },
        },
      ],
    };
    expect(problemsOf(most)).toEqual([]);
  });

  // The upper limits of a route are those of the whole API: docs/api.md.
  it.each<[string, object]>([
    ['an unknown field', modelWith({ colour: 'red' })],
    ['an unknown field of a route', routeWith({ colour: 'red' })],
    ['an unknown field of a price', priceWith({ colour: 'red' })],
    ['an unknown field of source limits', limitsWith({ colour: 'red' })],
    ['an id with a space', modelWith({ id: 'a b' })],
    ['an id in upper case', modelWith({ id: 'Ab' })],
    ['an id of one character', modelWith({ id: 'a' })],
    ['an id of 65 characters', modelWith({ id: 'a'.repeat(65) })],
    ['an id that begins with a hyphen', modelWith({ id: '-ab' })],
    ['an empty name', modelWith({ name: '' })],
    ['an empty description', modelWith({ description: '' })],
    ['a longest prompt of 0 characters', modelWith({ max_prompt_length: 0 })],
    ['a longest prompt of 10,001 characters', modelWith({ max_prompt_length: 10_001 })],
    ['a longest prompt of half a character more', modelWith({ max_prompt_length: 1.5 })],
    ['fewer than no source images', modelWith({ max_image_urls: -1 })],
    ['eleven source images', modelWith({ max_image_urls: 11 })],
    ['a default resolution that does not exist', modelWith({ default_resolution: '8K' })],
    ['a default ratio that does not exist', modelWith({ default_aspect_ratio: '2:1' })],
    ['a default format that does not exist', modelWith({ default_output_format: 'gif' })],
    ['a model without a price', modelWith({ pricing: [] })],
    ['a model without a route', modelWith({ routes: [] })],
    ['a date that does not exist', modelWith({ deprecated_at: '2026-02-30' })],
    ['a time in the place of a date', modelWith({ deprecated_at: '2026-02-03T00:00:00Z' })],
    ['a price of a resolution that does not exist', priceWith({ resolution: '8K' })],
    ['a negative price', priceWith({ usd: -0.01 })],
    ['a negative price of a source image', priceWith({ usd_per_input_image: -0.01 })],
    ['a provider that does not exist', routeWith({ provider: 'nobody' })],
    ['an empty name of the model at its provider', routeWith({ provider_model: '' })],
    ['a quality that does not exist', routeWith({ quality: 'best' })],
    ['a route without a resolution', routeWith({ resolutions: [] })],
    ['a route without a ratio', routeWith({ aspect_ratios: [] })],
    ['a route without a format', routeWith({ output_formats: [] })],
    ['a longest prompt of a route of 0 characters', routeWith({ max_prompt_length: 0 })],
    ['a longest prompt of a route of 10,001 characters', routeWith({ max_prompt_length: 10_001 })],
    ['a route with fewer than no source images', routeWith({ max_image_urls: -1 })],
    ['a route with eleven source images', routeWith({ max_image_urls: 11 })],
    ['source limits without a type', limitsWith({ content_types: [] })],
    ['source limits with a type that cannot be read', limitsWith({ content_types: ['image/gif'] })],
    ['source limits of 0 bytes', limitsWith({ max_bytes: 0 })],
    ['a shorter side of 0 pixels', limitsWith({ min_side: 0 })],
    ['a shorter side of one and a half pixels', limitsWith({ min_side: 1.5 })],
    ['a longer side of 0 pixels', limitsWith({ max_side: 0 })],
    ['source limits of 0 pixels', limitsWith({ max_pixels: 0 })],
  ])('The schema refuses %s', (_what, model) => {
    expect(isTaken(model)).toBe(false);
  });

  it('The schema takes source limits of one byte and one pixel', () => {
    expect(isTaken(limitsWith({}))).toBe(true);
  });

  it('The schema refuses a catalog without models', () => {
    expect(catalogSchema.safeParse({ models: [] }).success).toBe(false);
  });

  it('The schema refuses a price of more than 6 decimals, and says so', () => {
    const tooFine = 'must have at most 6 decimals';
    expect(problemsOf(priceWith({ usd: 0.000_000_1 }))).toEqual([`pricing.0.usd: ${tooFine}`]);
    expect(problemsOf(priceWith({ usd: 0.000_001 }))).toEqual([]);
  });
});

describe('the notice before the sunset of a model', () => {
  it.each([
    ['a deprecation without a sunset', '2026-12-01', null],
    ['a sunset six months after its deprecation', '2026-12-01', '2027-06-01'],
    ['a sunset a year after its deprecation', '2026-12-01', '2027-12-01'],
    ['a sunset six months after the end of August', '2026-08-31', '2027-03-03'],
  ])('The schema takes %s', (_what, deprecated_at, sunset_at) => {
    expect(problemsOf(modelWith({ deprecated_at, sunset_at }))).toEqual([]);
  });

  const tooShort = ['sunset_at: needs a deprecated_at at least 6 months before it'];
  it.each([
    ['a sunset without a deprecation', null, '2027-06-01'],
    ['a sunset one day less than six months after its deprecation', '2026-12-02', '2027-06-01'],
    ['a sunset before its deprecation', '2026-12-01', '2026-06-01'],
    // Six months after 31 August is 31 February, which JavaScript reads as 3 March.
    ['a sunset five days less than six months after the end of August', '2026-08-31', '2027-03-02'],
  ])('The schema refuses %s, because the notice is too short', (_what, deprecated_at, sunset_at) => {
    expect(problemsOf(modelWith({ deprecated_at, sunset_at }))).toEqual(tooShort);
  });
});

describe('the successor of a model', () => {
  const old = { ...least, deprecated_at: '2026-12-01', successor: 'bb' };
  const areTaken = (...models: object[]): boolean => catalogSchema.safeParse({ models }).success;

  it('A deprecated model may name the model that clients should use instead', () => {
    expect(areTaken(old, { ...least, id: 'bb' })).toBe(true);
  });

  it.each<[string, object[]]>([
    ['names a model that does not exist', [old]],
    ['names itself', [{ ...old, successor: 'ab' }]],
    ['names a deprecated model', [old, { ...least, id: 'bb', deprecated_at: '2026-12-01' }]],
    [
      'is not deprecated itself',
      [
        { ...old, deprecated_at: null },
        { ...least, id: 'bb' },
      ],
    ],
  ])('The schema refuses a successor when the model %s', (_what, models) => {
    expect(areTaken(...models)).toBe(false);
  });
});

describe('the schema of what providers cost', () => {
  const cost = {
    provider: 'openai',
    provider_model: 'm',
    quality: null,
    images: [price],
    source: 'https://vendor.test/pricing',
    checked_at: '2026-11-21',
  };
  const tokens = { text_in: 5, image_in: 8, image_out: 30, text_out: null };
  const takes = (change: object): boolean =>
    providerCostsSchema.safeParse({ costs: [{ ...cost, ...change }] }).success;

  it('The schema takes a cost with its source and the day on which the source was read', () => {
    expect(takes({})).toBe(true);
    expect(takes({ source: null, quality: 'low' })).toBe(true);
    expect(takes({ tokens, usd_per_unit: 0.005 })).toBe(true);
    expect(takes({ tokens: { ...tokens, text_out: 7.5 } })).toBe(true);
  });

  it.each<[string, object]>([
    ['an unknown field', { colour: 'red' }],
    ['a cost without images', { images: [] }],
    ['an unknown field of an image', { images: [{ ...price, colour: 'red' }] }],
    ['a source that is no address', { source: 'the price list' }],
    ['a cost that was never checked', { checked_at: null }],
    ['a provider that does not exist', { provider: 'nobody' }],
    ['tokens without the price of a picture', { tokens: { ...tokens, image_out: 0 } }],
    ['an unknown kind of token', { tokens: { ...tokens, sound_out: 1 } }],
    ['a unit below zero', { usd_per_unit: -1 }],
  ])('The schema of costs refuses %s', (_what, change) => {
    expect(takes(change)).toBe(false);
  });

  it('The schema of costs refuses a file without costs', () => {
    expect(providerCostsSchema.safeParse({ costs: [] }).success).toBe(false);
  });
});

describe('the qualities of a model', () => {
  const inQuality = (id: string, quality: string | null, of?: string): object => ({
    ...least,
    id,
    ...(of !== undefined && { quality_of: of }),
    routes: [{ ...route, quality }],
  });
  const areTaken = (...models: object[]): boolean => catalogSchema.safeParse({ models }).success;

  it('A model may be another quality of one that has a quality of its own', () => {
    expect(
      areTaken(inQuality('aa', 'medium'), inQuality('bb', 'low', 'aa'), inQuality('cc', 'high', 'aa')),
    ).toBe(true);
  });

  it.each<[string, object[]]>([
    ['names a model that does not exist', [inQuality('bb', 'low', 'aa')]],
    ['names itself', [inQuality('aa', 'low', 'aa')]],
    [
      'names one that names another',
      [inQuality('aa', 'low'), inQuality('bb', 'high', 'aa'), inQuality('cc', 'medium', 'bb')],
    ],
    ['has the quality of the one that it names', [inQuality('aa', 'low'), inQuality('bb', 'low', 'aa')]],
    ['names one without a quality', [inQuality('aa', null), inQuality('bb', 'low', 'aa')]],
  ])('A catalog is refused when a model %s', (_what, models) => {
    expect(areTaken(...models)).toBe(false);
  });
});
