import {
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  request as httpRequest,
  type Server,
} from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createResults } from '../../local/front/objects.ts';
import { createGateway } from '../../local/gateway/gateway.ts';
import { createRouter } from '../../local/gateway/router.ts';
import { listenOnLoopback } from '../../local/http.ts';
import type { InvocationResult } from '../../local/lambda/messages.ts';

const routes = [
  'POST /v1/images/generate',
  'GET /v1/creations/{id}',
  'GET /v1/creations/mine',
  'ANY /v1/files/{proxy+}',
  'GET /v1/files/{name}',
  '$default',
].map((routeKey) => ({ routeKey, functionId: routeKey }));

describe('the router', () => {
  const find = createRouter(routes);
  it.each([
    ['POST', '/v1/images/generate', 'POST /v1/images/generate', {}],
    ['GET', '/v1/images/generate', '$default', {}],
    // An HTTP API does not route HEAD to GET, and without CORS settings it does not answer a preflight
    // itself.
    ['HEAD', '/v1/creations/mine', '$default', {}],
    ['OPTIONS', '/v1/images/generate', '$default', {}],
    ['OPTIONS', '/v1/files/a', 'ANY /v1/files/{proxy+}', { proxy: 'a' }],
    ['GET', '/v1/creations/a%20b', 'GET /v1/creations/{id}', { id: 'a b' }],
    ['GET', '/v1/creations/mine', 'GET /v1/creations/mine', {}],
    ['GET', '/v1/creations/', '$default', {}],
    ['GET', '/v1/creations/a/b', '$default', {}],
    ['GET', '/v1/files/a', 'GET /v1/files/{name}', { name: 'a' }],
    ['PUT', '/v1/files/a', 'ANY /v1/files/{proxy+}', { proxy: 'a' }],
    ['GET', '/v1/files/a/b/c', 'ANY /v1/files/{proxy+}', { proxy: 'a/b/c' }],
    ['GET', '/v1/creations/%zz', 'GET /v1/creations/{id}', { id: '%zz' }],
  ])('The router sends %s %s to %s', (method, path, routeKey, pathParameters) => {
    expect(find(method, path)).toEqual({ route: { routeKey, functionId: routeKey }, pathParameters });
  });

  it('The router finds no route for another path when there is no $default', () => {
    expect(createRouter(routes.slice(0, 2))('GET', '/nowhere')).toBeUndefined();
  });
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe('the gateway', () => {
  let server: Server;
  let port = 0;
  let event: APIGatewayProxyEventV2;
  let respond: () => Promise<InvocationResult> | InvocationResult = () => ({
    ok: true,
    payload: { statusCode: 200 },
  });
  beforeAll(async () => {
    const invoke = (_id: string, given: unknown): Promise<InvocationResult> => {
      event = given as APIGatewayProxyEventV2;
      return Promise.resolve(respond());
    };
    const gateway = createGateway({
      routes: routes.slice(0, 2),
      functions: { invoke },
      now: () => Date.UTC(2026, 10, 21, 3, 4, 5),
      integrationMillis: 100,
    });
    server = createServer((incoming, outgoing) => void gateway.handle(incoming, outgoing));
    port = await listenOnLoopback(server);
  });
  afterAll(() => server.close());

  function send(
    method: string,
    path: string,
    options: { headers?: OutgoingHttpHeaders; body?: string | Buffer; from?: string } = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(
        {
          port,
          host: '127.0.0.1',
          method,
          path,
          headers: options.headers ?? {},
          localAddress: options.from,
          agent: false,
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('end', () =>
            resolve({
              status: incoming.statusCode ?? 0,
              headers: incoming.headers,
              body: Buffer.concat(chunks).toString(),
            }),
          );
        },
      );
      outgoing.on('error', reject);
      outgoing.end(options.body);
    });
  }

  it('The gateway makes an event in payload format 2.0', async () => {
    await send('POST', '/v1/images/generate?a=1&b=x%20y&a=2', {
      from: '127.0.0.7',
      headers: {
        'Content-Type': 'application/json',
        'X-Twice': ['one', 'two'],
        Cookie: 'a=1; b=2',
        'User-Agent': 'test',
        'X-Forwarded-For': '8.8.8.8',
      },
      body: '{"prompt":"ä"}',
    });
    expect(event).toMatchObject({
      version: '2.0',
      routeKey: 'POST /v1/images/generate',
      rawPath: '/v1/images/generate',
      rawQueryString: 'a=1&b=x%20y&a=2',
      queryStringParameters: { a: '1,2', b: 'x y' },
      cookies: ['a=1', 'b=2'],
      body: '{"prompt":"ä"}',
      isBase64Encoded: false,
      headers: { 'content-type': 'application/json', 'x-twice': 'one,two' },
      requestContext: {
        stage: '$default',
        routeKey: 'POST /v1/images/generate',
        time: '21/Nov/2026:03:04:05 +0000',
        timeEpoch: Date.UTC(2026, 10, 21, 3, 4, 5),
        http: {
          method: 'POST',
          path: '/v1/images/generate',
          protocol: 'HTTP/1.1',
          sourceIp: '127.0.0.7',
          userAgent: 'test',
        },
      },
    });
    expect(event.headers['cookie']).toBeUndefined();
    expect(event.pathParameters).toBeUndefined();
  });

  it('The gateway passes path variables on, and no body for a request without one', async () => {
    await send('GET', '/v1/creations/abc');
    expect(event).toMatchObject({
      pathParameters: { id: 'abc' },
      rawQueryString: '',
      isBase64Encoded: false,
    });
    expect(event.body).toBeUndefined();
  });

  it.each([
    ['image/png', Buffer.from([0x89, 0x50]), true],
    ['application/json', Buffer.from([0xff, 0xfe]), true],
    ['text/plain', Buffer.from('hi'), false],
  ])('The gateway passes a body of type %s on as text only when it is text', async (type, body, encoded) => {
    await send('POST', '/v1/images/generate', { headers: { 'content-type': type }, body });
    expect([event.isBase64Encoded, event.body]).toEqual([
      encoded,
      body.toString(encoded ? 'base64' : 'utf8'),
    ]);
  });

  it("The gateway sends the function's answer", async () => {
    respond = () => ({
      ok: true,
      payload: {
        statusCode: 202,
        headers: { Location: '/x', 'Retry-After': 2, 'Content-Length': '999' },
        cookies: ['a=1', 'b=2'],
        body: Buffer.from('héllo').toString('base64'),
        isBase64Encoded: true,
      },
    });
    expect(await send('GET', '/v1/creations/a')).toMatchObject({
      status: 202,
      body: 'héllo',
      headers: {
        location: '/x',
        'retry-after': '2',
        'content-length': '6',
        'set-cookie': ['a=1', 'b=2'],
        'content-type': 'text/plain;charset=UTF-8',
      },
    });
    respond = () => ({ ok: true, payload: { plain: true } });
    expect(await send('GET', '/v1/creations/a')).toMatchObject({
      status: 200,
      body: '{"plain":true}',
      headers: { 'content-type': 'application/json' },
    });
  });

  it.each([
    [
      'the function fails',
      (): InvocationResult => ({ ok: false, error: { errorType: 'Error', errorMessage: 'secret' } }),
      500,
      '{"message":"Internal Server Error"}',
    ],
    [
      "the function's answer is malformed",
      (): InvocationResult => ({ ok: true, payload: { statusCode: 'fine', body: 5 } }),
      500,
      '{"message":"Internal Server Error"}',
    ],
    [
      'the function takes too long',
      (): Promise<InvocationResult> => new Promise(() => 0),
      503,
      '{"message":"Service Unavailable"}',
    ],
  ])("The gateway answers in AWS's words when %s", async (_when, answer, status, body) => {
    respond = answer;
    expect(await send('GET', '/v1/creations/a')).toMatchObject({ status, body });
  });

  it('The gateway itself refuses an unknown route and a body over 10 MB, with or without a Content-Length', async () => {
    respond = () => {
      throw new Error('must not be called');
    };
    const headers = { 'apigw-requestid': expect.stringMatching(/^[0-9a-f-]{36}$/) as string };
    expect(await send('GET', '/nowhere')).toMatchObject({
      status: 404,
      headers,
      body: '{"message":"Not Found"}',
    });
    const large = { status: 413, headers, body: '{"message":"Request Entity Too Large"}' };
    const body = Buffer.alloc(10 * 1024 * 1024 + 1);
    expect(await send('POST', '/v1/images/generate', { body })).toMatchObject(large);
    expect(
      await send('POST', '/v1/images/generate', { body, headers: { 'transfer-encoding': 'chunked' } }),
    ).toMatchObject(large);
  });

  it('The gateway accepts a body of exactly 10 MB', async () => {
    respond = () => ({ ok: true, payload: { statusCode: 204 } });
    expect(await send('POST', '/v1/images/generate', { body: Buffer.alloc(10 * 1024 * 1024) })).toMatchObject(
      { status: 204 },
    );
  });
});

