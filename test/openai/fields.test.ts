import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Model } from '../../service/catalog/catalog-schema.ts';
import models from '../../service/catalog/models.json' with { type: 'json' };
import {
  type Fields,
  formFields,
  ignoredHeader,
  qualityOf,
  readFields,
} from '../../service/openai/fields.ts';
import { openaiRequestHash, withoutNullFields } from '../../service/openai/plan-body.ts';

const read = (fields: Fields, action: 'generate' | 'edit' = 'generate'): ReturnType<typeof readFields> =>
  readFields(fields, action);
const errorOf = (fields: Fields, action?: 'edit'): string | undefined => {
  const [error] = read(fields, action).errors;
  return error && `${error.field} ${error.code}`;
};

it.each([
  ['high, when every route renders it', ['high', 'high'], 'high'],
  ['none, when its routes differ', ['high', 'low'], undefined],
  ['none, when a route has no qualities', [null, 'high'], undefined],
] as const)('The quality of a model is %s', (_which, qualities, expected) => {
  const [model] = models.models as unknown as Model[];
  const [route] = model?.routes ?? [];
  const routes = qualities.map((quality) => ({ ...route, quality }));
  expect(qualityOf({ ...model, routes } as Model)).toBe(expected);
});

describe('the fields of an OpenAI request', () => {
  it('A request that names nothing asks for one picture in base64, in the size and quality of the model', () => {
    expect(read({ prompt: 'a lake' })).toEqual({
      errors: [],
      asked: {
        ours: { prompt: 'a lake' },
        count: 1,
        size: 'auto',
        quality: 'auto',
        responseFormat: undefined,
        isStreamed: false,
        ignored: [],
      },
    });
  });

  it('Every field that is taken is read', () => {
    const ours = {
      model: 'm',
      prompt: 'p',
      seed: 7,
      negative_prompt: 'boats',
      aspect_ratio: '1:1',
      resolution: '2K',
      output_format: 'webp',
      background: 'opaque',
      metadata: { a: 'b' },
      webhook_url: 'https://a.test',
      max_cost: 1,
    };
    const foreign = {
      n: 4,
      size: '1024x1536',
      quality: 'hd',
      response_format: 'url',
      user: 'u',
      stream: true,
      partial_images: 3,
    };
    expect(read({ ...ours, ...foreign })).toEqual({
      errors: [],
      asked: {
        ours: { ...ours, user: 'u' },
        count: 4,
        size: { width: 1024, height: 1536 },
        quality: 'hd',
        responseFormat: 'url',
        isStreamed: true,
        ignored: [],
      },
    });
  });

  it.each<[Fields, string]>([
    [{ n: 0 }, 'n too_small'],
    [{ n: 5 }, 'n too_big'],
    [{ n: 1.5 }, 'n invalid_type'],
    [{ n: '2' }, 'n invalid_type'],
    [{ size: '16:9' }, 'size invalid_value'],
    [{ size: 1024 }, 'size invalid_value'],
    [{ quality: 3 }, 'quality invalid_type'],
    [{ response_format: 'base64' }, 'response_format unsupported_value'],
    [{ output_format: 'gif' }, 'output_format unsupported_value'],
    [{ output_format: 'svg' }, 'output_format unsupported_value'],
    [{ stream: 'yes' }, 'stream invalid_type'],
    [{ partial_images: 4 }, 'partial_images invalid_value'],
    [{ partial_images: '1' }, 'partial_images invalid_value'],
    [{ user: 7 }, 'user invalid_type'],
    [{ mask: 'x' }, 'mask unsupported_parameter'],
    [{ image: 'x' }, 'image unsupported_parameter'],
    [{ images: [] }, 'images unsupported_parameter'],
    [{ image_urls: [] }, 'image_urls unsupported_parameter'],
  ])('%j is refused: %s', (fields, expected) => {
    expect(errorOf(fields)).toBe(expected);
  });

  it('An edit takes images and a mask, and refuses other names of images', () => {
    expect(read({ images: [], mask: {} }, 'edit')).toMatchObject({ errors: [], asked: { ignored: [] } });
    for (const name of ['image', 'image[]', 'image_urls'])
      expect(errorOf({ [name]: 'x' }, 'edit')).toBe(`${name} unsupported_parameter`);
  });

  it('Fields that change nothing are ignored by name, also those that nobody knows', () => {
    const fields = {
      mood: 'vivid',
      moderation: 'low',
      output_compression: 50,
      input_fidelity: 'high',
      foo: 1,
    };
    expect(read(fields)).toMatchObject({ errors: [], asked: { ignored: Object.keys(fields) } });
  });

  it('A long user is stored as its hash, and safety_identifier stands in for an absent one', () => {
    const userOf = (fields: Fields): unknown => read(fields).asked.ours['user'];
    const long = 'u'.repeat(65);
    expect(userOf({ user: 'u'.repeat(64) })).toBe('u'.repeat(64));
    expect(userOf({ user: long })).toBe(createHash('sha256').update(long).digest('hex'));
    expect(userOf({ user: 'a\nb' })).toMatch(/^[0-9a-f]{64}$/);
    expect(userOf({ user: '', safety_identifier: 's' })).toBe('s');
    expect(userOf({ user: 'u', safety_identifier: 's' })).toBe('u');
  });
});

