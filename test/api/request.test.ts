/** Which requests the API accepts and which it refuses, before any operation begins. */
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../core/contract.ts';
import { startTestService, type Answer, type Client, type TestService } from '../fixtures/service.ts';
import { everyAnswer, isMadeByGateway } from './every-answer.ts';
import { fieldsOf, refusalOf } from './refusal.ts';

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await startTestService();
  client = await service.client({ postRate: '10000', getRate: '10000', balance: '100' });
});
afterAll(() => service.end());

/** A quote is checked by the same rules as a submission and costs nothing, so its 200 stands for a 202. */
function quote(body: object): Promise<Answer> {
  return service.send('/images/quote', { key: client.key, body });
}

const least = { model: 'sandbox-pro', prompt: 'a heron' };
const url = (length: number): string => `https://example.com/${'a'.repeat(length - 20)}`;
const metadata = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'v']));

describe('the fields of POST /images/generate that are accepted', () => {
  it.each<[string, object]>([
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
      },
    ],
    [
      'prompt null and a source image',
      { model: 'sandbox-pro', prompt: null, image_urls: ['https://example.com/a.png'] },
    ],
  ])('The request is accepted with %s', async (_what, body) => {
    expect((await quote(body)).status).toBe(200);
  });
});

describe('the fields of POST /images/generate that are refused', () => {
  it.each<[string, object, string[]]>([
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
  ])(
    'The request is refused with 400 ERR_INVALID_REQUEST and named fields for %s',
    async (_what, body, fields) => {
      const [submitted, quoted] = await Promise.all([
        service.send('/images/generate', { key: client.key, body }),
        quote(body),
      ]);
      expect(refusalOf(submitted)).toMatchObject({ status: 400, code: 'ERR_INVALID_REQUEST' });
      expect(fieldsOf(submitted).sort()).toEqual([...fields].sort());
      expect(quoted.text).toBe(submitted.text);
      for (const item of refusalOf(submitted).details['errors'] as object[])
        expect(Object.keys(item)).toEqual(['field', 'code', 'message']);
    },
  );

  it('The refused requests charged nothing', async () => {
    expect((await service.operator.wallet.ledger(client.account.id)).map(({ kind }) => kind)).toEqual([
      'top_up',
    ]);
  });
});

describe('the body of POST /images/generate', () => {
  const send = (body: string | Uint8Array, type = 'application/json'): Promise<Answer> =>
    service.send('/images/generate', { key: client.key, body, headers: { 'content-type': type } });
  const padded = (bytes: number): string =>
    JSON.stringify({ ...least, model: 'no-such-model', prompt: 'x' }).padEnd(bytes, ' ');

  it.each<[string, string | Uint8Array, string, string]>([
    ['no JSON', '{"model":', 'application/json', 'body: invalid_json'],
    ['nothing', '', 'application/json', 'body: invalid_json'],
    ['a list', '[]', 'application/json', 'body: invalid_type'],
    ['a text', '"model"', 'application/json', 'body: invalid_type'],
    ['null', 'null', 'application/json', 'body: invalid_type'],
    ['not UTF-8', Buffer.from('{"model":"\xe9"}', 'latin1'), 'application/json', 'body: invalid_encoding'],
    ['more than 256 KiB', padded(256 * 1024 + 1), 'application/json', 'body: too_long'],
    ['of another content type', JSON.stringify(least), 'text/plain', 'Content-Type: invalid_value'],
    ['a form', 'model=sandbox-pro', 'application/x-www-form-urlencoded', 'Content-Type: invalid_value'],
    ['something like JSON', JSON.stringify(least), 'application/json5', 'Content-Type: invalid_value'],
  ])('A body that is %s is answered 400', async (_what, body, type, field) => {
    const answer = await send(body, type);
    expect([answer.status, ...fieldsOf(answer)]).toEqual([400, field]);
  });

  it('A compressed body is not decoded and is answered 400', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const answer = await service.send('/images/generate', {
      key: client.key,
      body: gzipSync(JSON.stringify(least)),
      headers,
    });
    expect([answer.status, ...fieldsOf(answer)]).toEqual([400, 'body: invalid_encoding']);
  });

  it('A body of exactly 256 KiB is read', async () => {
    expect(refusalOf(await send(padded(256 * 1024))).code).toBe('ERR_MODEL_NOT_FOUND');
  });

  it.each(['application/json; charset=utf-8', 'Application/JSON'])('A body may come as %s', async (type) => {
    expect(refusalOf(await send(padded(100), type)).code).toBe('ERR_MODEL_NOT_FOUND');
  });

  it('A body over 10 MB is answered by the gateway itself with 413, without the envelope', async () => {
    const answer = await send(Buffer.alloc(10 * 1024 * 1024 + 1, 32));
    expect([answer.status, answer.text, isMadeByGateway(answer)]).toEqual([
      413,
      '{"message":"Request Entity Too Large"}',
      true,
    ]);
  });
});

