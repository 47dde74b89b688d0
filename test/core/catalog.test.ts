import { describe, expect, it } from 'vitest';
import models from '../../catalog/models.json' with { type: 'json' };
import providerCosts from '../../catalog/provider-costs.json' with { type: 'json' };
import {
  chooseShape,
  enabledRoutes,
  findModel,
  isSunset,
  offered,
  routesFor,
  routesTaking,
  type Model,
  type ModelPolicy,
  type Route,
} from '../../core/catalog.ts';
import { catalogSchema, providerCostsSchema } from '../../core/catalog-schema.ts';
import { aspectRatios, outputFormats, resolutions } from '../../core/image-formats.ts';
import { priceOf } from '../../core/pricing.ts';
import { costOf } from '../../core/provider-costs.ts';

const catalog = catalogSchema.parse(models);
const costs = providerCostsSchema.parse(providerCosts);
const everything: ModelPolicy = { providers: 'all', hiddenModels: [] };
const model = (id: string): Model => {
  const found = findModel(catalog, everything, id);
  if (!found) throw new Error(`the catalog has no ${id}`);
  return found;
};
const anyRoute = (): Route => {
  const [route] = model('sandbox-pro').routes;
  if (!route) throw new Error('sandbox-pro has no route');
  return route;
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
  it('names every model once, and those of the sandbox as such', () => {
    const ids = catalog.models.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, routes } of catalog.models) {
      for (const { provider } of routes)
        expect(provider.startsWith('sandbox')).toBe(id.startsWith('sandbox'));
    }
  });

  it('has each provider once a model and quality, and says where a price was read and what a route takes', () => {
    for (const { id, routes } of catalog.models) {
      const tried = routes.map((route) => `${route.provider} ${route.provider_model} ${route.quality ?? ''}`);
      expect(new Set(tried).size, id).toBe(tried.length);
      for (const route of routes) {
        expect(costOf(costs, route)?.source === null, id).toBe(id.startsWith('sandbox'));
        expect(route.source_limits === null, id).toBe(route.max_image_urls === 0);
      }
    }
  });

  it('sells nothing below what a route costs us', () => {
    for (const known of catalog.models) {
      for (const { resolution, usd, usd_per_input_image: usdPerImage } of known.pricing) {
        for (const cost of known.routes
          .flatMap((route) => costOf(costs, route)?.images ?? [])
          .filter((row) => row.resolution === resolution)) {
          expect(usd, `${known.id} ${resolution}`).toBeGreaterThanOrEqual(cost.usd);
          expect(usdPerImage, `${known.id} ${resolution}`).toBeGreaterThanOrEqual(cost.usd_per_input_image);
        }
      }
    }
  });

  it.each(catalog.models.map((known) => [known.id, known] as const))(
    '%s can render and sell what it does when nothing else is asked',
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

  it.each(catalog.models.map((known) => [known.id, known] as const))(
    '%s has one price for each resolution that a route renders, and for no other',
    (_id, known) => {
      const rendered = offered(resolutions, known.routes, (route) => route.resolutions);
      expect(known.pricing.map(({ resolution }) => resolution).sort()).toEqual([...rendered].sort());
    },
  );

  it.each(catalog.models.map((known) => [known.id, known] as const))(
    '%s says of each route what every resolution costs us',
    (_id, known) => {
      for (const route of known.routes) {
        const costed = costOf(costs, route)?.images.map(({ resolution }) => resolution);
        for (const resolution of route.resolutions) expect(costed).toContain(resolution);
        expect(route.max_image_urls).toBeLessThanOrEqual(known.max_image_urls);
      }
    },
  );

  it('has sandbox models of different prices, resolutions, ratios and image input over both sandboxes', () => {
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

describe('the schema of the catalog refuses', () => {
  it.each<[string, (draft: typeof models) => void]>([
    ['an unknown field', (draft) => Object.assign(first(draft), { colour: 'red' })],
    [
      'a price of more than 6 decimals',
      (draft) => Object.assign(first(draft).pricing[0] ?? {}, { usd: 0.000_000_1 }),
    ],
    ['a negative price', (draft) => Object.assign(first(draft).pricing[0] ?? {}, { usd: -0.01 })],
    ['an id with spaces', (draft) => Object.assign(first(draft), { id: 'sandbox sketch' })],
    [
      'a resolution that does not exist',
      (draft) => Object.assign(first(draft), { default_resolution: '8K' }),
    ],
    [
      'a prompt longer than 10,000 characters',
      (draft) => Object.assign(first(draft), { max_prompt_length: 10_001 }),
    ],
    ['a model without a route', (draft) => Object.assign(first(draft), { routes: [] })],
    [
      'a provider that nobody knows',
      (draft) => Object.assign(first(draft).routes[0] ?? {}, { provider: 'acme' }),
    ],
    ['a date that is none', (draft) => Object.assign(first(draft), { sunset_at: '2026-02-30' })],
    ['an empty catalog', (draft) => Object.assign(draft, { models: [] })],
    ['a sunset without a deprecation', (draft) => Object.assign(first(draft), { sunset_at: '2027-06-01' })],
    [
      'a sunset a day less than six months behind its deprecation',
      (draft) => Object.assign(first(draft), { deprecated_at: '2026-12-02', sunset_at: '2027-06-01' }),
    ],
    [
      'a sunset before its deprecation',
      (draft) => Object.assign(first(draft), { deprecated_at: '2026-12-01', sunset_at: '2026-06-01' }),
    ],
  ])('%s', (_what, edit) => {
    expect(catalogSchema.safeParse(change(edit)).success).toBe(false);
  });
});

/** The first route that takes source images. */
function routeWithSources(draft: typeof models): object {
  for (const { routes } of draft.models)
    for (const route of routes) if (route.source_limits !== null) return route;
  throw new Error('no route takes source images');
}

const oneByOne = { content_types: ['image/png'], max_bytes: 1, min_side: 1, max_side: 1, max_pixels: 1 };

describe('the limits of a source image', () => {
  it('may be as small as one', () => {
    expect(
      catalogSchema.safeParse(
        change((draft) => Object.assign(routeWithSources(draft), { source_limits: oneByOne })),
      ).success,
    ).toBe(true);
  });

  it.each([
    ['max_bytes', 0],
    ['min_side', 0],
    ['max_side', 0],
    ['max_pixels', 0],
    ['min_side', 1.5],
    ['content_types', []],
  ])('are refused with %s of %j', (name, value) => {
    expect(
      catalogSchema.safeParse(
        change((draft) =>
          Object.assign(routeWithSources(draft), { source_limits: { ...oneByOne, [name]: value } }),
        ),
      ).success,
    ).toBe(false);
  });
});

describe('the schema of the catalog takes', () => {
  it.each([
    ['a deprecation without a sunset yet', '2026-12-01', null],
    ['a sunset six months behind its deprecation', '2026-12-01', '2027-06-01'],
    ['a sunset a year behind its deprecation', '2026-12-01', '2027-12-01'],
  ])('%s', (_what, deprecated_at, sunset_at) => {
    expect(
      catalogSchema.safeParse(change((draft) => Object.assign(first(draft), { deprecated_at, sunset_at })))
        .success,
    ).toBe(true);
  });
});

describe('a model with a sunset', () => {
  it.each([
    ['a millisecond before that day', Date.UTC(2027, 5, 1) - 1, false],
    ['from the first instant of that day on, in UTC', Date.UTC(2027, 5, 1), true],
    ['long after', Date.UTC(2030, 0, 1), true],
  ])('%s: over is %j', (_when, nowMillis, isOver) => {
    expect(isSunset({ sunset_at: '2027-06-01' }, nowMillis)).toBe(isOver);
    expect(isSunset({ sunset_at: null }, nowMillis)).toBe(false);
  });
});

describe('what an account may use', () => {
  it('is the model, unless it is hidden from it or does not exist', () => {
    expect(findModel(catalog, everything, 'sandbox-pro')?.id).toBe('sandbox-pro');
    expect(
      findModel(catalog, { ...everything, hiddenModels: ['sandbox-pro'] }, 'sandbox-pro'),
    ).toBeUndefined();
    expect(findModel(catalog, everything, 'Sandbox-Pro')).toBeUndefined();
  });

  it('is the routes of its providers, in their order', () => {
    const providers = (policy: ModelPolicy): string[] =>
      enabledRoutes(model('sandbox-pro'), policy, []).map(({ provider }) => provider);
    expect(providers(everything)).toEqual(['sandbox', 'sandbox-large']);
    expect(providers({ ...everything, providers: ['sandbox-large'] })).toEqual(['sandbox-large']);
    expect(providers({ ...everything, providers: ['sandbox-large', 'sandbox'] })).toEqual([
      'sandbox',
      'sandbox-large',
    ]);
    expect(providers({ ...everything, providers: [] })).toEqual([]);
  });

  it('is of vendors only those that have been enabled', () => {
    const known: Model = {
      ...model('sandbox-pro'),
      routes: (['bfl', 'fal', 'bedrock', 'sandbox'] as const).map((provider) => ({
        ...anyRoute(),
        provider,
      })),
    };
    const enabled = (names: readonly string[]): string[] =>
      enabledRoutes(known, everything, names).map(({ provider }) => provider);
    expect(enabled([])).toEqual(['sandbox']);
    expect(enabled(['fal'])).toEqual(['fal', 'sandbox']);
    expect(enabled(['bedrock', 'bfl', 'fal'])).toEqual(['bfl', 'fal', 'bedrock', 'sandbox']);
  });
});

describe('the routes for what is asked', () => {
  const { routes } = model('sandbox-pro');
  const asked = {
    resolution: '2K',
    aspectRatio: '16:9',
    outputFormat: 'png',
    promptLength: 20,
    imageCount: 0,
  } as const;
  const found = (shape: Partial<Parameters<typeof routesFor>[1]>): string[] =>
    routesFor(routes, { ...asked, ...shape }).map(({ provider }) => provider);

  it.each<[string, Partial<Parameters<typeof routesFor>[1]>, string[]]>([
    ['a size that both render', {}, ['sandbox', 'sandbox-large']],
    ['a size of the first alone', { resolution: '1K' }, ['sandbox']],
    ['a size of the second alone', { resolution: '4K' }, ['sandbox-large']],
    ['a ratio of the second alone', { aspectRatio: '21:9' }, ['sandbox-large']],
    ['a size and a ratio that no single route has', { resolution: '1K', aspectRatio: '21:9' }, []],
    ['a format that none has', { outputFormat: 'webp' }, []],
    ['as many images as they take', { imageCount: 10 }, ['sandbox', 'sandbox-large']],
    ['one image more', { imageCount: 11 }, []],
    ['a prompt of the longest kind', { promptLength: 10_000 }, ['sandbox', 'sandbox-large']],
    ['one character more', { promptLength: 10_001 }, []],
    ['images without a prompt', { promptLength: 0, imageCount: 1 }, ['sandbox', 'sandbox-large']],
  ])('%s', (_what, shape, providers) => {
    expect(found(shape)).toEqual(providers);
  });

  it('leave out those that need a prompt when there is none', () => {
    const both = [{ ...anyRoute(), needs_prompt: true }, anyRoute()];
    expect(routesFor(both, { ...asked, resolution: '1K', promptLength: 0, imageCount: 1 })).toEqual([
      both[1],
    ]);
    expect(routesFor(both, { ...asked, resolution: '1K', promptLength: 1, imageCount: 1 })).toEqual(both);
  });

  it.each<[string, Partial<Parameters<typeof routesTaking>[1]>, boolean]>([
    ['as it is', {}, true],
    ['of a type that is not taken', { contentType: 'image/webp' }, false],
    ['of the most bytes', { bytes: 1_000_000 }, true],
    ['of one byte more', { bytes: 1_000_001 }, false],
    ['of the shortest side', { width: 100, height: 200 }, true],
    ['of a side too short', { width: 200, height: 99 }, false],
    ['of the longest side', { width: 1_000, height: 200 }, true],
    ['of a side too long', { width: 200, height: 1_001 }, false],
    ['of the most pixels', { width: 600, height: 500 }, true],
    ['of more pixels', { width: 600, height: 501 }, false],
  ])('take a source image %s: %j is %j', (_what, shape, isTaken) => {
    const route: Route = {
      ...anyRoute(),
      source_limits: {
        content_types: ['image/png', 'image/jpeg'],
        max_bytes: 1_000_000,
        min_side: 100,
        max_side: 1_000,
        max_pixels: 300_000,
      },
    };
    const source = { contentType: 'image/png', width: 300, height: 300, bytes: 1_000, ...shape };
    expect(routesTaking([route, { ...route, source_limits: null }], source)).toEqual(isTaken ? [route] : []);
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

describe('what is rendered when a request leaves it open', () => {
  const providersOf = ({ routes }: Model): string[] => [...new Set(routes.map(({ provider }) => provider))];
  /** Every subset of the providers of a model, none of them and all of them included. */
  const subsets = (names: readonly string[]): string[][] =>
    names.reduce<string[][]>((sets, name) => [...sets, ...sets.map((set) => [...set, name])], [[]]);
  const cases = catalog.models.flatMap((known) =>
    subsets(providersOf(known)).map((names) => [known.id, names, known] as const),
  );
  const allowed = (known: Model, names: readonly string[]): readonly Route[] =>
    enabledRoutes(known, { ...everything, providers: names }, names);
  const canRender = (routes: readonly Route[], shape: ReturnType<typeof chooseShape>): boolean =>
    routesFor(routes, { ...shape, promptLength: 1, imageCount: 0 }).length > 0;

  it.each(cases)('%s over %j has a route and a price', (_id, names, known) => {
    const routes = allowed(known, names);
    const shape = chooseShape(known, routes);
    expect(canRender(routes, shape)).toBe(routes.length > 0);
    expect(priceOf(known, shape.resolution, 0)).toBeGreaterThan(0);
  });

  it.each(cases)(
    '%s over %j has a route beside whatever is named, where any provider renders that',
    (_id, names, known) => {
      const routes = allowed(known, names);
      const all = {
        resolution: [undefined, ...resolutions],
        aspectRatio: [undefined, ...aspectRatios],
        outputFormat: [undefined, ...outputFormats],
      };
      for (const resolution of all.resolution) {
        for (const aspectRatio of all.aspectRatio) {
          for (const outputFormat of all.outputFormat) {
            const named = { resolution, aspectRatio, outputFormat };
            const isPossible = routes.some(
              (route) =>
                (resolution === undefined || route.resolutions.includes(resolution)) &&
                (aspectRatio === undefined || route.aspect_ratios.includes(aspectRatio)) &&
                (outputFormat === undefined || route.output_formats.includes(outputFormat)),
            );
            const shape = chooseShape(known, routes, named);
            expect(shape).toMatchObject(
              Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
            );
            expect(canRender(routes, shape), JSON.stringify(named)).toBe(isPossible);
          }
        }
      }
    },
  );

  it('is what the model itself says, as long as a route renders that', () => {
    const pro = model('sandbox-pro');
    expect(chooseShape(pro, pro.routes)).toEqual({
      resolution: '1K',
      aspectRatio: '1:1',
      outputFormat: 'jpeg',
    });
    expect(chooseShape(pro, allowed(pro, ['sandbox-large']))).toEqual({
      resolution: '2K',
      aspectRatio: '1:1',
      outputFormat: 'jpeg',
    });
    expect(chooseShape(pro, pro.routes, { aspectRatio: '21:9' })).toEqual({
      resolution: '2K',
      aspectRatio: '21:9',
      outputFormat: 'jpeg',
    });
    expect(chooseShape(pro, [])).toEqual({ resolution: '1K', aspectRatio: '1:1', outputFormat: 'jpeg' });
  });

  it('comes from one route: three values of three routes are no picture', () => {
    const only = (resolution: '1K' | '2K' | '4K', ratio: '1:1' | '3:2', format: 'png' | 'webp'): Route => ({
      ...anyRoute(),
      resolutions: [resolution],
      aspect_ratios: [ratio],
      output_formats: [format],
    });
    const known: Model = { ...model('sandbox-pro'), default_output_format: 'png' };
    const routes = [only('4K', '1:1', 'png'), only('2K', '3:2', 'webp')];
    expect(chooseShape(known, routes)).toEqual({
      resolution: '2K',
      aspectRatio: '3:2',
      outputFormat: 'webp',
    });
    expect(chooseShape(known, routes, { outputFormat: 'png' })).toEqual({
      resolution: '4K',
      aspectRatio: '1:1',
      outputFormat: 'png',
    });
  });

  it('is never a resolution without a price', () => {
    const pro = model('sandbox-pro');
    const known: Model = { ...pro, pricing: pro.pricing.filter(({ resolution }) => resolution === '4K') };
    expect(chooseShape(known, pro.routes).resolution).toBe('4K');
  });
});
