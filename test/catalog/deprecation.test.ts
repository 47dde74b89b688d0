import { expect, test } from 'vitest';
import type { Catalog } from '../../service/catalog/catalog-schema.ts';
import { deprecationHeaders, deprecationHeadersOf } from '../../service/catalog/sold-catalog.ts';
import models from '../../service/catalog/models.json' with { type: 'json' };

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
