import { describe, expect, it } from 'vitest';
import type { Model } from '../../service/catalog/catalog-schema.ts';
import { readSize, shapeOf } from '../../service/openai/size.ts';
import { catalog } from '../catalog/sold-catalog-fixture.ts';

const model = (id: string): Model => {
  const found = catalog.models.find((one) => one.id === id);
  if (!found) throw new Error(`the catalog has no ${id}`);
  return found;
};
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
