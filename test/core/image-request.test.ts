import { describe, expect, it } from 'vitest';
import models from '../../catalog/models.json' with { type: 'json' };
import { findModel, type Catalog } from '../../core/catalog.ts';
import { fieldErrors } from '../../core/field-errors.ts';
import {
  forModel,
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
  it('may say no more than a model and a prompt', () => {
    expect(parse(good)).toEqual(good);
  });

  it('may say everything', () => {
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

  it('has its prompt trimmed before it is measured', () => {
    expect(parse({ ...good, prompt: `  ${'x'.repeat(10_000)}\n` }).prompt).toBe('x'.repeat(10_000));
  });

  it.each<[string, object, string[]]>([
    ['no model', { prompt: 'a' }, ['model required: required']],
    ['an empty model', { ...good, model: '' }, ['model too_short: at least 1 characters']],
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
    ['a seed that is no integer', { ...good, seed: 1.5 }, ['seed invalid_type: must be a whole number']],
    ['a seed that is text', { ...good, seed: '1' }, ['seed invalid_type: must be a number']],
    ['a seed far above 31 bits', { ...good, seed: 1e30 }, ['seed too_big: at most 2147483647']],
    ['a seed beyond all numbers', { ...good, seed: Infinity }, ['seed too_big: at most 2147483647']],
    ['a seed far below 0', { ...good, seed: -1e30 }, ['seed too_small: at least 0']],
    ['a seed below 0 that is no integer', { ...good, seed: -1.5 }, ['seed too_small: at least 0']],
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
  ])('with %s is refused with its field', (_what, body, errors) => {
    expect(problems(body)).toEqual(errors);
  });

  it('with a long metadata key names the key', () => {
    expect(problems({ ...good, metadata: { ['k'.repeat(41)]: 'v' } })).toEqual([
      `metadata.${'k'.repeat(41)} too_long: at most 40 characters`,
    ]);
  });

  it('is told of all that is wrong with it at once', () => {
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
  ])('with %s null is as without it', (field) => {
    const { [field]: _left, ...without } = { ...good, image_urls: ['https://a.test'] } as Record<
      string,
      unknown
    >;
    expect(parse({ ...without, [field]: null })).toEqual(parse(without));
    expect(parse({ ...without, [field]: null })).not.toHaveProperty(field);
    expect(requestHash(parse({ ...without, [field]: null }))).toBe(requestHash(parse(without)));
  });

  it.each(['__proto__', 'constructor'])('with a field %s is refused', (name) => {
    const body = JSON.parse(`{"model":"m","prompt":"p","${name}":"x"}`) as object;
    expect(problems(body)).toEqual([`${name} unknown_field: not a field of this request`]);
  });

  it('with a nested object below the metadata key __proto__ is refused', () => {
    const body = JSON.parse('{"model":"m","prompt":"p","metadata":{"__proto__":{"a":"b"}}}') as object;
    expect(problems(body)).toEqual(['metadata.__proto__ invalid_type: must be a string']);
  });
});

describe('a prompt', () => {
  it.each<[string, object, boolean]>([
    ['is missing when there is none', { model: 'm' }, true],
    ['is missing when it is blank', { model: 'm', prompt: ' \n\t ' }, true],
    ['is missing when the list of images is empty', { model: 'm', image_urls: [] }, true],
    ['is missing when it is null', { model: 'm', prompt: null }, true],
    ['is missing when the list of images is null', { model: 'm', prompt: ' ', image_urls: null }, true],
    ['is not needed with an image', { model: 'm', image_urls: ['https://a.test'] }, false],
    ['may be blank with an image', { model: 'm', prompt: '  ', image_urls: ['https://a.test'] }, false],
    ['is there', good, false],
  ])('%s', (_what, body, isMissing) => {
    expect(missingPrompt(parse(body))).toEqual(
      isMissing
        ? { field: 'prompt', code: 'required', message: 'required unless image_urls has an item' }
        : undefined,
    );
  });
});

describe('a request for a model', () => {
  const standard = findModel(models as Catalog, { providers: 'all', hiddenModels: [] }, 'sandbox-standard');
  const sketch = findModel(models as Catalog, { providers: 'all', hiddenModels: [] }, 'sandbox-sketch');
  if (!standard || !sketch) throw new Error('the catalog has changed');

  it("takes the model's defaults for what it leaves open", () => {
    expect(forModel(parse(good), standard, standard.routes)).toEqual({
      model: standard,
      prompt: 'a lake',
      resolution: '1K',
      aspectRatio: '1:1',
      outputFormat: 'png',
      imageUrls: [],
      webhookUrl: undefined,
      seed: null,
      metadata: {},
    });
  });

  it('keeps what it says, a seed of 0 included', () => {
    const body = {
      ...good,
      resolution: '2K',
      aspect_ratio: '3:2',
      output_format: 'jpeg',
      seed: 0,
      metadata: { a: 'b' },
      webhook_url: 'https://h.test',
    };
    expect(forModel(parse(body), standard, standard.routes)).toMatchObject({
      resolution: '2K',
      aspectRatio: '3:2',
      outputFormat: 'jpeg',
      seed: 0,
      metadata: { a: 'b' },
      webhookUrl: 'https://h.test',
    });
  });

  it('has a null prompt when the image says it all', () => {
    expect(
      forModel(parse({ model: 'm', prompt: ' ', image_urls: ['https://a.test'] }), standard, standard.routes),
    ).toMatchObject({ prompt: null });
  });

  it('may use up what its model allows: the longest prompt and the most source images', () => {
    const longest = parse({ model: 'm', prompt: 'x'.repeat(sketch.max_prompt_length) });
    expect(forModel(longest, sketch, sketch.routes)).toMatchObject({ prompt: longest.prompt });
    const most = parse({
      ...good,
      image_urls: Array<string>(standard.max_image_urls).fill('https://a.test'),
    });
    expect(forModel(most, standard, standard.routes)).toMatchObject({ imageUrls: most.image_urls });
  });

  it('is refused with every field that this model cannot take', () => {
    expect(
      forModel(
        parse({ model: 'm', prompt: 'x'.repeat(1001), image_urls: ['https://a.test'] }),
        sketch,
        sketch.routes,
      ),
    ).toEqual([
      { field: 'prompt', code: 'too_long', message: 'at most 1000 characters for sandbox-sketch' },
      { field: 'image_urls', code: 'too_many', message: 'sandbox-sketch takes no source images' },
    ]);
    expect(
      forModel(
        parse({ ...good, image_urls: Array<string>(5).fill('https://a.test') }),
        standard,
        standard.routes,
      ),
    ).toEqual([{ field: 'image_urls', code: 'too_many', message: 'sandbox-standard takes at most 4' }]);
  });
});

describe('two requests under one Idempotency-Key', () => {
  const hash = (body: object): string => requestHash(parse(body));

  it('are the same in whatever order their fields come', () => {
    expect(hash({ metadata: { b: '1', a: '2' }, prompt: 'a lake', model: 'm' })).toBe(
      hash({ model: 'm', prompt: ' a lake ', metadata: { a: '2', b: '1' } }),
    );
  });

  it.each<[string, object]>([
    ['prompt', { ...good, prompt: 'a pond' }],
    ['seed', { ...good, seed: 0 }],
    ['metadata', { ...good, metadata: { a: 'b' } }],
    ['images in another order', { ...good, image_urls: ['https://b.test', 'https://a.test'] }],
  ])('differ by their %s', (_what, other) => {
    expect(hash(other)).not.toBe(
      hash({ ...good, ...('image_urls' in other && { image_urls: ['https://a.test', 'https://b.test'] }) }),
    );
  });
});
