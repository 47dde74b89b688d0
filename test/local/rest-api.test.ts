/** The stand-in of a REST API: which requests reach the function, what it gets, and how its answer comes out. */
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { crashes, failure } from './lambda-fixture.ts';
import { createRestRunner, wholeOf } from './rest-fixture.ts';

const rest = createRestRunner();

/** Answers with the event. */
const echo = `answer(200, { 'content-type': 'application/json' });
  await write(JSON.stringify(event));
  await end()`;
const eventOf = (body: Buffer): APIGatewayProxyEvent => JSON.parse(body.toString()) as APIGatewayProxyEvent;
const megabyte = 1024 * 1024;

describe('the answer of a function', () => {
  it('Status and headers come before the body, and each part comes when the function writes it', async () => {
    const { open, clock } = await rest(`answer(201, { 'X-Kind': 'streamed' });
      await write('');
      await until(event.headers['x-start'] * 1 + 1);
      await write('one');
      await until(event.headers['x-start'] * 1 + 2);
      await write(Uint8Array.of(0, 255, 10));
      await until(event.headers['x-start'] * 1 + 3);
      await end()`);
    const start = clock.freeze();
    const incoming = await open('GET', '/shop', { headers: { 'x-start': String(start) } });
    expect([incoming.statusCode, incoming.headers['x-kind']]).toEqual([201, 'streamed']);
    clock.jumpTo(start + 1);
    expect(String((await once(incoming, 'data'))[0])).toBe('one');
    clock.jumpTo(start + 2);
    expect((await once(incoming, 'data'))[0]).toEqual(Buffer.of(0, 255, 10));
    expect(incoming.complete).toBe(false);
    clock.jumpTo(start + 3);
    await once(incoming, 'end');
    expect(incoming.complete).toBe(true);
  });

  it('The head waits for the first write, as in Lambda', async () => {
    const { open, clock } = await rest(`answer(200);
      await until(event.headers['x-start'] * 1 + 1);
      await write('first');
      await end()`);
    const start = clock.freeze();
    const opened = open('GET', '/shop', { headers: { 'x-start': String(start) } });
    const first = await Promise.race([opened.then(() => 'head'), setTimeout(300, 'nothing')]);
    expect(first).toBe('nothing');
    clock.jumpTo(start + 1);
    expect((await wholeOf(await opened)).body.toString()).toBe('first');
  });

  it('An answer of 20 MB arrives byte by byte as it was written', async () => {
    const { send } = await rest(`answer(200);
      for (let part = 0; part < 20; part += 1) await write(new Uint8Array(1024 * 1024).fill(part));
      await end()`);
    const { body, isWhole } = await send('GET', '/shop');
    expect([body.length, isWhole]).toEqual([20 * megabyte, true]);
    for (const part of [0, 7, 19]) expect(body[part * megabyte + 5]).toBe(part);
  });

  it('A function waits while its client takes nothing', async () => {
    const { open, log } = await rest(`answer(200);
      for (let part = 0; part < 48; part += 1) { await write(new Uint8Array(1024 * 1024)); console.log(part) }
      await end()`);
    const incoming = await open('GET', '/shop');
    await setTimeout(700);
    const before = log.length;
    // The sockets of this machine hold some megabytes.
    expect(before).toBeLessThan(32);
    await setTimeout(300);
    expect(log).toHaveLength(before);
    expect((await wholeOf(incoming)).body).toHaveLength(48 * megabyte);
  });

  it('A function goes on when its client has left', async () => {
    const { open, log, functions } = await rest(`answer(200);
      await write('begun');
      await until(event.headers['x-start'] * 1 + 1);
      for (let part = 0; part < 16; part += 1) await write(new Uint8Array(1024 * 1024));
      await end();
      console.log('went on')`);
    const incoming = await open('GET', '/shop', { headers: { 'x-start': String(Date.now() + 300) } });
    incoming.destroy();
    await expect.poll(() => log.map(({ line }) => line)).toEqual(['went on']);
    await expect.poll(() => functions.inFlight()).toEqual([]);
  });

  it('Answers of one worker that come at the same time do not mix', async () => {
    const { send } = await rest(`const name = event.headers['x-name'];
      answer(200, { 'x-name': name });
      for (let part = 0; part < 50; part += 1) { await write(name.repeat(1000)); await pause(1) }
      await end()`);
    const names = ['a', 'b', 'c', 'd'];
    const all = await Promise.all(names.map((name) => send('GET', '/shop', { headers: { 'x-name': name } })));
    expect(all.map(({ headers, body }) => [headers['x-name'], body.toString()])).toEqual(
      names.map((name) => [name, name.repeat(50_000)]),
    );
  });

  it('A cookie, a number and a header of the connection come out as API Gateway sends them', async () => {
    const { send } = await rest(`awslambda.HttpResponseStream.from(stream, {
        statusCode: 402,
        headers: { 'x-count': 3, 'Content-Length': '99', Connection: 'upgrade', 'www-authenticate': 'Bearer' },
        cookies: ['a=1', 'b=2'],
      });
      await write('x');
      await end()`);
    const { status, headers, body } = await send('GET', '/shop');
    expect([status, headers['x-count'], headers['set-cookie'], body.toString()]).toEqual([
      402,
      '3',
      ['a=1', 'b=2'],
      'x',
    ]);
    expect([headers['content-length'], headers['transfer-encoding']]).toEqual([undefined, 'chunked']);
    const authenticate = [headers['www-authenticate'], headers['x-amzn-remapped-www-authenticate']];
    expect(authenticate).toEqual([undefined, 'Bearer']);
  });
});

