/** Prefer: wait=N (RFC 7240): the answer is held until the creation is terminal. */
import { afterAll, describe, expect, it } from 'vitest';
import { failures } from '../../service/contract/failures.ts';
import { type Answer, sharedTestService } from '../fixtures/service.ts';
import { anyText, idOf, textLike } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { inTime } from './workflow/creations.ts';
import { refusalOf, withinOneMinute } from './refusal.ts';

const service = await sharedTestService();
const client = await service.client({ postRate: '1000', maxConcurrent: '100' });
afterAll(() => service.end());

function submit(
  prompt: string,
  prefer: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return service.send('/images/generate', {
    key: client.key,
    body: { model: 'sandbox-sketch', prompt },
    headers: { prefer, ...headers },
  });
}

/** The answer to a request that waits as long as it can, once its creation has ended. */
const ended = (prompt: string): Promise<Answer> => inTime(() => submit(prompt, 'wait=20'));

describe('a creation that ends while the request waits', () => {
  it('A completed creation is answered 200 with its Location and without Retry-After', async () => {
    const answer = await ended('a weir');
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'completed', result_urls: [expect.any(String)] },
    });
    expect(answer.headers.get('location')).toBe(`/api/public/v1/creations/${idOf(answer)}`);
    expect([answer.headers.get('preference-applied'), answer.headers.has('retry-after')]).toEqual([
      'wait=20',
      false,
    ]);
  });

  it.each([
    ['the prompt was rejected', '[sandbox:reject-prompt]', 'PromptRejected'],
    ['the source image was rejected', '[sandbox:reject-image]', 'SourceImageRejected'],
  ] as const)('A creation that failed because %s is answered 200', async (_message, prompt, name) => {
    expect(await ended(prompt)).toMatchObject({
      status: 200,
      body: { status: 'failed', error: failures[name].message, retryable: false, amount_refunded: 0.01 },
    });
  });

  it.each([
    ['GenerationFailed', '[sandbox:fail]', 'GenerationFailed'],
    ['NothingRendered', '[sandbox:empty]', 'NothingRendered'],
    ['InternalFailure', '[sandbox:crash]', 'InternalFailure'],
  ] as const)(
    'A creation that failed as %s is answered 502 ERR_GENERATION_FAILED with creation_id, error and retryable, and is refunded in full',
    async (_message, prompt, name) => {
      const answer = await ended(prompt);
      const { details, ...rest } = refusalOf(answer);
      expect(rest).toEqual({ status: 502, code: 'ERR_GENERATION_FAILED' });
      expect(details).toEqual({
        creation_id: anyText,
        error: failures[name].message,
        error_code: failures[name].code,
        retryable: true,
      });
      const shown = await service.send(`/creations/${String(details['creation_id'])}`, { key: client.key });
      expect(shown.body).toMatchObject({ status: 'failed', amount_refunded: 0.01 });
    },
  );

  it('A creation that failed as ServiceUnavailable is answered 503 ERR_PROVIDER_UNAVAILABLE, provider_unavailable, with Retry-After', async () => {
    const answer = await ended('[sandbox:down]');
    expect(refusalOf(answer)).toEqual({
      status: 503,
      code: 'ERR_PROVIDER_UNAVAILABLE',
      details: {
        reason: 'provider_unavailable',
        creation_id: anyText,
        error: failures.ServiceUnavailable.message,
        error_code: 'provider_unavailable',
        retryable: true,
      },
    });
    expect(answer.headers.has('retry-after')).toBe(true);
  });

  it('The request counts once against the rate, however its creation ends', async () => {
    const one = await service.client({ postRate: '3' });
    withinOneMinute(service);
    const rate = async (prompt: string): Promise<string | null> =>
      (
        await service.send('/images/generate', {
          key: one.key,
          body: { model: 'sandbox-sketch', prompt },
          headers: { prefer: 'wait=20' },
        })
      ).headers.get('ratelimit');
    expect(
      [await rate('a weir'), await rate('[sandbox:fail]'), await rate('[sandbox:down]')].map(
        (text) => /r=(\d)/.exec(text ?? '')?.[1],
      ),
    ).toEqual(['2', '1', '0']);
  });
});

describe('a creation that has not ended after the wait', () => {
  it('The answer is 202 with the open creation after the seconds of the header', async () => {
    const started = performance.now();
    const answer = await submit('[sandbox:delay=200s]', 'wait=1');
    const took = performance.now() - started;
    expect(answer).toMatchObject({
      status: 202,
      body: { status: textLike(/queued|processing/) },
    });
    expect([answer.headers.get('retry-after'), answer.headers.get('preference-applied')]).toEqual([
      '2',
      'wait=1',
    ]);
    expect(took).toBeGreaterThan(950);
  });

  it('The header wait=0 waits for nothing', async () => {
    expect((await submit('[sandbox:delay=200s]', 'wait=0')).status).toBe(202);
  });
});

describe('the Prefer header', () => {
  it.each([
    ['handling=lenient, wait=20', 20],
    ['wait="20"; foo', 20],
    ['respond-async, wait=600', 20],
  ])('The header %s waits at most %i s', async (prefer, seconds) => {
    const answer = await inTime(() => submit('a weir', prefer));
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([200, `wait=${seconds}`]);
  });

  it.each(['respond-async', 'wait', 'wait=soon', 'await=5', ''])(
    'The header "%s" asks for no wait and is not refused',
    async (prefer) => {
      const answer = await submit('[sandbox:delay=2s]', prefer);
      expect([answer.status, answer.headers.has('preference-applied')]).toEqual([202, false]);
    },
  );

  it('A replay waits for the creation that was made before', async () => {
    const key = { 'idempotency-key': 'patient' };
    const first = await submit('[sandbox:delay=1s]', '', key);
    const second = await inTime(() => submit('[sandbox:delay=1s]', 'wait=20', key));
    expect([first.status, second.status, second.headers.get('idempotent-replayed')]).toEqual([
      202,
      200,
      'true',
    ]);
    expect(idOf(second)).toBe(idOf(first));
  });
});

everyAnswer(() => service);
