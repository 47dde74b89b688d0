import { describe, expect, it } from 'vitest';
import type { Model } from '../../service/catalog/catalog-schema.ts';
import { modelIdOf, readFields } from '../../service/openai/fields.ts';
import { ignoredFields, modelInQuality, sizedBody, toldQuality } from '../../service/openai/plan-body.ts';
import { catalog } from '../catalog/sold-catalog-fixture.ts';

const model = (id: string): Model => {
  const found = catalog.models.find((one) => one.id === id);
  if (!found) throw new Error(`the catalog has no ${id}`);
  return found;
};
const inQuality = (id: string, quality: string): unknown => {
  const found = modelInQuality(model(id), { quality }, catalog);
  return 'id' in found ? found.id : `${found.field} ${found.code}`;
};

describe('the model of a request', () => {
  const aliases = {
    'gpt-image-1': 'sandbox-pro',
    'dall-e-2': 'sandbox-standard',
    'gpt-image-2': 'gpt-image-2-low',
  };

  it.each([
    ['gpt-image-1', 'sandbox-pro'],
    ['gpt-image-2', 'gpt-image-2-low'],
    ['sandbox-sketch', 'sandbox-sketch'],
    ['constructor', 'constructor'],
    [undefined, 'sandbox-standard'],
  ])('%s means %s', (name, expected) => {
    expect(modelIdOf(name, aliases)).toBe(expected);
  });

  it('Without aliases a request that names no model means none', () => {
    expect(modelIdOf(undefined, {})).toBeUndefined();
  });
});

describe('the quality of a request', () => {
  it.each([
    ['gpt-image-2', 'low', 'gpt-image-2-low'],
    ['gpt-image-2', 'medium', 'gpt-image-2'],
    ['gpt-image-2', 'standard', 'gpt-image-2'],
    ['gpt-image-2', 'high', 'gpt-image-2-high'],
    ['gpt-image-2', 'hd', 'gpt-image-2-high'],
    ['gpt-image-2', 'xhigh', 'gpt-image-2-high'],
    ['gpt-image-2', 'max', 'gpt-image-2-high'],
    ['gpt-image-2-low', 'high', 'gpt-image-2-high'],
    ['gpt-image-2.5-flare', 'low', 'gpt-image-2.5-flare-low'],
    ['gpt-image-2.5-flare', 'hd', 'gpt-image-2.5-flare-high'],
    ['gpt-image-2.5-flare', 'xhigh', 'gpt-image-2.5-flare-xhigh'],
    ['gpt-image-2.5-flare-low', 'max', 'gpt-image-2.5-flare-xhigh'],
    ['gpt-image-2.5-sunburst', 'low', 'gpt-image-2.5-sunburst'],
    ['gpt-image-2.6-flare', 'low', 'gpt-image-2.6-flare-low'],
    ['gpt-image-2.6-flare', 'medium', 'gpt-image-2.6-flare'],
    ['gpt-image-2.6-flare-low', 'hd', 'gpt-image-2.6-flare'],
    ['gpt-image-2-high', 'auto', 'gpt-image-2-high'],
    ['gpt-image-2', 'ultra', 'quality unsupported_value'],
    ['gpt-image-2', 'constructor', 'quality unsupported_value'],
    ['sandbox-standard', 'high', 'sandbox-standard'],
    ['sandbox-standard', 'ultra', 'sandbox-standard'],
  ])('%s in %s is %s', (id, quality, expected) => {
    expect(inQuality(id, quality)).toBe(expected);
  });

  it('The answer tells the quality, and the middle one of a model that has no others', () => {
    expect(
      ['gpt-image-2-low', 'gpt-image-2-high', 'gpt-image-2.5-flare-xhigh', 'sandbox-pro'].map((id) =>
        toldQuality(model(id)),
      ),
    ).toEqual(['low', 'high', 'xhigh', 'medium']);
    expect(toldQuality(undefined)).toBe('medium');
  });

  it('A quality that the model does not have is named among the ignored fields, unless it is auto', () => {
    const ignored = (id: string, quality: string): string[] =>
      ignoredFields(readFields({ quality, style: 'vivid' }, 'generate').asked, model(id), catalog);
    expect(ignored('sandbox-standard', 'high')).toEqual(['quality', 'style']);
    expect(ignored('sandbox-standard', 'auto')).toEqual(['style']);
    expect(ignored('gpt-image-2', 'high')).toEqual(['style']);
  });
});

describe('the body of a request with a size', () => {
  const { routes } = model('sandbox-pro');
  const sized = (change: object): unknown =>
    sizedBody(
      { model: 'sandbox-pro', prompt: 'p', ...change },
      { size: { width: 3840, height: 2160 } },
      model('sandbox-pro'),
      routes,
    );

  it('The size becomes a resolution and a ratio', () => {
    expect(sized({})).toEqual({ model: 'sandbox-pro', prompt: 'p', resolution: '4K', aspect_ratio: '16:9' });
  });

  it('Only routes that render the format and take the images count', () => {
    expect(sized({ output_format: 'webp' })).toEqual({
      model: 'sandbox-pro',
      prompt: 'p',
      output_format: 'webp',
    });
  });

  it('A route that takes no source image does not count for an edit', () => {
    const [first, second] = routes;
    if (!first || !second) throw new Error('sandbox-pro has two routes');
    const withImage = { model: 'sandbox-pro', image_urls: ['https://a.test/1.png'] };
    const size = { width: 3840, height: 2160 };
    const none = { ...second, max_image_urls: 0 };
    expect(sizedBody(withImage, { size }, model('sandbox-pro'), [first, none])).toMatchObject({
      resolution: '2K',
    });
  });

  it('The size auto leaves the body as it is', () => {
    const body = { model: 'sandbox-pro', prompt: 'p' };
    expect(sizedBody(body, { size: 'auto' }, model('sandbox-pro'), routes)).toBe(body);
  });
});
