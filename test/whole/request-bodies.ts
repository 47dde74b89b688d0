/** Bodies of image requests: every limit of every field, on both of its sides. */

const least = { model: 'sandbox-pro', prompt: 'a heron' };
const url = (length: number): string => `https://example.com/${'a'.repeat(length - 20)}`;
const metadata = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'v']));

/** With a title for each. A quote answers them with 200. */
export const acceptedBodies: readonly [what: string, body: object][] = [
  ['nothing but model and prompt', least],
  ['prompt of 10,000 characters', { ...least, prompt: 'x'.repeat(10_000) }],
  ['prompt of 10,000 characters with spaces around', { ...least, prompt: `  ${'x'.repeat(10_000)}\n` }],
  ['prompt in any script', { ...least, prompt: '鷺が立つ 🪶 صباح' }],
  ['no prompt, but a source image', { model: 'sandbox-pro', image_urls: ['https://example.com/a.png'] }],
  [
    'an empty prompt and a source image',
    { model: 'sandbox-pro', prompt: ' ', image_urls: ['https://example.com/a.png'] },
  ],
  ['resolution 4K', { ...least, resolution: '4K' }],
  ['aspect_ratio 16:9', { ...least, aspect_ratio: '16:9' }],
  ['ten image_urls', { ...least, image_urls: Array.from({ length: 10 }, () => url(100)) }],
  ['image_urls of 2048 characters', { ...least, image_urls: [url(2048)] }],
  ['no image_urls in the list', { ...least, image_urls: [] }],
  ['output_format png', { ...least, output_format: 'png' }],
  ['seed 0', { ...least, seed: 0 }],
  ['seed 2^31-1', { ...least, seed: 2 ** 31 - 1 }],
  ['metadata of 16 keys', { ...least, metadata: metadata(16) }],
  [
    'metadata with a key of 40 and a value of 500 characters',
    { ...least, metadata: { ['k'.repeat(40)]: 'v'.repeat(500) } },
  ],
  ['user of 64 characters', { ...least, user: '🪶'.repeat(64) }],
  ['max_cost of the price', { ...least, max_cost: 0.06 }],
  ['max_cost of 6 decimals', { ...least, max_cost: 1.000001 }],
  ['max_cost that nothing reaches', { ...least, max_cost: 9e15 }],
  ['empty metadata', { ...least, metadata: {} }],
  [
    'metadata with names of JavaScript',
    {
      ...least,
      metadata: JSON.parse('{"__proto__":"a","constructor":"b","hasOwnProperty":"c"}') as object,
    },
  ],
  ['image_urls by http', { ...least, image_urls: ['http://example.com/a.png'] }],
  [
    'null in every optional field',
    {
      ...least,
      resolution: null,
      aspect_ratio: null,
      image_urls: null,
      webhook_url: null,
      output_format: null,
      seed: null,
      metadata: null,
      user: null,
      max_cost: null,
    },
  ],
  [
    'prompt null and a source image',
    { model: 'sandbox-pro', prompt: null, image_urls: ['https://example.com/a.png'] },
  ],
];