describe('an unknown query parameter', () => {
  const id = '01939f4e-0000-7000-8000-000000000000';
  const send = (name: keyof typeof operations, query: string): Promise<Answer> => {
    const { method, path } = operations[name];
    return service.send(`${path.replace('{id}', id)}?${query}`, {
      key: client.key,
      method,
      ...(method === 'POST' && { body: { ...least, seed: -1 } }),
    });
  };
  const names = Object.keys(operations) as (keyof typeof operations)[];

  it.each(names)('A parameter that %s does not take is refused with 400 and its name', async (name) => {
    const bodyErrors = operations[name].method === 'POST' ? ['seed: too_small'] : [];
    const answer = await send(name, 'user=a&__proto__=b&constructor=c&=d');
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'ERR_INVALID_REQUEST' });
    expect(fieldsOf(answer)).toEqual(
      ['user', '__proto__', 'constructor', 'query']
        .map((field) => `${field}: unknown_parameter`)
        .concat(bodyErrors),
    );
  });

  it('A parameter in another spelling is refused too', async () => {
    expect(fieldsOf(await send('listCreations', 'Limit=2'))).toEqual(['Limit: unknown_parameter']);
  });
});

describe('a path without an operation', () => {
  it.each([
    '/nothing',
    '/models/sandbox-pro',
    '/images',
    '/images/generate/',
    '/creations/',
    '',
    '/../v1/nothing',
  ])('An unknown path is answered 404 ERR_NOT_FOUND after the authentication: GET %s', async (path) => {
    const answer = await service.send(path, { key: client.key });
    expect(refusalOf(answer)).toMatchObject({ status: 404, code: 'ERR_NOT_FOUND' });
    expect(answer.headers.get('allow')).toBeNull();
    expect((answer.body as { error: { message: string } }).error.message).toContain(
      "The API's root is /api/public/v1.",
    );
  });

  it.each([
    ['POST', '/models', 'GET'],
    ['DELETE', '/models', 'GET'],
    ['GET', '/images/generate', 'POST'],
    ['PUT', '/images/quote', 'POST'],
    ['DELETE', '/creations/01939f4e-0000-7000-8000-000000000000', 'GET'],
    ['PATCH', '/creations', 'GET'],
    ['POST', '/balance', 'GET'],
    ['OPTIONS', '/images/generate', 'POST'],
  ])('A wrong method is answered 404 with Allow: %s %s', async (method, path, allow) => {
    const answer = await service.send(path, { key: client.key, method });
    expect(refusalOf(answer)).toMatchObject({ status: 404, code: 'ERR_NOT_FOUND' });
    expect(answer.headers.get('allow')).toBe(allow);
  });
});

it.each(['HEAD', 'OPTIONS'])(
  'The method %s belongs to no operation: the answer is 404 with Allow, counted against the POST rate',
  async (method) => {
    // This answer is not kept with the others, because an answer to HEAD has no body.
    const answer = await fetch(`${service.machine.apiUrl}/models`, {
      method,
      headers: { authorization: `Bearer ${client.key}` },
    });
    expect([answer.status, answer.headers.get('allow')]).toEqual([404, 'GET']);
    expect(answer.headers.get('ratelimit-policy')).toMatch(/^"post"/);
  },
);

it('A preflight request carries no key and is answered 401', async () => {
  const headers = { origin: 'https://client.test', 'access-control-request-method': 'GET' };
  expect((await service.send('/models', { key: null, method: 'OPTIONS', headers })).status).toBe(401);
});

describe('the request id', () => {
  it("Each request has its own id, which equals the gateway's own header", async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => service.send('/models', { key: client.key })),
    );
    expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(5);
    for (const { headers } of answers)
      expect(headers.get('x-request-id')).toBe(headers.get('apigw-requestid'));
  });

  it('The id is not taken from the client', async () => {
    expect(
      (await service.send('/models', { key: client.key, headers: { 'x-request-id': 'mine' } })).headers.get(
        'x-request-id',
      ),
    ).not.toBe('mine');
  });
});

it('An address that a client writes into X-Forwarded-For is not believed', async () => {
  const statuses = await Promise.all(
    Array.from({ length: 22 }, (_, index) => anonymous(`203.0.113.${index}`)),
  );
  expect(statuses.every((status) => status === 401)).toBe(true);
  expect(await anonymous('203.0.113.99')).toBe(429);
});

/** Sends a request without a key from an address of its own. */
function anonymous(forwardedFor: string): Promise<number> {
  return new Promise((resolve, reject) => {
    httpRequest(
      `${service.machine.apiUrl}/models`,
      { localAddress: '127.0.2.1', agent: false, headers: { 'x-forwarded-for': forwardedFor } },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    )
      .on('error', reject)
      .end();
  });
}

everyAnswer(() => service);
