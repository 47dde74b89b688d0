import { describe, expect, it } from 'vitest';
import type { Model, Route } from '../../service/catalog/catalog-schema.ts';
import { chooseShape, enabledRoutes, priceOf, routesFor } from '../../service/catalog/catalog.ts';
import { aspectRatios, outputFormats, resolutions } from '../../service/contract/request-fields.ts';
import { anyRoute, catalog, everything, model } from '../catalog/catalog-fixture.ts';

describe('the shape of an image that a request leaves open', () => {
  const providersOf = ({ routes }: Model): string[] => [...new Set(routes.map(({ provider }) => provider))];
  /** Every subset of the names, from the empty one to all of them. */
  const subsets = (names: readonly string[]): string[][] =>
    names.reduce<string[][]>((sets, name) => [...sets, ...sets.map((set) => [...set, name])], [[]]);
  const cases = catalog.models.flatMap((known) =>
    subsets(providersOf(known)).map((names) => [known.id, names, known] as const),
  );
  const allowed = (known: Model, names: readonly string[]): readonly Route[] =>
    enabledRoutes(known, { ...everything, providers: names }, { enabledProviders: names });
  const canRender = (routes: readonly Route[], shape: ReturnType<typeof chooseShape>): boolean =>
    routesFor(routes, { ...shape, promptLength: 1, imageCount: 0 }).length > 0;

  it.each(cases)('The shape of %s over the providers %j has a route and a price', (_id, names, known) => {
    const routes = allowed(known, names);
    const shape = chooseShape(known, routes);
    expect(canRender(routes, shape)).toBe(routes.length > 0);
    expect(priceOf(known, shape.resolution, 0)).toBeGreaterThan(0);
  });

  it.each(cases)(
    'The shape of %s over the providers %j has a route beside every named value that a provider renders',
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

  it('The shape is the default of the model when a route renders the default', () => {
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

  it('One route renders the whole shape', () => {
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

  it('The shape never has a resolution without a price', () => {
    const pro = model('sandbox-pro');
    const known: Model = { ...pro, pricing: pro.pricing.filter(({ resolution }) => resolution === '4K') };
    expect(chooseShape(known, pro.routes).resolution).toBe('4K');
  });
});