describe('a function that breaks', () => {
  const busy = (headers: object): void => {
    expect(headers).toMatchObject({ 'retry-after': '5', 'content-type': 'application/json' });
    expect(headers).toHaveProperty('x-request-id', expect.stringMatching(/^[\w-]{36}$/));
  };

  it.each([...crashes.map(([how, code]) => [how, code]), ['throwing', "throw new Error('no')"]])(
    'A function that ends by %s after its head cuts the connection',
    async (_how, code) => {
      const { send } = await rest(`answer(200); await write('begun'); ${code}`);
      const { status, body, isWhole } = await send('GET', '/shop');
      expect([status, body.toString(), isWhole]).toEqual([200, 'begun', false]);
    },
  );

  // How a function crashes makes no difference to its invocation: the tests of lambda.test.ts show this.
  it.each([
    ['crashes before its head', 'process.exit(3)'],
    ['returns without an end', `answer(200)`],
    ['writes without a head', `await write('text'); await end()`],
    ['ends without a write, which Lambda sends no head for', `answer(200); await end()`],
    ['gives a status that is none', `answer(99); await write('x'); await end()`],
  ])('A function that %s is answered by API Gateway', async (_what, code) => {
    const { send } = await rest(code);
    const { status, headers, body } = await send('GET', '/shop');
    expect([status, body.toString()]).toEqual([503, '{"code":"busy"}']);
    busy(headers);
  });

  it('A function that does not stream is answered by API Gateway', async () => {
    const { send } = await rest(`return { statusCode: 200, body: 'x' }`, { streams: false });
    expect((await send('GET', '/shop')).status).toBe(503);
  });

  it('A function that streams has failed unless its stream has ended, and its answer goes nowhere without a client', async () => {
    const whole = await rest(`answer(200); await write('x'); await end()`);
    expect(await whole.invoke()).toEqual({ ok: true, payload: null });
    const { invoke } = await rest(`answer(200); await write('x')`);
    expect(await failure(invoke())).toMatchObject({ errorMessage: 'Response stream is not finished.' });
  });

  it('A stream in which nothing comes for too long is cut', async () => {
    const { send } = await rest(
      `answer(200); await write('begun'); if (event.headers['x-hang']) await pause(60_000); await end()`,
      { silenceMillis: 1_000 },
    );
    // The worker starts with this request, and its start counts as silence.
    await send('GET', '/shop');
    const hanging = await send('GET', '/shop', { headers: { 'x-hang': '1' } });
    expect(hanging).toMatchObject({ status: 200, isWhole: false });
  });

  it('Each part begins the time of silence anew', async () => {
    const { send } = await rest(
      `answer(200); for (let part = 0; part < 8; part += 1) { await write('.'); await pause(250) } await end()`,
      { silenceMillis: 1_500 },
    );
    expect(await send('GET', '/shop')).toMatchObject({ body: Buffer.from('........'), isWhole: true });
  });

  it('A function that takes longer than API Gateway waits is answered by API Gateway', async () => {
    const { send } = await rest('await pause(60_000)', { waitMillis: 200 });
    expect((await send('GET', '/shop')).status).toBe(503);
  });

  it('A function that takes longer than its own time limit is answered by API Gateway', async () => {
    const { send } = await rest('await pause(60_000)', { timeoutSeconds: 1 });
    expect((await send('GET', '/shop')).status).toBe(503);
  });

  it('A request beyond the reserved concurrency is refused, and the next one is served once there is room', async () => {
    const { open, send, clock } = await rest(
      `answer(200); await write('held'); await until(event.headers['x-until'] * 1); await end()`,
      { reservedConcurrency: 1 },
    );
    const start = clock.freeze();
    const held = await open('GET', '/shop', { headers: { 'x-until': String(start + 1) } });
    const refused = await send('GET', '/shop');
    expect(refused.status).toBe(503);
    busy(refused.headers);
    clock.jumpTo(start + 1);
    expect((await wholeOf(held)).isWhole).toBe(true);
    await expect
      .poll(async () => (await send('GET', '/shop', { headers: { 'x-until': '0' } })).status)
      .toBe(200);
  });
});