describe('the results of the distribution', () => {
  let server: Server;
  let url = '';
  beforeAll(async () => {
    const found = {
      body: Buffer.from('png'),
      contentType: 'image/png',
      cacheControl: 'public',
      expires: 'Fri, 25 Dec 2026 18:00:00 GMT',
      etag: '"e"',
      lastModified: new Date(0),
    };
    const handle = createResults(
      {
        read: (bucket, key) =>
          Promise.resolve(
            bucket === 'images' && ['a b/1.png', 'uploads/1.png', 'ab'].includes(key) ? found : undefined,
          ),
      },
      {
        ...{ bucket: 'images', added: {}, pages: [] },
        readable: ['arn:aws:s3:::images/a b/*', 'arn:aws:s3:::images/a'],
      },
      { url: '', keyGroups: { keyIn: () => undefined }, now: () => 0 },
    );
    server = createServer((incoming, outgoing) => void handle(incoming, outgoing));
    url = `http://127.0.0.1:${await listenOnLoopback(server)}/_results`;
  });
  afterAll(() => server.close());

  it('The results are served to GET and HEAD with their type and cache rules', async () => {
    const response = await fetch(`${url}/a%20b/1.png`);
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('cache-control'),
      response.headers.get('expires'),
      await response.text(),
    ]).toEqual([200, 'image/png', 'public', 'Fri, 25 Dec 2026 18:00:00 GMT', 'png']);
    const head = await fetch(`${url}/a%20b/1.png`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '3', '']);
  });

  it.each([
    ['GET', '/missing.png'],
    ['GET', '/%zz'],
    ['GET', '/uploads/1.png'],
    ['GET', '/ab'],
    ['GET', '/a%20b/../uploads/1.png'],
    ['PUT', '/a%20b/1.png'],
  ])('The distribution refuses %s %s as S3 does behind CloudFront', async (method, path) => {
    const response = await fetch(`${url}${path}`, { method });
    expect(response.status).toBe(403);
    expect(await response.text()).toContain('<Code>AccessDenied</Code>');
  });
});
