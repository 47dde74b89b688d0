import { describe, expect, it } from 'vitest';
import { fieldErrors } from '../../core/field-errors.ts';
import {
  imageRequestSchema,
  missingPrompt,
  requestHash,
  type ImageRequestBody,
} from '../../core/image-request.ts';

const good = { model: 'sandbox-standard', prompt: 'a lake' };

function parse(body: object): ImageRequestBody {
  return imageRequestSchema.parse(body);
}

function problems(body: unknown): string[] {
  const result = imageRequestSchema.safeParse(body, { reportInput: true });
  return result.success
    ? []
    : fieldErrors(result.error.issues).map(({ field, code, message }) => `${field} ${code}: ${message}`);
}

describe('the body of a request', () => {
  it('A body needs only a model and a prompt', () => {
    expect(parse(good)).toEqual(good);
  });

  it('A body may have every field at its upper limit', () => {
    const all = {
      model: 'sandbox-pro',
      prompt: 'x'.repeat(10_000),
      resolution: '4K',
      aspect_ratio: '21:9',
      image_urls: Array<string>(10).fill('https://images.test/a.png'),
      webhook_url: `https://hooks.test/${'a'.repeat(2048 - 19)}`,
      output_format: 'webp',
      seed: 2_147_483_647,
      metadata: Object.fromEntries(
        Array.from({ length: 16 }, (_, index) => [`${'k'.repeat(38)}${10 + index}`, 'v'.repeat(500)]),
      ),
    };
    expect(parse(all)).toEqual(all);
  });

  it('The lengths of a body are counted in code points, so that an emoji is one character', () => {
    const emoji = {
      model: 'm',
      prompt: '😀'.repeat(10_000),
      image_urls: [`https://a.test/${'😀'.repeat(2_033)}`],
      webhook_url: `https://a.test/${'😀'.repeat(2_033)}`,
      metadata: { ['😀'.repeat(40)]: '😀'.repeat(500) },
    };
    expect(parse(emoji)).toEqual(emoji);
  });

  it('The prompt of a body is trimmed before its length is checked', () => {
    expect(parse({ ...good, prompt: `  ${'x'.repeat(10_000)}\n` }).prompt).toBe('x'.repeat(10_000));
  });

  it.each<[string, object, string[]]>([
    ['no model at all', { prompt: 'a' }, ['model required: required']],
    ['an empty model', { ...good, model: '' }, ['model too_short: at least 1 characters']],
    [
      'a prompt of 10,001 emoji',
      { ...good, prompt: '😀'.repeat(10_001) },
      ['prompt too_long: at most 10000 characters'],
    ],
    [
      'an image address of 2,049 code points',
      { ...good, image_urls: [`https://a.test/${'😀'.repeat(2_034)}`] },
      ['image_urls[0] too_long: at most 2048 characters'],
    ],
    ['a model that is a number', { ...good, model: 7 }, ['model invalid_type: must be a string']],
    ['a model that is null', { ...good, model: null }, ['model invalid_type: must be a string']],
    ['a prompt that is an array', { ...good, prompt: ['a'] }, ['prompt invalid_type: must be a string']],
    [
      'a prompt that is too long',
      { ...good, prompt: 'x'.repeat(10_001) },
      ['prompt too_long: at most 10000 characters'],
    ],
    [
      'an unknown resolution',
      { ...good, resolution: '8K' },
      ['resolution invalid_value: must be one of "1K", "2K", "4K"'],
    ],
    [
      'a resolution in lower case',
      { ...good, resolution: '1k' },
      ['resolution invalid_value: must be one of "1K", "2K", "4K"'],
    ],
    [
      'an unknown ratio',
      { ...good, aspect_ratio: '2:1' },
      [
        'aspect_ratio invalid_value: must be one of "1:1", "3:2", "2:3", "4:3", "3:4", "5:4", "4:5", "16:9", "9:16", "21:9"',
      ],
    ],
    [
      'an unknown format',
      { ...good, output_format: 'gif' },
      ['output_format invalid_value: must be one of "png", "jpeg", "webp"'],
    ],
    [
      'image_urls that is a string',
      { ...good, image_urls: 'https://a.test' },
      ['image_urls invalid_type: must be an array'],
    ],
    [
      'eleven images',
      { ...good, image_urls: Array<string>(11).fill('https://a.test') },
      ['image_urls too_many: at most 10 items'],
    ],
    [
      'an image that is a number',
      { ...good, image_urls: ['https://a.test', 7] },
      ['image_urls[1] invalid_type: must be a string'],
    ],
    [
      'a long image address',
      { ...good, image_urls: [`https://a.test/${'a'.repeat(2048)}`] },
      ['image_urls[0] too_long: at most 2048 characters'],
    ],
    [
      'a long webhook address',
      { ...good, webhook_url: `https://a.test/${'a'.repeat(2034)}` },
      ['webhook_url too_long: at most 2048 characters'],
    ],
    ['a seed below 0', { ...good, seed: -1 }, ['seed too_small: at least 0']],
    ['a seed above 31 bits', { ...good, seed: 2 ** 31 }, ['seed too_big: at most 2147483647']],
    [
      'a seed that is not a whole number',
      { ...good, seed: 1.5 },
      ['seed invalid_type: must be a whole number'],
    ],
    ['a seed that is text', { ...good, seed: '1' }, ['seed invalid_type: must be a number']],
    ['a seed far above 31 bits', { ...good, seed: 1e30 }, ['seed too_big: at most 2147483647']],
    ['a seed of Infinity', { ...good, seed: Infinity }, ['seed too_big: at most 2147483647']],
    ['a seed far below 0', { ...good, seed: -1e30 }, ['seed too_small: at least 0']],
    ['a seed below 0 that is not a whole number', { ...good, seed: -1.5 }, ['seed too_small: at least 0']],
    [
      'a long text in the place of a list',
      { ...good, image_urls: 'https://images.test/' },
      ['image_urls invalid_type: must be an array'],
    ],
    ['a null image', { ...good, image_urls: [null] }, ['image_urls[0] invalid_type: must be a string']],
    [
      'a null metadata value',
      { ...good, metadata: { order: null } },
      ['metadata.order invalid_type: must be a string'],
    ],
    [
      'an unknown field that is null',
      { ...good, promt: null },
      ['promt unknown_field: not a field of this request'],
    ],
    [
      'an empty metadata key',
      { ...good, metadata: { '': 'v' } },
      ['metadata too_short: a key must not be empty'],
    ],
    [
      'half a surrogate pair in the model',
      { ...good, model: 'm\ud800' },
      ['model invalid_encoding: must not contain half of a surrogate pair'],
    ],
    [
      'half a surrogate pair in the prompt',
      { ...good, prompt: '\udc00a' },
      ['prompt invalid_encoding: must not contain half of a surrogate pair'],
    ],
    [
      'half a surrogate pair in addresses',
      { ...good, image_urls: ['https://a.test/\ud800'], webhook_url: 'https://a.test/\udfff' },
      [
        'image_urls[0] invalid_encoding: must not contain half of a surrogate pair',
        'webhook_url invalid_encoding: must not contain half of a surrogate pair',
      ],
    ],
    [
      'half a surrogate pair in a metadata value',
      { ...good, metadata: { order: '\ud83e' } },
      ['metadata.order invalid_encoding: must not contain half of a surrogate pair'],
    ],
    [
      // The field is named with U+FFFD in the place of what UTF-8 cannot hold.
      'half a surrogate pair in a metadata key',
      { ...good, metadata: { 'a\ud800': 'v' } },
      ['metadata.a\ufffd invalid_encoding: a key must not contain half of a surrogate pair'],
    ],
    [
      'half a surrogate pair in an unknown field',
      { ...good, 'a\ud800': 1 },
      ['a\ufffd unknown_field: not a field of this request'],
    ],
    ['metadata that is an array', { ...good, metadata: [] }, ['metadata invalid_type: must be an object']],
    ['metadata that is text', { ...good, metadata: 'a' }, ['metadata invalid_type: must be an object']],
    [
      'a metadata value that is a number',
      { ...good, metadata: { order: 7 } },
      ['metadata.order invalid_type: must be a string'],
    ],
    [
      'a long metadata value',
      { ...good, metadata: { order: 'v'.repeat(501) } },
      ['metadata.order too_long: at most 500 characters'],
    ],
    [
      'seventeen metadata keys',
      { ...good, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v'])) },
      ['metadata too_many: at most 16 keys'],
    ],
    ['an unknown field', { ...good, promt: 'a' }, ['promt unknown_field: not a field of this request']],
    [
      'two unknown fields',
      { ...good, n: 2, size: '1K' },
      ['n unknown_field: not a field of this request', 'size unknown_field: not a field of this request'],
    ],
    ['a body that is an array', [], ['body invalid_type: must be an object']],
  ])('A body with %s is refused, and the answer names the field', (_what, body, errors) => {
    expect(problems(body)).toEqual(errors);
  });

  it('A body with a metadata key that is too long is refused, and the answer names the key', () => {
    expect(problems({ ...good, metadata: { ['k'.repeat(41)]: 'v' } })).toEqual([
      `metadata.${'k'.repeat(41)} too_long: at most 40 characters`,
    ]);
  });

  it('A body with several problems is refused with all of them at once', () => {
    const fields = problems({ prompt: 7, seed: -1, image_urls: [null], nonsense: true }).map(
      (line) => line.split(' ')[0],
    );
    expect(fields.sort()).toEqual(['image_urls[0]', 'model', 'nonsense', 'prompt', 'seed']);
  });

  it.each([
    'prompt',
    'resolution',
    'aspect_ratio',
    'image_urls',
    'webhook_url',
    'output_format',
    'seed',
    'metadata',
  ])('A body in which %s is null equals a body without the field', (field) => {
    const { [field]: _left, ...without } = { ...good, image_urls: ['https://a.test'] } as Record<
      string,
      unknown
    >;
    expect(parse({ ...without, [field]: null })).toEqual(parse(without));
    expect(parse({ ...without, [field]: null })).not.toHaveProperty(field);
    expect(requestHash(parse({ ...without, [field]: null }))).toBe(requestHash(parse(without)));
  });

  it.each(['__proto__', 'constructor'])('A body with a field named %s is refused', (name) => {
    const body = JSON.parse(`{"model":"m","prompt":"p","${name}":"x"}`) as object;
    expect(problems(body)).toEqual([`${name} unknown_field: not a field of this request`]);
  });

  it('A body with an object under the metadata key __proto__ is refused', () => {
    const body = JSON.parse('{"model":"m","prompt":"p","metadata":{"__proto__":{"a":"b"}}}') as object;
    expect(problems(body)).toEqual(['metadata.__proto__ invalid_type: must be a string']);
  });
});

describe('the check for a missing prompt', () => {
  it.each<[string, object, boolean]>([
    ['finds a body with neither prompt nor images', { model: 'm' }, true],
    ['finds a blank prompt', { model: 'm', prompt: ' \n\t ' }, true],
    ['finds an empty list of images', { model: 'm', image_urls: [] }, true],
    ['finds a prompt that is null', { model: 'm', prompt: null }, true],
    ['finds a blank prompt beside images that are null', { model: 'm', prompt: ' ', image_urls: null }, true],
    ['accepts an image without a prompt', { model: 'm', image_urls: ['https://a.test'] }, false],
    [
      'accepts an image with a blank prompt',
      { model: 'm', prompt: '  ', image_urls: ['https://a.test'] },
      false,
    ],
    ['accepts a prompt', { model: 'm', prompt: 'a lake' }, false],
  ])('The check for a missing prompt %s', (_what, body, isMissing) => {
    expect(missingPrompt(parse(body))).toEqual(
      isMissing
        ? { field: 'prompt', code: 'required', message: 'required unless image_urls has an item' }
        : undefined,
    );
  });
});
