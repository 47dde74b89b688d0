import { describe, expect, it } from 'vitest';
import {
  isOlderRevision,
  mergeCatalog,
  mergeCosts,
  nextRevision,
  type OperatorCatalog,
} from '../../core/operator-catalog.ts';
import { catalog } from './catalog-fixture.ts';

const pro = catalog.models.find(({ id }) => id === 'sandbox-pro');
const own = { ...pro, name: 'Own', id: undefined };

function merged(models: OperatorCatalog['models']): ReturnType<typeof mergeCatalog> {
  return mergeCatalog(catalog, { revision: '1-a', models });
}

function modelOf(id: string, models: OperatorCatalog['models']): unknown {
  return merged(models).models.find((model) => model.id === id);
}

describe('the merged catalog', () => {
  it('An empty operator’s catalog leaves our models as they are', () => {
    expect(merged({})).toEqual({ models: catalog.models, revision: '1-a' });
  });

  it('A change replaces only the members that it names, and a list as a whole', () => {
    const pricing = [{ resolution: '2K', usd: 1, usd_per_input_image: 0 }];
    expect(modelOf('sandbox-pro', { 'sandbox-pro': { pricing, name: 'Dear' } })).toEqual({
      ...pro,
      pricing,
      name: 'Dear',
    });
  });

  it('Null withdraws a model of ours, and the others keep their order', () => {
    const ids = merged({ 'sandbox-pro': null }).models.map(({ id }) => id);
    expect(ids).toEqual(catalog.models.map(({ id }) => id).filter((id) => id !== 'sandbox-pro'));
  });

  it('A whole model of the operator comes after ours, under the name of its member', () => {
    expect(merged({ own }).models.at(-1)).toEqual({ ...own, id: 'own' });
  });

  it('A date that a change removes, or that a new model does not name, is null', () => {
    const deprecated = { ...catalog, models: [{ ...own, id: 'old', deprecated_at: '2026-01-01' }] };
    const stored = { revision: '1-a', models: { old: { deprecated_at: null } } };
    expect(mergeCatalog(deprecated as typeof catalog, stored).models[0]?.deprecated_at).toBeNull();
    const { deprecated_at: _from, sunset_at: _to, ...dateless } = own;
    expect(modelOf('own', { own: dateless })).toMatchObject({ deprecated_at: null, sunset_at: null });
  });

  it.each(['name', 'description', 'routes', 'pricing', 'max_prompt_length', 'default_aspect_ratio'])(
    'A model without %s is left out: a release has removed what it changed',
    (member) => {
      expect(modelOf('own', { own: { ...own, [member]: null } })).toBeUndefined();
      expect(modelOf('gone', { gone: { name: 'Other' } })).toBeUndefined();
    },
  );

  it('A name of the language is a model like every other, and harms nothing', () => {
    const models = JSON.parse('{"__proto__":{"name":"x"},"constructor":null}') as OperatorCatalog['models'];
    expect(merged(models).models).toEqual(catalog.models);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });
});

describe('the merged costs', () => {
  const cost = {
    provider: 'bfl',
    provider_model: 'flux',
    quality: null,
    images: [],
    source: null,
    checked_at: '2026-11-23',
  };
  it('A cost of the operator replaces ours for the same provider, model and quality, and no other', () => {
    const ours = [cost, { ...cost, quality: 'low' as const }, { ...cost, provider: 'fal' }];
    const dearer = { ...cost, source: 'https://contract.test' };
    expect(mergeCosts({ costs: ours }, [dearer]).costs).toEqual([ours[1], ours[2], dearer]);
    expect(mergeCosts({ costs: ours }, []).costs).toEqual(ours);
  });
});

describe('a revision', () => {
  it('counts on, and tells itself from another one of the same number', () => {
    expect([nextRevision(undefined, 'a'), nextRevision('9-b', 'c')]).toEqual(['1-a', '10-c']);
    expect([isOlderRevision('9-b', '10-a'), isOlderRevision('10-a', '9-b')]).toEqual([true, false]);
    expect(isOlderRevision('9-b', '9-a')).toBe(false);
  });
});
