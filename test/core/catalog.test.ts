import { describe, expect, it } from 'vitest';
import models from '../../catalog/models.json' with { type: 'json' };
import { enabledRoutes, findModel, offered, routesFor, type Model, type ModelPolicy, type Route } from '../../core/catalog.ts';
import { catalogSchema } from '../../core/catalog-schema.ts';
import { aspectRatios, resolutions } from '../../core/image-formats.ts';
import { priceOf } from '../../core/pricing.ts';

const catalog = catalogSchema.parse(models);
const everything: ModelPolicy = { providers: 'all', hiddenModels: [] };
const model = (id: string): Model => {
  const found = findModel(catalog, everything, id);
  if (!found) throw new Error(`the catalog has no ${id}`);
  return found;
};
const change = (edit: (draft: typeof models) => void): unknown => {
  const draft = structuredClone(models);
  edit(draft);
  return draft;
};
const first = (draft: typeof models): (typeof models)['models'][number] => {
  if (!draft.models[0]) throw new Error('the catalog is empty');
  return draft.models[0];
};

describe('catalog/models.json', () => {
  it('names every model once, as a sandbox', () => {
    const ids = catalog.models.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toContain('sandbox');
  });

  it.each(catalog.models.map((known) => [known.id, known] as const))('%s can render and sell what it does when nothing else is asked', (_id, known) => {
    const shape = {
      resolution: known.default_resolution,
      aspectRatio: known.default_aspect_ratio,
      outputFormat: known.default_output_format,
      imageCount: 0,
    };
    expect(routesFor(known.routes, shape).length).toBeGreaterThan(0);
    expect(priceOf(known, known.default_resolution, 0)).toBeGreaterThan(0);
  });

  it.each(catalog.models.map((known) => [known.id, known] as const))('%s has one price for each resolution that a route renders, and for no other', (_id, known) => {
    const rendered = offered(resolutions, known.routes, (route) => route.resolutions);
    expect(known.pricing.map(({ resolution }) => resolution).sort()).toEqual([...rendered].sort());
  });

  it.each(catalog.models.map((known) => [known.id, known] as const))('%s says of each route what every resolution costs us', (_id, known) => {
    for (const route of known.routes) {
      expect(route.provider_cost.map(({ resolution }) => resolution)).toEqual(route.resolutions);
      expect(route.max_image_urls).toBeLessThanOrEqual(known.max_image_urls);
    }
  });

  it('has models of different prices, resolutions, ratios and image input over both providers', () => {
    const prices = catalog.models.map((known) => priceOf(known, known.default_resolution, 0));
    expect(new Set(prices).size).toBe(prices.length);
    const routes = catalog.models.flatMap((known) => known.routes);
    expect([...new Set(routes.map(({ provider }) => provider))].sort()).toEqual(['sandbox', 'sandbox-large']);
    expect(offered(resolutions, routes, (route) => route.resolutions)).toEqual(['1K', '2K', '4K']);
    expect(offered(aspectRatios, routes, (route) => route.aspect_ratios)).toEqual(aspectRatios);
    expect(new Set(catalog.models.map(({ max_image_urls: most }) => most > 0)).size).toBe(2);
    for (const { resolutions: rendered } of routes.filter(({ provider }) => provider === 'sandbox')) expect(rendered).not.toContain('4K');
    for (const { resolutions: rendered } of routes.filter(({ provider }) => provider === 'sandbox-large')) expect(rendered).not.toContain('1K');
  });
});

