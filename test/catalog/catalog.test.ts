import { describe, expect, it } from 'vitest';
import type { ModelPolicy } from '../../service/accounts/account.ts';
import type { Model, Route } from '../../service/catalog/catalog-schema.ts';
import {
  enabledRoutes,
  findModel,
  isSunset,
  offered,
  priceOf,
  routesFor,
  routesTaking,
} from '../../service/catalog/catalog.ts';
import { resolutions } from '../../service/contract/request-fields.ts';
import { anyRoute, catalog, everything, model } from './catalog-fixture.ts';

describe('a model with a sunset', () => {
  it.each([
    ['a millisecond before the day of its sunset', Date.UTC(2027, 5, 1) - 1, false],
    ['at the first instant of that day in UTC', Date.UTC(2027, 5, 1), true],
    ['long after', Date.UTC(2030, 0, 1), true],
  ])('A model is past its sunset %s: %j', (_when, nowMillis, isOver) => {
    expect(isSunset({ sunset_at: '2027-06-01' }, nowMillis)).toBe(isOver);
    expect(isSunset({ sunset_at: null }, nowMillis)).toBe(false);
  });
});

describe('the models and routes of an account', () => {
  it('A model is found unless the account may not see it or it does not exist', () => {
    expect(findModel(catalog, everything, 'sandbox-pro')?.id).toBe('sandbox-pro');
    expect(
      findModel(catalog, { ...everything, hiddenModels: ['sandbox-pro'] }, 'sandbox-pro'),
    ).toBeUndefined();
    expect(findModel(catalog, everything, 'Sandbox-Pro')).toBeUndefined();
  });

  it('The routes of an account are those of the allowed providers, in the order of the catalog', () => {
    const providers = (policy: ModelPolicy): string[] =>
      enabledRoutes(model('sandbox-pro'), policy, { enabledProviders: [] }).map(({ provider }) => provider);
    expect(providers(everything)).toEqual(['sandbox', 'sandbox-large']);
    expect(providers({ ...everything, providers: ['sandbox-large'] })).toEqual(['sandbox-large']);
    expect(providers({ ...everything, providers: ['sandbox-large', 'sandbox'] })).toEqual([
      'sandbox',
      'sandbox-large',
    ]);
    expect(providers({ ...everything, providers: [] })).toEqual([]);
  });

  it('The routes of an account include a provider only when the operator has enabled and not paused the provider', () => {
    const known: Model = {
      ...model('sandbox-pro'),
      routes: (['bfl', 'fal', 'bedrock', 'sandbox'] as const).map((provider) => ({
        ...anyRoute(),
        provider,
      })),
    };
    const enabled = (names: readonly string[]): string[] =>
      enabledRoutes(known, everything, { enabledProviders: names }).map(({ provider }) => provider);
    expect(enabled([])).toEqual(['sandbox']);
    expect(enabled(['fal'])).toEqual(['fal', 'sandbox']);
    expect(enabled(['bedrock', 'bfl', 'fal'])).toEqual(['bfl', 'fal', 'bedrock', 'sandbox']);
    const switches = { enabledProviders: ['bfl', 'fal'], pausedProviders: ['fal', 'sandbox'] };
    expect(enabledRoutes(known, everything, switches).map(({ provider }) => provider)).toEqual(['bfl']);
  });

  it('A pause of one route leaves the other routes of its provider', () => {
    const route = { ...anyRoute(), provider: 'fal' };
    const routes = [
      { ...route, provider_model: 'flux', quality: null },
      { ...route, provider_model: 'flux', quality: 'high' as const },
      { ...route, provider_model: 'sana', quality: null },
    ];
    const left = (...pausedProviders: readonly string[]): string[] =>
      enabledRoutes({ ...model('sandbox-pro'), routes }, everything, {
        enabledProviders: ['fal'],
        pausedProviders,
      }).map(({ provider_model: name, quality }) => [name, quality ?? ''].join(' ').trim());
    expect(left('fal#flux#')).toEqual(['flux high', 'sana']);
    expect(left('fal#flux#high')).toEqual(['flux', 'sana']);
    expect(left('bfl#flux#')).toEqual(['flux', 'flux high', 'sana']);
  });
});

describe('the routes for a request', () => {
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
    ['a resolution that both render', {}, ['sandbox', 'sandbox-large']],
    ['a resolution that only the first renders', { resolution: '1K' }, ['sandbox']],
    ['a resolution that only the second renders', { resolution: '4K' }, ['sandbox-large']],
    ['a ratio that only the second renders', { aspectRatio: '21:9' }, ['sandbox-large']],
    [
      'a resolution and a ratio that no single route renders together',
      { resolution: '1K', aspectRatio: '21:9' },
      [],
    ],
    ['a format that no route renders', { outputFormat: 'webp' }, []],
    ['the most source images', { imageCount: 10 }, ['sandbox', 'sandbox-large']],
    ['one source image too many', { imageCount: 11 }, []],
    ['the longest prompt', { promptLength: 10_000 }, ['sandbox', 'sandbox-large']],
    ['a prompt that is one character too long', { promptLength: 10_001 }, []],
    ['a source image without a prompt', { promptLength: 0, imageCount: 1 }, ['sandbox', 'sandbox-large']],
  ])('The routes for %s are those that can render the request', (_what, shape, providers) => {
    expect(found(shape)).toEqual(providers);
  });

  it('The routes for a request without a prompt leave out the routes that need a prompt', () => {
    const both = [{ ...anyRoute(), needs_prompt: true }, anyRoute()];
    expect(routesFor(both, { ...asked, resolution: '1K', promptLength: 0, imageCount: 1 })).toEqual([
      both[1],
    ]);
    expect(routesFor(both, { ...asked, resolution: '1K', promptLength: 1, imageCount: 1 })).toEqual(both);
  });

  it.each<[string, Partial<Parameters<typeof routesTaking>[1]>, boolean]>([
    ['within every limit', {}, true],
    ['of a type that the route does not take', { contentType: 'image/webp' }, false],
    ['with the most bytes that the route takes', { bytes: 1_000_000 }, true],
    ['with one byte too many', { bytes: 1_000_001 }, false],
    ['with the shortest side that the route takes', { width: 100, height: 200 }, true],
    ['with a side that is one pixel too short', { width: 200, height: 99 }, false],
    ['with the longest side that the route takes', { width: 1_000, height: 200 }, true],
    ['with a side that is one pixel too long', { width: 200, height: 1_001 }, false],
    ['with the most pixels that the route takes', { width: 600, height: 500 }, true],
    ['with too many pixels', { width: 600, height: 501 }, false],
  ])('The routes take a source image %s (%j): %j', (_what, shape, isTaken) => {
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

  it('The routes together offer every value of a list, in the order of the list', () => {
    const some = routes.slice(1);
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
  ])('The price of %s at %s with %d source images is %j micro-dollars', (id, resolution, images, micros) => {
    expect(priceOf(model(id), resolution, images)).toBe(micros);
  });
});
