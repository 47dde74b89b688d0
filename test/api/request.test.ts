/**
 * What the API refuses in the body, the headers and the query of a request, with every word of the refusal.
 */
import { describe, expect, it } from 'vitest';
import { accepting, bearer, post, type Sending } from './serve-fixture.ts';

const body = { model: 'sandbox-sketch', prompt: 'a pier' };

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

  it('An address that the rules of the deployment allow is not refused', async () => {
    const stage = accepting({
      services: { outboundRules: 'loopback-too' },
      check: async () => Promise.resolve({ kind: 'allowed' }),
    });
    const sent = { ...body, webhook_url: 'http://127.0.0.1:9000/hook' };
    expect((await post(stage, sent)).status).toBe(202);
  });
});
