/**
 * What the API refuses in the body, the headers and the query of a request, with every word of the refusal.
 */
import { describe, expect, it } from 'vitest';
import { accepting, bearer, post, type Sending } from './serve-fixture.ts';

const body = { model: 'sandbox-sketch', prompt: 'a pier' };
const json = { ...bearer, 'content-type': 'application/json' };

async function refusalOf(sent: unknown, sending: Sending = {}): Promise<unknown> {
  const answer = await post(accepting({}), sent, sending);
  return [answer.status, answer.body];
}

/** 400 with these fields; the message names the first. */
function invalid(message: string, ...errors: readonly object[]): unknown {
  return [400, { error: { code: 'ERR_INVALID_REQUEST', message, details: { errors } } }];
}

describe('the content type of a body', () => {
  const refused = invalid('Content-Type: must be application/json', {
    field: 'Content-Type',
    code: 'invalid_value',
    message: 'must be application/json',
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json ;charset=utf-8',
    'application/json; charset="UTF-8"; v=1',
    'Application/JSON',
  ])('The content type %s is accepted', async (type) => {
    const { status } = await post(accepting({}), body, { headers: { ...bearer, 'content-type': type } });
    expect(status).toBe(202);
  });

  it.each(['text/plain', 'x-application/json', 'application/jsonl', 'application/json+ld', ''])(
    'The content type %j is refused',
    async (type) => {
      expect(await refusalOf(body, { headers: { ...bearer, 'content-type': type } })).toEqual(refused);
    },
  );

  it.each(['iso-8859-1', '"utf-16"', 'utf-80', ''])(
    'The charset %j is refused, because a body is read as UTF-8',
    async (charset) => {
      const type = `application/json; charset=${charset}`;
      const message = 'must be application/json in UTF-8';
      expect(await refusalOf(body, { headers: { ...bearer, 'content-type': type } })).toEqual(
        invalid(`Content-Type: ${message}`, { field: 'Content-Type', code: 'invalid_value', message }),
      );
    },
  );

  it('A request without a content type is refused', async () => {
    expect(await refusalOf(body, { headers: bearer })).toEqual(refused);
  });
});

describe('the bytes of a body', () => {
  /** A body of exactly so many bytes. */
  const ofBytes = (count: number): Uint8Array => {
    const text = JSON.stringify(body);
    return Buffer.from(text + ' '.repeat(count - text.length));
  };

  it('A body of 256 KiB is accepted', async () => {
    expect((await post(accepting({}), undefined, { bytes: ofBytes(262_144) })).status).toBe(202);
  });

  it('A body of 256 KiB and one byte is refused', async () => {
    const error = { field: 'body', code: 'too_long', message: 'at most 256 KiB' };
    expect(await refusalOf(undefined, { bytes: ofBytes(262_145) })).toEqual(
      invalid('body: at most 256 KiB', error),
    );
  });

  it('A body that is not UTF-8 is refused', async () => {
    const bytes = Buffer.from(JSON.stringify({ ...body, prompt: 'caf\u00e9' }), 'latin1');
    const error = { field: 'body', code: 'invalid_encoding', message: 'must be UTF-8' };
    expect(await refusalOf(undefined, { bytes })).toEqual(invalid('body: must be UTF-8', error));
  });

  it.each(['{"model":', '', 'no JSON'])('A body that is not JSON is refused: %j', async (text) => {
    const error = { field: 'body', code: 'invalid_json', message: 'must be valid JSON' };
    expect(await refusalOf(undefined, { bytes: Buffer.from(text) })).toEqual(
      invalid('body: must be valid JSON', error),
    );
  });

  it('An absent body is refused as invalid JSON', async () => {
    const error = { field: 'body', code: 'invalid_json', message: 'must be valid JSON' };
    expect(await refusalOf(undefined, { headers: json })).toEqual(invalid('body: must be valid JSON', error));
  });

  it.each([null, [], [body], 'text', 7, true])(
    'A body that is JSON but not an object is refused: %j',
    async (sent) => {
      const error = { field: 'body', code: 'invalid_type', message: 'must be a JSON object' };
      expect(await refusalOf(sent)).toEqual(invalid('body: must be a JSON object', error));
    },
  );
});