/** With a title, and with the fields and codes of the refusal. */
export const refusedBodies: readonly [what: string, body: object, fields: readonly string[]][] = [
  ['no model', { prompt: 'x' }, ['model: required']],
  ['model of another type', { ...least, model: 3 }, ['model: invalid_type']],
  ['model null', { ...least, model: null }, ['model: invalid_type']],
  ['no prompt and no source image', { model: 'sandbox-pro' }, ['prompt: required']],
  [
    'a prompt of spaces and no source image',
    { model: 'sandbox-pro', prompt: ' \n\t ' },
    ['prompt: required'],
  ],
  ['prompt of 10,001 characters', { ...least, prompt: 'x'.repeat(10_001) }, ['prompt: too_long']],
  [
    'prompt longer than the model takes',
    { model: 'sandbox-sketch', prompt: 'x'.repeat(1_001) },
    ['prompt: too_long'],
  ],
  ['prompt of another type', { ...least, prompt: ['x'] }, ['prompt: invalid_type']],
  ['a resolution that is none', { ...least, resolution: '8K' }, ['resolution: invalid_value']],
  ['a resolution in lower case', { ...least, resolution: '1k' }, ['resolution: invalid_value']],
  ['an aspect_ratio that is none', { ...least, aspect_ratio: '1:2' }, ['aspect_ratio: invalid_value']],
  [
    'image_urls that is no list',
    { ...least, image_urls: 'https://example.com/' },
    ['image_urls: invalid_type'],
  ],
  [
    'image_urls with something that is no text',
    { ...least, image_urls: ['https://example.com/', 7] },
    ['image_urls[1]: invalid_type'],
  ],
  [
    'eleven image_urls',
    { ...least, image_urls: Array.from({ length: 11 }, () => url(30)) },
    ['image_urls: too_many'],
  ],
  [
    'more image_urls than the model takes',
    { model: 'sandbox-standard', prompt: 'x', image_urls: Array.from({ length: 5 }, () => url(30)) },
    ['image_urls: too_many'],
  ],
  [
    'image_urls for a model that takes none',
    { model: 'sandbox-sketch', prompt: 'x', image_urls: [url(30)] },
    ['image_urls: too_many'],
  ],
  [
    'an image url of 2049 characters',
    { ...least, image_urls: [url(30), url(2049)] },
    ['image_urls[1]: too_long'],
  ],
  ['a webhook_url of 2049 characters', { ...least, webhook_url: url(2049) }, ['webhook_url: too_long']],
  ['an empty user', { ...least, user: '' }, ['user: too_short']],
  ['a user of 65 characters', { ...least, user: 'x'.repeat(65) }, ['user: too_long']],
  ['a user of another type', { ...least, user: 7 }, ['user: invalid_type']],
  ['a user with a control character', { ...least, user: 'a\u0000b' }, ['user: invalid_value']],
  ['a user with half of a surrogate pair', { ...least, user: '\ud83e' }, ['user: invalid_encoding']],
  ['a max_cost below 0', { ...least, max_cost: -0.01 }, ['max_cost: too_small']],
  ['a max_cost of 7 decimals', { ...least, max_cost: 0.0600001 }, ['max_cost: invalid_value']],
  ['a max_cost that is no number', { ...least, max_cost: '1' }, ['max_cost: invalid_type']],
  ['an output_format that is none', { ...least, output_format: 'gif' }, ['output_format: invalid_value']],
  [
    'an output_format that the model has not',
    { ...least, output_format: 'webp' },
    ['output_format: invalid_value'],
  ],
  ['a negative seed', { ...least, seed: -1 }, ['seed: too_small']],
  ['a seed of 2^31', { ...least, seed: 2 ** 31 }, ['seed: too_big']],
  ['a seed that is not whole', { ...least, seed: 1.5 }, ['seed: invalid_type']],
  ['a seed in a text', { ...least, seed: '7' }, ['seed: invalid_type']],
  ['metadata of 17 keys', { ...least, metadata: metadata(17) }, ['metadata: too_many']],
  [
    'a metadata key of 41 characters',
    { ...least, metadata: { ['k'.repeat(41)]: 'v' } },
    [`metadata.${'k'.repeat(41)}: too_long`],
  ],
  [
    'a metadata value of 501 characters',
    { ...least, metadata: { note: 'v'.repeat(501) } },
    ['metadata.note: too_long'],
  ],
  [
    'a metadata value that is no text',
    { ...least, metadata: { count: 3 } },
    ['metadata.count: invalid_type'],
  ],
  ['an empty metadata key', { ...least, metadata: { '': 'v' } }, ['metadata: too_short']],
  [
    'an object below the metadata key __proto__',
    { ...least, metadata: JSON.parse('{"__proto__":{"a":"b"}}') as object },
    ['metadata.__proto__: invalid_type'],
  ],
  ['half a surrogate pair in the prompt', { ...least, prompt: 'a\ud800b' }, ['prompt: invalid_encoding']],
  [
    'half a surrogate pair in a metadata key',
    { ...least, metadata: { '\udc00': 'v' } },
    ['metadata.\ufffd: invalid_encoding'],
  ],
  [
    'half a surrogate pair in a metadata value',
    { ...least, metadata: { a: '\udc00' } },
    ['metadata.a: invalid_encoding'],
  ],
  ['a seed of 1e30', { ...least, seed: 1e30 }, ['seed: too_big']],
  ['no prompt, which is null', { model: 'sandbox-pro', prompt: null }, ['prompt: required']],
  [
    'an image url of another scheme',
    { ...least, image_urls: [url(30), 'ftp://example.com/a.png'] },
    ['image_urls[1]: refused_target'],
  ],
  [
    'an image url with a user name',
    { ...least, image_urls: ['https://me@example.com/'] },
    ['image_urls[0]: refused_target'],
  ],
  [
    'an image url of a private address',
    { ...least, image_urls: ['https://10.0.0.1/a.png'] },
    ['image_urls[0]: refused_target'],
  ],
  ['a webhook_url that is no address', { ...least, webhook_url: 'hooks' }, ['webhook_url: refused_target']],
  [
    'a webhook_url with a password',
    { ...least, webhook_url: 'https://:secret@example.com/' },
    ['webhook_url: refused_target'],
  ],
  [
    'wrong addresses beside other wrong fields of a model that does not exist',
    { model: 'none', seed: -1, image_urls: ['x', url(2049)], webhook_url: 'y' },
    [
      'image_urls[0]: refused_target',
      'image_urls[1]: too_long',
      'seed: too_small',
      'webhook_url: refused_target',
    ],
  ],
  ['metadata that is a list', { ...least, metadata: ['a'] }, ['metadata: invalid_type']],
  ['an unknown field', { ...least, quality: 'high' }, ['quality: unknown_field']],
  ['a field in another spelling', { ...least, aspectRatio: '1:1' }, ['aspectRatio: unknown_field']],
  [
    'two unknown fields, one item each',
    { ...least, n: 4, size: '1K' },
    ['n: unknown_field', 'size: unknown_field'],
  ],
  [
    'several things at once',
    { prompt: 5, seed: -1, foo: 1 },
    ['foo: unknown_field', 'model: required', 'prompt: invalid_type', 'seed: too_small'],
  ],
];
