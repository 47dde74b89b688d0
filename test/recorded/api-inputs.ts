/** Requests that try each rule of the input. A quote judges as a submission does, and costs nothing. */
import { gzipSync } from 'node:zlib';
import type { ApiGroup, ApiStep } from './api-step.ts';
import { absentId } from './normalise.ts';

type Row = readonly [what: string, body: object | string];

const least = { model: 'sandbox-pro', prompt: 'a heron' };
const url = (length: number): string => `https://example.com/${'a'.repeat(length - 20)}`;
const image = 'https://example.com/a.png';
const urls = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `https://example.com/${index}.png`);
const metadata = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'v']));

const right: readonly Row[] = [
  ['nothing but model and prompt', least],
  ['prompt of 10,000 characters', { ...least, prompt: 'x'.repeat(10_000) }],
  ['prompt of 10,000 characters with spaces around', { ...least, prompt: `  ${'x'.repeat(10_000)}\n` }],
  ['prompt in any script', { ...least, prompt: '鷺が立つ 🪶 صباح' }],
  ['no prompt, but a source image', { model: 'sandbox-pro', image_urls: [image] }],
  ['an empty prompt and a source image', { model: 'sandbox-pro', prompt: ' ', image_urls: [image] }],
  ['prompt null and a source image', { model: 'sandbox-pro', prompt: null, image_urls: [image] }],
  ['resolution 2K', { ...least, resolution: '2K' }],
  ['resolution 4K', { ...least, resolution: '4K' }],
  ['aspect_ratio 16:9', { ...least, aspect_ratio: '16:9' }],
  ['ten image_urls', { ...least, image_urls: urls(10) }],
  ['image_urls of 2048 characters', { ...least, image_urls: [url(2048)] }],
  ['image_urls by http', { ...least, image_urls: ['http://example.com/a.png'] }],
  ['no image_urls in the list', { ...least, image_urls: [] }],
  ['output_format png', { ...least, output_format: 'png' }],
  ['seed 0', { ...least, seed: 0 }],
  ['seed 2^31-1', { ...least, seed: 2 ** 31 - 1 }],
  ['metadata of 16 keys', { ...least, metadata: metadata(16) }],
  [
    'metadata with a key of 40 and a value of 500 characters',
    { ...least, metadata: { ['k'.repeat(40)]: 'v'.repeat(500) } },
  ],
  ['empty metadata', { ...least, metadata: {} }],
  [
    'metadata with names of JavaScript',
    '{"model":"sandbox-pro","prompt":"x","metadata":{"__proto__":"a","constructor":"b"}}',
  ],
  ['a webhook_url', { ...least, webhook_url: 'https://example.com/hook' }],
  [
    'null in every optional field',
    '{"model":"sandbox-pro","prompt":"x","resolution":null,"aspect_ratio":null,"image_urls":null,' +
      '"webhook_url":null,"output_format":null,"seed":null,"metadata":null}',
  ],
  ['the cheapest model', { model: 'sandbox-sketch', prompt: 'x' }],
  [
    'three source images at 2K',
    { model: 'sandbox-standard', prompt: 'x', resolution: '2K', image_urls: urls(3) },
  ],
  ['the panorama model', { model: 'sandbox-panorama', prompt: 'x' }],
];