describe('the event of a request', () => {
  it('The event has the payload format 1.0: names of headers as the client wrote them, and the last of several values', async () => {
    const { send, port } = await rest(echo, { routes: ['POST /v1/items/{id}'] });
    const { body } = await send('POST', '/shop/v1/items/a%20b?x=1&x=2&y=', {
      headers: {
        'X-Stainless-Retry-Count': '1',
        'x-lower': 'low',
        'X-Twice': ['one', 'two'],
        'Content-Type': 'application/json',
        'User-Agent': 'test',
        'X-Forwarded-For': '8.8.8.8',
        Host: 'shop.example.com:99',
      },
      body: '{"prompt":"ä"}',
    });
    const event = eventOf(body);
    expect(event).toMatchObject({
      resource: '/v1/items/{id}',
      path: '/v1/items/a%20b',
      httpMethod: 'POST',
      headers: {
        'X-Stainless-Retry-Count': '1',
        'x-lower': 'low',
        'X-Twice': 'two',
        'X-Forwarded-For': '8.8.8.8, 127.0.0.1',
        'X-Forwarded-Port': String(port),
      },
      multiValueHeaders: { 'X-Twice': ['one', 'two'], 'x-lower': ['low'] },
      queryStringParameters: { x: '2', y: '' },
      multiValueQueryStringParameters: { x: ['1', '2'], y: [''] },
      pathParameters: { id: 'a b' },
      stageVariables: null,
      body: '{"prompt":"ä"}',
      isBase64Encoded: false,
      requestContext: {
        apiId: 'Shop',
        stage: 'shop',
        path: '/shop/v1/items/a%20b',
        resourcePath: '/v1/items/{id}',
        httpMethod: 'POST',
        domainName: 'shop.example.com',
        identity: { sourceIp: '127.0.0.1', userAgent: 'test' },
        requestTime: '21/Nov/2026:03:04:05 +0000',
        requestTimeEpoch: Date.UTC(2026, 10, 21, 3, 4, 5),
      },
    });
    expect(event.headers).not.toHaveProperty('x-stainless-retry-count');
  });

  it('A request without query, path variables and body has null instead', async () => {
    const { send } = await rest(echo);
    expect(eventOf((await send('GET', '/shop')).body)).toMatchObject({
      resource: '/',
      path: '/',
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
      body: null,
      isBase64Encoded: false,
      requestContext: { path: '/shop' },
    });
  });

  it('A form of several parts arrives as base64, and every other body as text', async () => {
    const { send } = await rest(echo);
    const bytes = Buffer.from([0, 255, 128, 65]);
    const post = async (type: string): Promise<APIGatewayProxyEvent> =>
      eventOf((await send('POST', '/shop', { headers: { 'content-type': type }, body: bytes })).body);
    const form = await post('Multipart/Form-Data; boundary=x');
    expect([Buffer.from(form.body ?? '', 'base64'), form.isBase64Encoded]).toEqual([bytes, true]);
    const text = await post('application/octet-stream');
    expect([text.body, text.isBase64Encoded]).toEqual(['\0\uFFFD\uFFFDA', false]);
  });
});

