/** Bodies of image requests: every limit of every field, on both of its sides. */

const least = { model: 'sandbox-pro', prompt: 'a heron' };
const url = (length: number): string => `https://example.com/${'a'.repeat(length - 20)}`;
const metadata = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'v']));

/** The least body with a change, and the refused fields. */
const but = (what: string, change: object, ...fields: string[]): [string, object, string[]] => [
  what,
  { ...least, ...change },
  fields,
];

/** With a title for each. A quote answers them with 200. */
export const acceptedBodies: readonly [what: string, body: object, ...unknown[]][] = [
  but('nothing but model and prompt', {}),
  but('prompt of 10,000 characters', { prompt: 'x'.repeat(10_000) }),
  but('prompt of 10,000 characters with spaces around', { prompt: `  ${'x'.repeat(10_000)}\n` }),
  but('prompt in any script', { prompt: '鷺が立つ 🪶 صباح' }),
  ['no prompt, but a source image', { model: 'sandbox-pro', image_urls: ['https://example.com/a.png'] }],
  [
    'an empty prompt and a source image',
    { model: 'sandbox-pro', prompt: ' ', image_urls: ['https://example.com/a.png'] },
  ],
  but('resolution 4K', { resolution: '4K' }),
  but('aspect_ratio 16:9', { aspect_ratio: '16:9' }),
  but('ten image_urls', { image_urls: Array.from({ length: 10 }, () => url(100)) }),
  but('image_urls of 2048 characters', { image_urls: [url(2048)] }),
  but('no image_urls in the list', { image_urls: [] }),
  but('output_format png', { output_format: 'png' }),
  but('negative_prompt of one character', { negative_prompt: 'x' }),
  but('negative_prompt of 2,000 characters', { negative_prompt: '🪶'.repeat(2_000) }),
  but('quality auto', { quality: 'auto' }),
  but('quality low', { quality: 'low' }),
  but('background auto', { background: 'auto' }),
  but('background transparent', { background: 'transparent' }),
  but('background opaque as jpeg', { background: 'opaque', output_format: 'jpeg' }),
  [
    'background opaque for a model that knows no other',
    { model: 'sandbox-sketch', prompt: 'x', background: 'opaque' },
  ],
  but('seed 0', { seed: 0 }),
  but('seed 2^31-1', { seed: 2 ** 31 - 1 }),
  but('metadata of 16 keys', { metadata: metadata(16) }),
  but('metadata with a key of 40 and a value of 500 characters', {
    metadata: { ['k'.repeat(40)]: 'v'.repeat(500) },
  }),
  but('user of 64 characters', { user: '🪶'.repeat(64) }),
  but('max_cost of the price', { max_cost: 0.06 }),
  but('max_cost of 6 decimals', { max_cost: 1.000001 }),
  but('max_cost that nothing reaches', { max_cost: 9e15 }),
  but('empty metadata', { metadata: {} }),
  but('metadata with names of JavaScript', {
    metadata: JSON.parse('{"__proto__":"a","constructor":"b","hasOwnProperty":"c"}') as object,
  }),
  but('image_urls by http', { image_urls: ['http://example.com/a.png'] }),
  but('null in every optional field', {
    resolution: null,
    aspect_ratio: null,
    image_urls: null,
    webhook_url: null,
    output_format: null,
    seed: null,
    negative_prompt: null,
    quality: null,
    background: null,
    metadata: null,
    user: null,
    max_cost: null,
  }),
  [
    'prompt null and a source image',
    { model: 'sandbox-pro', prompt: null, image_urls: ['https://example.com/a.png'] },
  ],
];