const wrong: readonly Row[] = [
  ['no model', { prompt: 'x' }],
  ['an empty model', { ...least, model: '' }],
  ['model of another type', { ...least, model: 3 }],
  ['model null', { ...least, model: null }],
  ['half a surrogate pair in the model', { ...least, model: 'a\ud800' }],
  ['no prompt and no source image', { model: 'sandbox-pro' }],
  ['a prompt of spaces and no source image', { model: 'sandbox-pro', prompt: ' \n\t ' }],
  ['no prompt, which is null', { model: 'sandbox-pro', prompt: null }],
  ['prompt of 10,001 characters', { ...least, prompt: 'x'.repeat(10_001) }],
  ['prompt longer than the model takes', { model: 'sandbox-sketch', prompt: 'x'.repeat(1_001) }],
  ['prompt of another type', { ...least, prompt: ['x'] }],
  ['half a surrogate pair in the prompt', { ...least, prompt: 'a\ud800b' }],
  ['a resolution that is none', { ...least, resolution: '8K' }],
  ['a resolution in lower case', { ...least, resolution: '1k' }],
  ['a resolution of another type', { ...least, resolution: 1 }],
  ['an aspect_ratio that is none', { ...least, aspect_ratio: '1:2' }],
  ['image_urls that is no list', { ...least, image_urls: 'https://example.com/' }],
  ['image_urls with something that is no text', { ...least, image_urls: ['https://example.com/', 7] }],
  ['eleven image_urls', { ...least, image_urls: urls(11) }],
  ['more image_urls than the model takes', { model: 'sandbox-standard', prompt: 'x', image_urls: urls(5) }],
  ['image_urls for a model that takes none', { model: 'sandbox-sketch', prompt: 'x', image_urls: urls(1) }],
  ['an image url of 2049 characters', { ...least, image_urls: [url(30), url(2049)] }],
  ['an image url of another scheme', { ...least, image_urls: [url(30), 'ftp://example.com/a.png'] }],
  ['an image url with a user name', { ...least, image_urls: ['https://me@example.com/'] }],
  ['an image url of a private address', { ...least, image_urls: ['https://10.0.0.1/a.png'] }],
  ['an image url at a low port', { ...least, image_urls: ['https://example.com:22/'] }],
  ['an image url that is no address', { ...least, image_urls: ['a.png'] }],
  ['half a surrogate pair in an image url', { ...least, image_urls: ['https://example.com/\ud800'] }],
  ['a webhook_url of 2049 characters', { ...least, webhook_url: url(2049) }],
  ['a webhook_url of another type', { ...least, webhook_url: 7 }],
  ['a webhook_url that is no address', { ...least, webhook_url: 'hooks' }],
  ['a webhook_url with a password', { ...least, webhook_url: 'https://:secret@example.com/' }],
  ['a webhook_url of the metadata service', { ...least, webhook_url: 'https://169.254.169.254/' }],
  ['an output_format that is none', { ...least, output_format: 'gif' }],
  ['an output_format that the model has not', { ...least, output_format: 'webp' }],
  ['a negative seed', { ...least, seed: -1 }],
  ['a seed of 2^31', { ...least, seed: 2 ** 31 }],
  ['a seed of 1e30', { ...least, seed: 1e30 }],
  ['a seed that is not whole', { ...least, seed: 1.5 }],
  ['a seed in a text', { ...least, seed: '7' }],
  ['metadata of 17 keys', { ...least, metadata: metadata(17) }],
  ['metadata that is a list', { ...least, metadata: ['a'] }],
  ['metadata that is a text', { ...least, metadata: 'a' }],
  ['a metadata key of 41 characters', { ...least, metadata: { ['k'.repeat(41)]: 'v' } }],
  ['a metadata value of 501 characters', { ...least, metadata: { note: 'v'.repeat(501) } }],
  ['a metadata value that is no text', { ...least, metadata: { count: 3 } }],
  ['an empty metadata key', { ...least, metadata: { '': 'v' } }],
  [
    'an object below the metadata key __proto__',
    '{"model":"sandbox-pro","prompt":"x","metadata":{"__proto__":{"a":"b"}}}',
  ],
  ['half a surrogate pair in a metadata key', { ...least, metadata: { '\udc00': 'v' } }],
  ['half a surrogate pair in a metadata value', { ...least, metadata: { a: '\udc00' } }],
  ['an unknown field', { ...least, lighting: 'high' }],
  ['a field in another spelling', { ...least, aspectRatio: '1:1' }],
  ['two unknown fields', { ...least, n: 4, size: '1K' }],
  ['several things at once', { prompt: 5, seed: -1, foo: 1 }],
  [
    'wrong addresses beside other wrong fields',
    { model: 'none', seed: -1, image_urls: ['x', url(2049)], webhook_url: 'y' },
  ],
  ['a model that does not exist', { ...least, model: 'no-such-model' }],
  ['a model that differs in its case', { ...least, model: 'Sandbox-Pro' }],
  [
    'a ratio that no provider renders at this resolution',
    { ...least, resolution: '1K', aspect_ratio: '21:9' },
  ],
  ['a resolution that the model never renders', { model: 'sandbox-sketch', prompt: 'x', resolution: '4K' }],
  ['a ratio that the model never renders', { model: 'sandbox-sketch', prompt: 'x', aspect_ratio: '21:9' }],
  ['a model whose providers are all off', { model: 'gpt-image-2', prompt: 'x' }],
  ['a resolution in any wrong form beside a wrong ratio', { ...least, resolution: '', aspect_ratio: '' }],
];

const posts = (path: string, rows: readonly Row[]): ApiStep[] =>
  rows.map(([what, body]) => ({ what, send: `POST ${path}`, body }));

const padded = (bytes: number): string =>
  JSON.stringify({ model: 'no-such-model', prompt: 'x' }).padEnd(bytes, ' ');
const type = (value: string): Pick<ApiStep, 'headers'> => ({ headers: { 'content-type': value } });