describe('the schema of the catalog refuses', () => {
  it.each<[string, (draft: typeof models) => void]>([
    ['an unknown field', (draft) => Object.assign(first(draft), { colour: 'red' })],
    ['a price of more than 6 decimals', (draft) => Object.assign(first(draft).pricing[0] ?? {}, { usd: 0.000_000_1 })],
    ['a negative price', (draft) => Object.assign(first(draft).pricing[0] ?? {}, { usd: -0.01 })],
    ['an id with spaces', (draft) => Object.assign(first(draft), { id: 'sandbox sketch' })],
    ['a resolution that does not exist', (draft) => Object.assign(first(draft), { default_resolution: '8K' })],
    ['a prompt longer than 10,000 characters', (draft) => Object.assign(first(draft), { max_prompt_length: 10_001 })],
    ['a model without a route', (draft) => Object.assign(first(draft), { routes: [] })],
    ['a date that is none', (draft) => Object.assign(first(draft), { sunset_at: '2026-02-30' })],
    ['an empty catalog', (draft) => Object.assign(draft, { models: [] })],
  ])('%s', (_what, edit) => {
    expect(catalogSchema.safeParse(change(edit)).success).toBe(false);
  });
});

describe('what an account may use', () => {
  it('is the model, unless it is hidden from it or does not exist', () => {
    expect(findModel(catalog, everything, 'sandbox-pro')?.id).toBe('sandbox-pro');
    expect(findModel(catalog, { ...everything, hiddenModels: ['sandbox-pro'] }, 'sandbox-pro')).toBeUndefined();
    expect(findModel(catalog, everything, 'Sandbox-Pro')).toBeUndefined();
  });

  it('is the routes of its providers, in their order', () => {
    const providers = (policy: ModelPolicy): string[] => enabledRoutes(model('sandbox-pro'), policy).map(({ provider }) => provider);
    expect(providers(everything)).toEqual(['sandbox', 'sandbox-large']);
    expect(providers({ ...everything, providers: ['sandbox-large'] })).toEqual(['sandbox-large']);
    expect(providers({ ...everything, providers: ['sandbox-large', 'sandbox'] })).toEqual(['sandbox', 'sandbox-large']);
    expect(providers({ ...everything, providers: [] })).toEqual([]);
  });
});

describe('the routes for what is asked', () => {
  const { routes } = model('sandbox-pro');
  const asked = { resolution: '2K', aspectRatio: '16:9', outputFormat: 'png', imageCount: 0 } as const;
  const found = (shape: Partial<Parameters<typeof routesFor>[1]>): string[] => routesFor(routes, { ...asked, ...shape }).map(({ provider }) => provider);

  it.each<[string, Partial<Parameters<typeof routesFor>[1]>, string[]]>([
    ['a size that both render', {}, ['sandbox', 'sandbox-large']],
    ['a size of the first alone', { resolution: '1K' }, ['sandbox']],
    ['a size of the second alone', { resolution: '4K' }, ['sandbox-large']],
    ['a ratio of the second alone', { aspectRatio: '21:9' }, ['sandbox-large']],
    ['a size and a ratio that no single route has', { resolution: '1K', aspectRatio: '21:9' }, []],
    ['a format that none has', { outputFormat: 'webp' }, []],
    ['as many images as they take', { imageCount: 10 }, ['sandbox', 'sandbox-large']],
    ['one image more', { imageCount: 11 }, []],
  ])('%s', (_what, shape, providers) => {
    expect(found(shape)).toEqual(providers);
  });

  it('together offer everything in the order of the list', () => {
    const some = routes.slice(1) as readonly Route[];
    expect(offered(resolutions, some, (route) => route.resolutions)).toEqual(['2K', '4K']);
    expect(offered(resolutions, [], (route) => route.resolutions)).toEqual([]);
  });
});

describe('the price of a creation', () => {
  it.each<[string, '1K' | '2K' | '4K', number, number | undefined]>([
    ['sandbox-sketch', '1K', 0, 10_000],
    ['sandbox-standard', '1K', 0, 40_000],
    ['sandbox-standard', '2K', 0, 80_000],
    ['sandbox-standard', '1K', 3, 55_000],
    ['sandbox-pro', '4K', 10, 340_000],
    ['sandbox-sketch', '2K', 0, undefined],
  ])('of %s at %s with %d source images is %j micro-dollars', (id, resolution, images, micros) => {
    expect(priceOf(model(id), resolution, images)).toBe(micros);
  });
});