describe('a query parameter that an operation does not take', () => {
  const unknown = (field: string): object => ({
    field,
    code: 'unknown_parameter',
    message: 'not a query parameter of this request',
  });

  it('The refusal names each parameter, and a parameter with an empty name as "query"', async () => {
    const query = { '': 'x', prompt: 'x', 'half\ud83d': 'x' };
    expect(await refusalOf(body, { query })).toEqual(
      invalid(
        'query: not a query parameter of this request (and 2 more, see details.errors)',
        unknown('query'),
        unknown('prompt'),
        unknown('half\ufffd'),
      ),
    );
  });
});

describe('the refusal of an invalid request', () => {
  it('The refusal names the query, the fields, the addresses and the missing prompt at once', async () => {
    const sent = {
      model: 7,
      webhook_url: 'http://hooks.test/',
      image_urls: [],
      colour: 'red',
    };
    const [, told] = (await refusalOf(sent, { query: { wait: '1' } })) as [number, object];
    expect(told).toHaveProperty('error.details.errors.length', 5);
    expect(JSON.parse(JSON.stringify(told))).toMatchObject({
      error: {
        details: {
          errors: expect.arrayContaining([
            expect.objectContaining({ field: 'wait', code: 'unknown_parameter' }),
            expect.objectContaining({ field: 'model', code: 'invalid_type' }),
            expect.objectContaining({ field: 'colour' }),
            { field: 'webhook_url', code: 'refused_target', message: 'must be an https address' },
            { field: 'prompt', code: 'required', message: 'required unless image_urls has an item' },
          ]) as unknown[],
        },
      },
    });
  });

  it('The refusal names each source image by its place', async () => {
    const image_urls = ['https://images.test/1.png', 'ftp://images.test/2.png', 'https://10.0.0.7/3.png'];
    expect(await refusalOf({ ...body, model: 'sandbox-pro', image_urls })).toEqual(
      invalid(
        'image_urls[1]: must be an http or https address (and 1 more, see details.errors)',
        { field: 'image_urls[1]', code: 'refused_target', message: 'must be an http or https address' },
        { field: 'image_urls[2]', code: 'refused_target', message: 'must lead to public addresses only' },
      ),
    );
  });

  it('An address that the rules of the deployment allow is not refused', async () => {
    const stage = accepting({
      services: { outboundRules: 'loopback-too' },
      check: async () => Promise.resolve({ kind: 'allowed' }),
    });
    const sent = { ...body, webhook_url: 'http://127.0.0.1:9000/hook' };
    expect((await post(stage, sent)).status).toBe(202);
  });

  it.each(['', 'ü'])('The Idempotency-Key %j is refused', async (key) => {
    const error = {
      field: 'Idempotency-Key',
      code: 'invalid_value',
      message: '1 to 255 printable ASCII characters',
    };
    expect(await refusalOf(body, { headers: { ...json, 'idempotency-key': key } })).toEqual(
      invalid('Idempotency-Key: 1 to 255 printable ASCII characters', error),
    );
  });

  it('A webhook is refused when its look-up finds an address that is not allowed', async () => {
    const stage = accepting({
      check: async () => Promise.resolve({ kind: 'refused', why: 'must lead to public addresses only' }),
    });
    const answer = await post(stage, { ...body, webhook_url: 'https://hooks.test/' });
    expect([answer.status, answer.body]).toEqual(
      invalid('webhook_url: must lead to public addresses only', {
        field: 'webhook_url',
        code: 'refused_target',
        message: 'must lead to public addresses only',
      }),
    );
    expect(stage.orders).toEqual([]);
  });
});