/** The body as a whole, before any of its fields. */
const bodies: readonly Omit<ApiStep, 'send'>[] = [
  { what: 'no JSON', body: '{"model":' },
  { what: 'nothing', body: '' },
  { what: 'a list', body: '[]' },
  { what: 'a text', body: '"model"' },
  { what: 'a number', body: '7' },
  { what: 'null', body: 'null' },
  { what: 'an empty object', body: '{}' },
  { what: 'not UTF-8', body: Buffer.from('{"model":"\xe9"}', 'latin1') },
  { what: 'compressed', body: gzipSync(JSON.stringify(least)), headers: { 'content-encoding': 'gzip' } },
  { what: 'more than 256 KiB', body: padded(256 * 1024 + 1) },
  { what: 'exactly 256 KiB', body: padded(256 * 1024) },
  { what: 'plain text', body: JSON.stringify(least), ...type('text/plain') },
  { what: 'a form', body: 'model=sandbox-pro', ...type('application/x-www-form-urlencoded') },
  { what: 'something like JSON', body: JSON.stringify(least), ...type('application/json5') },
  { what: 'JSON with a charset', body: padded(60), ...type('application/json; charset=utf-8') },
  { what: 'JSON in another case', body: padded(60), ...type('Application/JSON') },
];

const wrongQuery = 'user=a&__proto__=b&constructor=c&=d';
const queries: readonly ApiStep[] = [
  { what: 'models', send: `GET /models?${wrongQuery}` },
  { what: 'balance', send: `GET /balance?${wrongQuery}` },
  { what: 'list', send: `GET /creations?${wrongQuery}` },
  { what: 'one creation', send: `GET /creations/${absentId}?${wrongQuery}` },
  {
    what: 'quote, beside a wrong field',
    send: `POST /images/quote?${wrongQuery}`,
    body: { ...least, seed: -1 },
  },
  {
    what: 'generate, beside a wrong field',
    send: `POST /images/generate?${wrongQuery}`,
    body: { ...least, seed: -1 },
  },
  { what: 'quote, beside a right body', send: 'POST /images/quote?dry=1', body: least },
  { what: 'another spelling', send: 'GET /creations?Limit=2' },
  { what: 'limit 0', send: 'GET /creations?limit=0' },
  { what: 'limit 101', send: 'GET /creations?limit=101' },
  { what: 'limit 100', send: 'GET /creations?limit=100' },
  { what: 'limit 2.5', send: 'GET /creations?limit=2.5' },
  { what: 'limit many', send: 'GET /creations?limit=many' },
  { what: 'limit -1', send: 'GET /creations?limit=-1' },
  { what: 'an empty limit', send: 'GET /creations?limit=' },
  { what: 'a limit twice', send: 'GET /creations?limit=1&limit=2' },
  { what: 'a wrong cursor', send: 'GET /creations?cursor=nonsense' },
  { what: 'an empty cursor', send: 'GET /creations?cursor=' },
  { what: 'a wrong status', send: 'GET /creations?status=done' },
  { what: 'an empty model', send: 'GET /creations?model=' },
  { what: 'an unknown model', send: 'GET /creations?model=constructor' },
  { what: 'everything wrong', send: 'GET /creations?user=me&limit=0&status=done&cursor=x&model=' },
];

const malformedIds = [
  'nonsense',
  '%00',
  absentId.toUpperCase(),
  absentId,
  'f47ac10b-58cc-4372-a567-0e02b2c3d479',
  '%27%20OR%201=1',
];
const paths: readonly ApiStep[] = [
  ...[
    '/nothing',
    '/models/sandbox-pro',
    '/images',
    '/images/generate/',
    '/creations/',
    '/../v1/nothing',
    '/Models',
    '//models',
  ].map((path): ApiStep => ({ what: `unknown ${path}`, send: `GET ${path}` })),
  { what: 'the root of the API', send: 'GET ' },
  { what: 'a POST to nowhere', send: 'POST /nothing', body: {} },
  ...malformedIds.map((id): ApiStep => ({ what: `no creation ${id}`, send: `GET /creations/${id}` })),
];

const routes = [
  '/models',
  '/balance',
  '/creations',
  `/creations/${absentId}`,
  '/images/generate',
  '/images/quote',
];
const isPost = (path: string): boolean => path.startsWith('/images');
const methods: readonly ApiStep[] = routes.flatMap((path) =>
  ['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', isPost(path) ? 'GET' : 'POST'].map((method): ApiStep => ({
    what: `${method} ${path}`,
    send: `${method} ${path}`,
  })),
);

export const inputGroups: readonly ApiGroup[] = [
  { name: 'a right field', steps: posts('/images/quote', right) },
  { name: 'a wrong field of a quote', steps: posts('/images/quote', wrong) },
  { name: 'a wrong field of a submission', steps: posts('/images/generate', wrong) },
  { name: 'the body', steps: bodies.map((step) => ({ ...step, send: 'POST /images/generate' })) },
  {
    name: 'the body of a quote',
    steps: bodies.slice(0, 9).map((step) => ({ ...step, send: 'POST /images/quote' })),
  },
  { name: 'a query parameter', steps: queries },
  { name: 'a path', steps: paths },
  { name: 'a wrong method', steps: methods },
];
