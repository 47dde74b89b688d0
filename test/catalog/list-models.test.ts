/** GET /models, quotes and submissions agree about each model, whichever providers are enabled. */
import { describe, expect, it, test } from 'vitest';
import type { Caller } from '../../service/api/admit.ts';
import { listModels } from '../../service/api/list-models.ts';
import type { CatalogServices } from '../../service/api/open.ts';
import type { ApiRequest } from '../../service/api/request.ts';
import type { Model, Catalog } from '../../service/catalog/catalog-schema.ts';
import { type Plan, planCreation } from '../../service/generate/plan.ts';
import { stub } from '../api/fakes.ts';
import { anAccount, anApiKey, now } from '../fixtures/records.ts';
import { catalog } from './catalog-fixture.ts';
import { deprecationHeaders, deprecationHeadersOf } from '../../service/catalog/sold-catalog.ts';
import { tiers } from '../../service/contract/request-fields.ts';
import models from '../../service/catalog/models.json' with { type: 'json' };

interface View {
  readonly id: string;
  readonly available: boolean;
  readonly resolutions: readonly string[];
  readonly aspect_ratios: readonly string[];
  readonly output_formats: readonly string[];
  readonly default_resolution: string;
  readonly default_aspect_ratio: string;
  readonly default_output_format: string;
  readonly pricing: readonly { readonly resolution: string; readonly usd: number }[];
  readonly qualities: readonly string[];
  readonly quality_pricing: readonly {
    readonly quality: string;
    readonly resolution: string;
    readonly usd: number;
  }[];
}

function callerWith(enabledProviders: readonly string[]): Caller {
  const state = { rateCount: 0, openCreations: 0, enabledProviders };
  // The sandboxes need no credential, so only the account's policy can switch them off.
  return {
    account: anAccount({ policy: { providers: enabledProviders, hiddenModels: [] } }),
    apiKey: anApiKey(),
    nowMillis: now,
    state,
    rateSlot: stub({}),
  };
}

async function listed(caller: Caller): Promise<readonly View[]> {
  const { body } = await listModels(
    stub<ApiRequest>({ query: {} }),
    caller,
    stub<CatalogServices>({ catalog }),
  );
  return (body as { data: readonly View[] }).data;
}

function subsetsOf(names: readonly string[]): string[][] {
  return names.reduce<string[][]>((sets, name) => [...sets, ...sets.map((set) => [...set, name])], [[]]);
}

/**
 * What a model offers depends on its own providers alone, so these sets show each model with every choice of its
 * providers.
 */
const subsets = [
  ...new Map(
    catalog.models
      .flatMap(({ routes }) => subsetsOf([...new Set(routes.map(({ provider }) => provider))].sort()))
      .map((names) => [names.join(), names]),
  ).values(),
];

function planOf(model: Model['id'], caller: Caller, change: object = {}): Plan {
  return planCreation({ model, prompt: 'a lake', ...change }, caller, { catalog });
}

describe('GET /models over each set of providers that sell a model together', () => {
  it('An available model renders the least request with exactly the listed defaults and price', async () => {
    let available = 0;
    for (const names of subsets) {
      const caller = callerWith(names);
      for (const view of await listed(caller)) {
        if (!view.available) {
          expect(() => planOf(view.id, caller)).toThrow('No provider');
          continue;
        }
        available += 1;
        const { request, routes, costMicros } = planOf(view.id, caller);
        expect(routes.length).toBeGreaterThan(0);
        expect([request.resolution, request.aspectRatio, request.outputFormat]).toEqual([
          view.default_resolution,
          view.default_aspect_ratio,
          view.default_output_format,
        ]);
        expect(view.resolutions).toContain(view.default_resolution);
        expect(view.aspect_ratios).toContain(view.default_aspect_ratio);
        expect(view.output_formats).toContain(view.default_output_format);
        expect(view.pricing.map(({ resolution }) => resolution)).toEqual(view.resolutions);
        expect(view.pricing.find(({ resolution }) => resolution === view.default_resolution)?.usd).toBe(
          costMicros / 1_000_000,
        );
      }
    }
    // Each model is available for every set that contains one of its providers.
    expect(available).toBeGreaterThan(subsets.length);
  });

  it('Each listed quality is rendered at its listed price, and every other one is refused', async () => {
    let rendered = 0;
    for (const names of subsets) {
      const caller = callerWith(names);
      for (const view of await listed(caller)) {
        if (!view.available) expect([view.qualities, view.quality_pricing]).toEqual([[], []]);
        for (const { quality, resolution, usd } of view.quality_pricing) {
          const { costMicros, routes } = planOf(view.id, caller, { quality, resolution });
          expect(costMicros).toBe(Math.round(usd * 1_000_000));
          for (const route of routes) expect([route.quality, ...(route.qualities ?? [])]).toContain(quality);
          rendered += 1;
        }
        for (const quality of tiers.filter((tier) => !view.qualities.includes(tier)))
          expect(() => planOf(view.id, caller, { quality })).toThrow();
      }
    }
    expect(rendered).toBeGreaterThan(subsets.length);
  });

  it('Each listed value renders together with the defaults', async () => {
    for (const names of subsets) {
      const caller = callerWith(names);
      for (const view of await listed(caller)) {
        for (const resolution of view.resolutions)
          expect(planOf(view.id, caller, { resolution }).request.resolution).toBe(resolution);
        for (const ratio of view.aspect_ratios)
          expect(planOf(view.id, caller, { aspect_ratio: ratio }).request.aspectRatio).toBe(ratio);
        for (const format of view.output_formats)
          expect(planOf(view.id, caller, { output_format: format }).request.outputFormat).toBe(format);
      }
    }
  });
});

it('GET /models offers sandbox-pro at 2K when only the second sandbox is enabled, and 2K is rendered', async () => {
  const caller = callerWith(['sandbox-large']);
  const view = (await listed(caller)).find(({ id }) => id === 'sandbox-pro');
  expect(view).toMatchObject({ resolutions: ['2K', '4K'], default_resolution: '2K' });
  expect(planOf('sandbox-pro', caller).costMicros).toBe(120_000);
});

test('A model that stays has no headers about its deprecation', () => {
  expect(deprecationHeaders({ deprecated_at: null, sunset_at: null })).toEqual({});
});

test('A model that goes away has the headers Deprecation, Sunset and Link in the form of their RFCs', () => {
  expect(deprecationHeaders({ deprecated_at: '2026-12-01', sunset_at: '2027-06-01' })).toEqual({
    deprecation: '@1796083200',
    sunset: 'Tue, 01 Jun 2027 00:00:00 GMT',
    link: '</api/public/v1/models>; rel="deprecation"',
  });
});

test('The model of a creation is found by its id, and a model outside the catalog has no headers', () => {
  const [leaving, ...others] = (models as Catalog).models;
  if (!leaving) throw new Error('the catalog is empty');
  const catalog: Catalog = {
    models: [...others, { ...leaving, deprecated_at: '2026-12-01', sunset_at: '2027-06-01' }],
  };
  expect(deprecationHeadersOf(catalog, leaving.id)).toMatchObject({
    deprecation: '@1796083200',
    sunset: 'Tue, 01 Jun 2027 00:00:00 GMT',
  });
  expect(deprecationHeadersOf(catalog, others[0]?.id ?? '')).toEqual({});
  expect(deprecationHeadersOf({ models: others }, leaving.id)).toEqual({});
});
