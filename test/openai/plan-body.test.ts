import { describe, expect, it } from 'vitest';
import type { Model } from '../../service/catalog/catalog-schema.ts';
import { modelIdOf, readFields } from '../../service/openai/fields.ts';
import { ignoredFields, modelInQuality, sizedBody, shownQuality } from '../../service/openai/plan-body.ts';
import { catalog } from '../catalog/catalog-fixture.ts';
import { readSize, shapeOf } from '../../service/openai/size.ts';

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

  it('The answer names the quality, which is medium for a model without qualities', () => {
    expect(
      ['gpt-image-2-low', 'gpt-image-2-high', 'gpt-image-2.5-flare-xhigh', 'sandbox-pro'].map((id) =>
        shownQuality(model(id)),
      ),
    ).toEqual(['low', 'high', 'xhigh', 'medium']);
    expect(shownQuality(undefined)).toBe('medium');
  });

  it('A quality that the model does not have is named among the ignored fields, unless it is auto', () => {
    const ignored = (id: string, quality: string): string[] =>
      ignoredFields(readFields({ quality, mood: 'vivid' }, 'generate').asked, model(id), catalog);
    expect(ignored('sandbox-sketch', 'high')).toEqual(['quality', 'mood']);
    expect(ignored('sandbox-standard', 'hd')).toEqual(['mood']);
    expect(ignored('sandbox-standard', 'low')).toEqual(['mood']);
    expect(ignored('sandbox-standard', 'auto')).toEqual(['mood']);
    expect(ignored('gpt-image-2', 'high')).toEqual(['mood']);
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

const shapeFor = (text: string, id = 'gpt-image-2'): string => {
  const size = readSize(text);
  if (size === undefined || size === 'auto') throw new Error('no size');
  const shape = shapeOf(size, model(id), model(id).routes);
  return `${shape?.resolution} ${shape?.aspectRatio}`;
};

describe('the size of a request', () => {
  it.each([
    '1024',
    '1024x',
    'x1024',
    '0x1024',
    '1024x0',
    '-1x1',
    '1e3x1024',
    '1:1',
    '1024x1024x1',
    '',
    ' 1x1',
  ])('"%s" is no size', (text) => {
    expect(readSize(text)).toBeUndefined();
  });

  it('A size is two numbers of pixels, or auto', () => {
    expect(readSize('1792X1024')).toEqual({ width: 1792, height: 1024 });
    expect(readSize('auto')).toBe('auto');
  });

  it.each([
    ['1024x1024', '1K 1:1'],
    ['1536x1024', '1K 3:2'],
    ['1024x1536', '1K 2:3'],
    ['1792x1024', '1K 16:9'],
    ['1024x1792', '1K 9:16'],
    ['512x512', '1K 1:1'],
    ['1920x1080', '1K 16:9'],
    ['2048x1152', '2K 16:9'],
    ['2048x2048', '2K 1:1'],
    ['2560x1440', '2K 16:9'],
    ['2880x2880', '4K 1:1'],
    ['3840x2160', '4K 16:9'],
    // The bounds themselves.
    ['2048x1023', '1K 16:9'],
    ['2048x1024', '2K 16:9'],
    ['2000x2999', '2K 2:3'],
    ['2000x3000', '4K 2:3'],
    ['99999x1', '1K 21:9'],
    ['1x99999', '1K 9:16'],
  ])('%s is %s', (text, expected) => {
    expect(shapeFor(text)).toBe(expected);
  });

  it.each([
    ['the next larger resolution that is sold', '1024x1024', 'sandbox-panorama', '2K 16:9'],
    ['the largest resolution when no larger one is sold', '3840x2160', 'sandbox-standard', '2K 16:9'],
    ['the nearest ratio that this resolution is rendered in', '1680x720', 'sandbox-pro', '1K 16:9'],
    ['the widest ratio at a resolution that has it', '3440x1440', 'sandbox-pro', '2K 21:9'],
  ])('The model renders %s', (_what, text, id, expected) => {
    expect(shapeFor(text, id)).toBe(expected);
  });

  it('A resolution or a ratio that the request names stays', () => {
    const standard = model('sandbox-standard');
    const size = { width: 1024, height: 1024 };
    const shape = (named: Parameters<typeof shapeOf>[3]): unknown =>
      shapeOf(size, standard, standard.routes, named);
    expect(shape({ resolution: '2K' })).toEqual({ resolution: '2K', aspectRatio: '1:1' });
    expect(shape({ aspectRatio: '16:9' })).toEqual({ resolution: '1K', aspectRatio: '16:9' });
  });

  it('Without a route there is no shape', () => {
    expect(shapeOf({ width: 1, height: 1 }, model('gpt-image-2'), [])).toBeUndefined();
  });
});
