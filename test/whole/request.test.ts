/** Which bodies, queries, paths and headers the API accepts and which it refuses. */
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { operations } from '../../service/contract/operations.ts';
import { type Answer, sharedTestService } from '../fixtures/service.ts';
import { everyAnswer, isMadeByGateway } from './every-answer.ts';
import { fieldsOf, refusalOf, withinOneMinute } from './refusal.ts';
import { acceptedBodies, refusedBodies } from './request-bodies.ts';

const service = await sharedTestService();
const client = await service.client({ postRate: '10000', getRate: '10000', balance: '100' });
afterAll(() => service.end());

const least = { model: 'sandbox-pro', prompt: 'a heron' };

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
    ['without a type', JSON.stringify(least), '', 'Content-Type: invalid_value'],
    [
      'in Latin-1',
      JSON.stringify(least),
      'application/json; charset=iso-8859-1',
      'Content-Type: invalid_value',
    ],
    ['in UTF-80', JSON.stringify(least), 'application/json; charset=utf-80', 'Content-Type: invalid_value'],
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

  it.each(['application/json; charset="UTF-8"; v=1', 'Application/JSON'])(
    'A body may come as %s',
    async (type) => {
      expect(refusalOf(await send(padded(100), type)).code).toBe('ERR_MODEL_NOT_FOUND');
    },
  );

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
  /** A body with one error, which the answer reports together with the unknown parameters. */
  const wrongBodies: Readonly<Record<string, { body: object; error: string }>> = {
    createUpload: { body: { content_type: 'image/png', bytes: 0 }, error: 'bytes: too_small' },
    createEndpoint: {
      body: { url: 'https://example.com/', events: [] },
      error: 'events: too_small',
    },
    changeEndpoint: { body: { events: [] }, error: 'events: too_small' },
    setBucket: {
      body: {
        ...{ endpoint: 'https://s3.example.com', bucket: 'pictures', region: 'auto', prefix: 7 },
        credentials: { access_key_id: 'a', secret_access_key: 'b' },
      },
      error: 'prefix: invalid_type',
    },
    copyAgain: { body: { creation_id: 7 }, error: 'creation_id: invalid_type' },
    createUserToken: { body: { user: 'a', spend_limit: 0 }, error: 'spend_limit: too_small' },
  };
  const wrongBody = (name: keyof typeof operations): { body: object; error: string } =>
    wrongBodies[name] ?? { body: { ...least, seed: -1 }, error: 'seed: too_small' };
  const send = (name: keyof typeof operations, query: string): Promise<Answer> => {
    const { method, path } = operations[name];
    return service.send(`${path.replace('{id}', id)}?${query}`, {
      key: client.key,
      method,
      ...(/POST|PATCH|PUT/.test(method) && { body: wrongBody(name).body }),
    });
  };
  const names = Object.keys(operations) as (keyof typeof operations)[];

  it.each(names)('A parameter that %s does not take is refused with 400 and its name', async (name) => {
    // A cancel and a revocation read no body.
    const readsBody =
      /POST|PATCH|PUT/.test(operations[name].method) &&
      name !== 'cancelCreation' &&
      name !== 'revokeUserToken';
    const bodyErrors = readsBody ? [wrongBody(name).error] : [];
    const answer = await send(name, 'users=a&__proto__=b&constructor=c&=d');
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'ERR_INVALID_REQUEST' });
    expect(fieldsOf(answer)).toEqual(
      ['users', '__proto__', 'constructor', 'query']
        .map((field) => `${field}: unknown_parameter`)
        .concat(bodyErrors),
    );
  });

  it.each([
    ['/images/generate', least],
    ['/images/quote', least],
    ['/uploads', { content_type: 'image/png', bytes: 1 }],
    ['/webhooks/endpoints', { url: 'https://example.com/', events: ['creation.completed'] }],
  ])('One such parameter is enough for a refusal, also with a good body: POST %s', async (path, body) => {
    const answer = await service.send(`${path}?users=a`, { key: client.key, body });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'ERR_INVALID_REQUEST' });
    expect(fieldsOf(answer)).toEqual(['users: unknown_parameter']);
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
    ['PUT', '/creations/01939f4e-0000-7000-8000-000000000000', 'GET, DELETE'],
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

describe('the paths of callbacks', () => {
  const path = '/callbacks/v1/fal/01939f4e-0000-7000-8000-000000000000/no-capability';
  const ask = async (method: string, at: string, key?: string): Promise<number> => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    return (await fetch(new URL(at, service.machine.apiUrl), { method, headers })).status;
  };

  it('A POST to an address that no job has is answered 404', async () => {
    expect(await ask('POST', path)).toBe(404);
  });

  it.each([
    ['GET', path],
    ['POST', `${path}/more`],
    ['POST', '/callbacks/v1'],
  ])('%s %s belongs to no operation: 401 without a key, and 404 with one', async (method, at) => {
    expect([await ask(method, at), await ask(method, at, client.key)]).toEqual([401, 404]);
  });
});

it('A preflight request carries no key, is answered 204 without an account, and allows nothing where no token is taken', async () => {
  const headers = { origin: 'https://client.test', 'access-control-request-method': 'GET' };
  const answer = await fetch(`${service.machine.apiUrl}/balance`, { method: 'OPTIONS', headers });
  expect([answer.status, await answer.text()]).toEqual([204, '']);
  const allowed = [...answer.headers.keys()].filter((name) => name.startsWith('access-control'));
  expect([allowed, answer.headers.get('ratelimit-policy')]).toEqual([[], null]);
});

it('Thirty preflights and thirty requests of foreign pages without a key leave the address alone', async () => {
  const { apiUrl } = service.machine;
  const preflight = { origin: 'https://client.test', 'access-control-request-method': 'GET' };
  for (let one = 0; one < 30; one += 1) {
    await fetch(`${apiUrl}/models`, { method: 'OPTIONS', headers: preflight });
    const answer = await service.send('/models', { key: null, headers: { 'sec-fetch-site': 'cross-site' } });
    expect(answer.status).toBe(401);
  }
  expect((await service.send('/models', { key: client.key })).status).toBe(200);
});

describe('the request id', () => {
  it('Each request has its own id: that of the gateway, its account and its second', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => service.send('/models', { key: client.key })),
    );
    expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(5);
    for (const { headers } of answers)
      expect(headers.get('x-request-id')?.split('.').slice(0, 2)).toEqual([
        headers.get('apigw-requestid'),
        client.account.id,
      ]);
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
  withinOneMinute(service);
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

/** A quote is checked by the same rules as a submission and costs nothing, so its 200 stands for a 202. */
function quote(body: object): Promise<Answer> {
  return service.send('/images/quote', { key: client.key, body });
}

describe('the fields of POST /images/generate that are accepted', () => {
  it.each(acceptedBodies)('The request is accepted with %s', async (_what, body) => {
    expect((await quote(body)).status).toBe(200);
  });
});

describe('the fields of POST /images/generate that are refused', () => {
  it.each(refusedBodies)(
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

everyAnswer(() => service);