describe('a request that reaches no function', () => {
  const routes = ['POST /v1/items', 'GET /v1/models', 'ANY /v1/{proxy+}'];
  /** Status and body of API Gateway's own answer. */
  const outcome = ({ status, body }: { status: number; body: Buffer }) => [status, body.toString()];

  it.each([
    ['GET', '/shop'],
    ['GET', '/shop/other'],
    // The resource is found by its path, and only then the method: no greedy path takes it.
    ['GET', '/shop/v1/items'],
    ['OPTIONS', '/shop/v1/items'],
    ['GET', '/shop/v1/'],
  ])('API Gateway itself refuses %s %s', async (method, path) => {
    const { send, log } = await rest(echo, { routes });
    const answer = await send(method, path);
    expect(outcome(answer)).toEqual([404, '{"code":"unknown"}']);
    expect(answer.headers['content-length']).toBe(String(answer.body.length));
    expect(log).toEqual([]);
  });

  it('A path leads to its resource, with or without a slash at its end, and else to the greedy one', async () => {
    const { send } = await rest(echo, { routes });
    const resourceOf = async (method: string, path: string): Promise<string> =>
      eventOf((await send(method, path)).body).resource;
    expect(await resourceOf('POST', '/shop/v1/items')).toBe('/v1/items');
    expect(await resourceOf('POST', '/shop/v1/items/')).toBe('/v1/items');
    expect(await resourceOf('DELETE', '/shop/v1/a/b')).toBe('/v1/{proxy+}');
  });

  it('HEAD is a method of its own, and its answer has no body', async () => {
    const { send } = await rest(echo, { routes: ['GET /v1/models', 'ANY /'] });
    expect(await send('HEAD', '/shop/v1/models')).toMatchObject({ status: 404, body: Buffer.alloc(0) });
    expect(await send('HEAD', '/shop')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.alloc(0),
      isWhole: true,
    });
  });

  it('A body of more than 10 MB is refused', async () => {
    const { send } = await rest('throw new Error("it was called")');
    expect(outcome(await send('POST', '/shop', { body: Buffer.alloc(10 * megabyte + 1) }))).toEqual([
      413,
      '{"code":"large"}',
    ]);
  });

  it('A body that Lambda cannot take is refused: 6 MB as text, or as the base64 of a form', async () => {
    const { send } = await rest(`answer(200); await write(String(event.body.length)); await end()`);
    const post = async (bytes: number, type: string): Promise<number> =>
      (await send('POST', '/shop', { headers: { 'content-type': type }, body: Buffer.alloc(bytes, 'a') }))
        .status;
    expect(await post(5.9 * megabyte, 'application/json')).toBe(200);
    expect(await post(6.1 * megabyte, 'application/json')).toBe(413);
    expect(await post(4.4 * megabyte, 'multipart/form-data; boundary=x')).toBe(200);
    expect(await post(4.6 * megabyte, 'multipart/form-data; boundary=x')).toBe(413);
  });

  it('A request above the throttle is refused', async () => {
    const { send } = await rest(echo, { throttles: () => true });
    const answer = await send('POST', '/shop', { body: '{}' });
    expect(outcome(answer)).toEqual([429, '{"code":"throttled"}']);
    expect(answer.headers['retry-after']).toBe('5');
  });
});