/** With a title, and with the fields and codes of the refusal. */
export const refusedBodies: readonly [what: string, body: object, fields: readonly string[]][] = [
  ['no model', { prompt: 'x' }, ['model: required']],
  but('model of another type', { model: 3 }, 'model: invalid_type'),
  but('model null', { model: null }, 'model: invalid_type'),
  ['no prompt and no source image', { model: 'sandbox-pro' }, ['prompt: required']],
  [
    'a prompt of spaces and no source image',
    { model: 'sandbox-pro', prompt: ' \n\t ' },
    ['prompt: required'],
  ],
  but('prompt of 10,001 characters', { prompt: 'x'.repeat(10_001) }, 'prompt: too_long'),
  [
    'prompt longer than the model takes',
    { model: 'sandbox-sketch', prompt: 'x'.repeat(1_001) },
    ['prompt: too_long'],
  ],
  but('prompt of another type', { prompt: ['x'] }, 'prompt: invalid_type'),
  but('a resolution that is none', { resolution: '8K' }, 'resolution: invalid_value'),
  but('a resolution in lower case', { resolution: '1k' }, 'resolution: invalid_value'),
  but('an aspect_ratio that is none', { aspect_ratio: '1:2' }, 'aspect_ratio: invalid_value'),
  but('image_urls that is no list', { image_urls: 'https://example.com/' }, 'image_urls: invalid_type'),
  but(
    'image_urls with something that is no text',
    { image_urls: ['https://example.com/', 7] },
    'image_urls[1]: invalid_type',
  ),
  but('eleven image_urls', { image_urls: Array.from({ length: 11 }, () => url(30)) }, 'image_urls: too_many'),
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
  but('an image url of 2049 characters', { image_urls: [url(30), url(2049)] }, 'image_urls[1]: too_long'),
  but('a webhook_url of 2049 characters', { webhook_url: url(2049) }, 'webhook_url: too_long'),
  but('an empty user', { user: '' }, 'user: too_short'),
  but('a user of 65 characters', { user: 'x'.repeat(65) }, 'user: too_long'),
  but('a user of another type', { user: 7 }, 'user: invalid_type'),
  but('a user with a control character', { user: 'a\u0000b' }, 'user: invalid_value'),
  but('a user with half of a surrogate pair', { user: '\ud83e' }, 'user: invalid_encoding'),
  but('a max_cost below 0', { max_cost: -0.01 }, 'max_cost: too_small'),
  but('a max_cost of 7 decimals', { max_cost: 0.0600001 }, 'max_cost: invalid_value'),
  but('a max_cost that is no number', { max_cost: '1' }, 'max_cost: invalid_type'),
  but('an output_format that is none', { output_format: 'gif' }, 'output_format: invalid_value'),
  but('an output_format that the model has not', { output_format: 'webp' }, 'output_format: invalid_value'),
  but('an empty negative_prompt', { negative_prompt: '' }, 'negative_prompt: too_short'),
  but(
    'a negative_prompt of 2,001 characters',
    { negative_prompt: 'x'.repeat(2_001) },
    'negative_prompt: too_long',
  ),
  but('a negative_prompt of another type', { negative_prompt: ['x'] }, 'negative_prompt: invalid_type'),
  but(
    'half a surrogate pair in the negative_prompt',
    { negative_prompt: 'a\ud800' },
    'negative_prompt: invalid_encoding',
  ),
  [
    'a negative_prompt for a model that takes none',
    { model: 'sandbox-sketch', prompt: 'x', negative_prompt: 'y' },
    ['negative_prompt: unsupported_parameter'],
  ],
  but('a quality that is none', { quality: 'hd' }, 'quality: invalid_value'),
  [
    'a quality that the model has not',
    { model: 'sandbox-sketch', prompt: 'x', quality: 'low' },
    ['quality: unsupported_parameter'],
  ],
  but('a background that is none', { background: 'white' }, 'background: invalid_value'),
  but(
    'a transparent background as jpeg',
    { background: 'transparent', output_format: 'jpeg' },
    'background: unsupported_value',
  ),
  [
    'a transparent background for a model that renders none',
    { model: 'sandbox-sketch', prompt: 'x', background: 'transparent' },
    ['background: unsupported_value'],
  ],
  but('a negative seed', { seed: -1 }, 'seed: too_small'),
  but('a seed of 2^31', { seed: 2 ** 31 }, 'seed: too_big'),
  but('a seed that is not whole', { seed: 1.5 }, 'seed: invalid_type'),
  but('a seed in a text', { seed: '7' }, 'seed: invalid_type'),
  but('metadata of 17 keys', { metadata: metadata(17) }, 'metadata: too_many'),
  but(
    'a metadata key of 41 characters',
    { metadata: { ['k'.repeat(41)]: 'v' } },
    `metadata.${'k'.repeat(41)}: too_long`,
  ),
  but(
    'a metadata value of 501 characters',
    { metadata: { note: 'v'.repeat(501) } },
    'metadata.note: too_long',
  ),
  but('a metadata value that is no text', { metadata: { count: 3 } }, 'metadata.count: invalid_type'),
  but('an empty metadata key', { metadata: { '': 'v' } }, 'metadata: too_short'),
  but(
    'an object below the metadata key __proto__',
    { metadata: JSON.parse('{"__proto__":{"a":"b"}}') as object },
    'metadata.__proto__: invalid_type',
  ),
  but('half a surrogate pair in the prompt', { prompt: 'a\ud800b' }, 'prompt: invalid_encoding'),
  but(
    'half a surrogate pair in a metadata key',
    { metadata: { '\udc00': 'v' } },
    'metadata.\ufffd: invalid_encoding',
  ),
  but(
    'half a surrogate pair in a metadata value',
    { metadata: { a: '\udc00' } },
    'metadata.a: invalid_encoding',
  ),
  but('a seed of 1e30', { seed: 1e30 }, 'seed: too_big'),
  ['no prompt, which is null', { model: 'sandbox-pro', prompt: null }, ['prompt: required']],
  but(
    'an image url of another scheme',
    { image_urls: [url(30), 'ftp://example.com/a.png'] },
    'image_urls[1]: refused_target',
  ),
  but(
    'an image url with a user name',
    { image_urls: ['https://me@example.com/'] },
    'image_urls[0]: refused_target',
  ),
  but(
    'an image url of a private address',
    { image_urls: ['https://10.0.0.1/a.png'] },
    'image_urls[0]: refused_target',
  ),
  but('a webhook_url that is no address', { webhook_url: 'hooks' }, 'webhook_url: refused_target'),
  but(
    'a webhook_url with a password',
    { webhook_url: 'https://:secret@example.com/' },
    'webhook_url: refused_target',
  ),
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
  but('metadata that is a list', { metadata: ['a'] }, 'metadata: invalid_type'),
  but('an unknown field', { mood: 'high' }, 'mood: unknown_field'),
  but('a field in another spelling', { aspectRatio: '1:1' }, 'aspectRatio: unknown_field'),
  but('two unknown fields, one item each', { n: 4, size: '1K' }, 'n: unknown_field', 'size: unknown_field'),
  [
    'several things at once',
    { prompt: 5, seed: -1, foo: 1 },
    ['foo: unknown_field', 'model: required', 'prompt: invalid_type', 'seed: too_small'],
  ],
];
