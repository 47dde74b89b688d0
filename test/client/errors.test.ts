import { describe, expect, it } from 'vitest';
import * as client from '../../client/src/index.ts';
import { json, refusal, stub, thrownBy } from './stub.ts';

async function errorOf(answer: Response): Promise<unknown> {
  const { darkroom } = stub([answer], { maxRetries: 0 });
  return thrownBy(darkroom.balance.get());
}

const details = { reason: 'because', more: [1] };

/** The class of each code of the API, by its status. */
const codes: readonly (readonly [number, string, new (...args: never[]) => Error])[] = [
  [400, 'ERR_INVALID_REQUEST', client.InvalidRequest],
  [400, 'ERR_CONTENT_POLICY', client.InvalidRequest],
  [401, 'ERR_API_KEY_INVALID', client.AuthenticationFailed],
  [402, 'ERR_INSUFFICIENT_BALANCE', client.InsufficientBalance],
  [403, 'ERR_ACCOUNT_DISABLED', client.AccessDenied],
  [403, 'ERR_API_SUSPENDED', client.AccessDenied],
  [404, 'ERR_MODEL_NOT_FOUND', client.NotFound],
  [404, 'ERR_NOT_FOUND', client.NotFound],
  [429, 'ERR_RATE_LIMIT', client.RateLimited],
  [429, 'ERR_QUOTA_EXCEEDED', client.RateLimited],
  [500, 'ERR_INTERNAL', client.InternalError],
  [502, 'ERR_INPUT_FETCH_FAILED', client.InputFetchFailed],
  [502, 'ERR_GENERATION_FAILED', client.ApiError],
  [503, 'ERR_PROVIDER_UNAVAILABLE', client.ServiceUnavailable],
  [418, 'ERR_OF_A_LATER_RELEASE', client.ApiError],
];

describe('errors of the API', () => {
  for (const [status, code, errorClass] of codes) {
    it(`${status} ${code} is thrown as ${errorClass.name}`, async () => {
      const error = await errorOf(
        refusal(status, code, details, { 'x-request-id': 'r1', 'retry-after': '3' }),
      );
      expect(error).toBeInstanceOf(client.DarkroomError);
      expect((error as Error).constructor).toBe(errorClass);
      expect(error).toMatchObject({
        name: errorClass.name,
        message: `The message of ${code}.`,
        status,
        code,
        reason: 'because',
        details,
        requestId: 'r1',
        retryAfter: 3,
      });
    });
  }

  it('InvalidRequest names each wrong field', async () => {
    const errors = [{ field: 'promt', code: 'unknown_field', message: 'not a field' }];
    expect(await errorOf(refusal(400, 'ERR_INVALID_REQUEST', { errors }))).toMatchObject({ errors });
    expect(await errorOf(refusal(400, 'ERR_INVALID_REQUEST'))).toMatchObject({
      errors: [],
      reason: undefined,
    });
  });

  it('InsufficientBalance says what is missing, or when the budget begins anew', async () => {
    expect(
      await errorOf(
        refusal(402, 'ERR_INSUFFICIENT_BALANCE', {
          required: 0.04,
          available: 0,
          top_up_url: 'https://top.up',
        }),
      ),
    ).toMatchObject({ required: 0.04, available: 0, topUpUrl: 'https://top.up', resetsAt: undefined });
    expect(
      await errorOf(
        refusal(402, 'ERR_INSUFFICIENT_BALANCE', { reason: 'monthly_budget_exceeded', resets_at: 'soon' }),
      ),
    ).toMatchObject({ required: undefined, available: undefined, resetsAt: 'soon' });
  });

  it('InputFetchFailed names the image, and whether a repetition makes sense', async () => {
    expect(
      await errorOf(refusal(502, 'ERR_INPUT_FETCH_FAILED', { retryable: true, input_index: 0 })),
    ).toMatchObject({ retryable: true, inputIndex: 0 });
    expect(await errorOf(refusal(502, 'ERR_INPUT_FETCH_FAILED'))).toMatchObject({
      retryable: false,
      inputIndex: undefined,
    });
  });

  it('The plain form of a failed authentication is the same error', async () => {
    const invalid = await errorOf(json({ detail: 'api_key_invalid' }, 401));
    expect(invalid).toBeInstanceOf(client.AuthenticationFailed);
    expect(invalid).toMatchObject({ code: 'ERR_API_KEY_INVALID', reason: 'api_key_invalid' });
    expect(await errorOf(json({ detail: 'api_suspended' }, 403))).toBeInstanceOf(client.AccessDenied);
    expect(await errorOf(json({ detail: 'api_suspended' }, 500))).toBeInstanceOf(client.UnexpectedAnswer);
    expect(await errorOf(json({ detail: 'constructor' }, 403))).toBeInstanceOf(client.UnexpectedAnswer);
  });
});

describe('answers that are not of the API', () => {
  const html = (status: number): Response =>
    new Response(`<html>${'x'.repeat(600)}`, { status, headers: { 'content-type': 'text/html' } });

  for (const status of [200, 404, 502]) {
    it(`A page with status ${status} is an UnexpectedAnswer with the begin of the page`, async () => {
      const error = await errorOf(html(status));
      expect(error).toBeInstanceOf(client.UnexpectedAnswer);
      expect(error).toMatchObject({
        status,
        code: 'UNEXPECTED_ANSWER',
        message: `The answer is not one of the API (status ${status}, text/html). Check the base URL, or try again later.`,
      });
      expect((error as client.UnexpectedAnswer).excerpt).toBe(`<html>${'x'.repeat(494)}`);
    });
  }

  it('A redirect is not followed, so that no other server gets the key', async () => {
    const { darkroom, sent } = stub([
      new Response(null, { status: 301, headers: { location: 'https://elsewhere.test/' } }),
    ]);
    expect(await thrownBy(darkroom.balance.get())).toMatchObject({
      name: 'UnexpectedAnswer',
      message:
        'The base URL answered with a redirect to https://elsewhere.test/. The client follows none: correct the base URL.',
    });
    expect(sent[0]?.redirect).toBe('manual');
  });

  it('JSON without the envelope is no answer of the API', async () => {
    expect(await errorOf(json({ message: 'Service Unavailable' }, 503))).toBeInstanceOf(
      client.UnexpectedAnswer,
    );
    expect(await errorOf(json('a text', 200))).toBeInstanceOf(client.UnexpectedAnswer);
    expect(await errorOf(json({ error: 'a text' }, 500))).toBeInstanceOf(client.UnexpectedAnswer);
  });
});

describe('asResponse', () => {
  it('The answer has its headers and its whole body', async () => {
    const { darkroom } = stub([json({ id: 'one' }, 202, { 'x-darkroom-cost': '0.01' })]);
    const answer = await darkroom.images.generate({ model: 'm', prompt: 'p' }).asResponse();
    expect([answer.status, answer.headers.get('x-darkroom-cost'), await answer.json()]).toEqual([
      202,
      '0.01',
      { id: 'one' },
    ]);
  });

  it('An error is thrown once, by asResponse() too', async () => {
    const { darkroom } = stub([refusal(404, 'ERR_NOT_FOUND')]);
    expect(await thrownBy(darkroom.creations.get('x').asResponse())).toBeInstanceOf(client.NotFound);
  });
});