describe('the header of ignored fields', () => {
  it('The header lists the names in their order', () => {
    expect(ignoredHeader(['mood', 'moderation'])).toBe('mood,moderation');
    expect(ignoredHeader([])).toBeUndefined();
  });

  it('A name that would break the header is left out, and a list has an end', () => {
    expect(ignoredHeader(['a\r\nset-cookie: x', 'ä', '', 'x'.repeat(65)])).toBeUndefined();
    expect(ignoredHeader(Array.from({ length: 30 }, (_, index) => `f${index}`))?.split(',')).toHaveLength(20);
  });
});

describe('the fields of a form', () => {
  it('Each text becomes what JSON would say', () => {
    const texts = {
      n: '2',
      seed: '7',
      max_cost: '0.5',
      partial_images: '0',
      stream: 'true',
      metadata: '{"a":"b"}',
    };
    expect(formFields([...Object.entries(texts), ['prompt', '7']])).toEqual({
      n: 2,
      seed: 7,
      max_cost: 0.5,
      partial_images: 0,
      stream: true,
      metadata: { a: 'b' },
      prompt: '7',
    });
  });

  it('A text of another kind stays a text, so that it is refused', () => {
    expect(
      formFields([
        ['n', 'two'],
        ['stream', '1'],
        ['metadata', '{'],
        ['constructor', '1'],
      ]),
    ).toEqual({
      n: 'two',
      stream: '1',
      metadata: '{',
      constructor: '1',
    });
  });
});

describe('the hash of a request', () => {
  const hash = openaiRequestHash('generate', { prompt: 'a', n: 2 }, []);

  it('The order of the fields makes no difference, and a field that is null is left out', () => {
    expect(openaiRequestHash('generate', withoutNullFields({ n: 2, prompt: 'a', size: null }), [])).toBe(
      hash,
    );
  });

  it('The action, each field and each file make a difference', () => {
    expect(openaiRequestHash('edit', { prompt: 'a', n: 2 }, [])).not.toBe(hash);
    expect(openaiRequestHash('generate', { prompt: 'a', n: 3 }, [])).not.toBe(hash);
    expect(openaiRequestHash('generate', { prompt: 'a', n: 2 }, ['f'])).not.toBe(hash);
  });

  it('A new release keeps the hash, which is stored', () => {
    expect(hash).toBe('82b674963c6b836a4511047b690d5bd306ff72ffbf9cfa4eba01b582bc6da474');
  });
});
