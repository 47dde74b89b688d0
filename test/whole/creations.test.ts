import { afterAll, describe, expect, it } from 'vitest';
import { failures } from '../../service/contract/failures.ts';
import { type Answer, type Client, sharedTestService } from '../fixtures/service.ts';
import { anyNumber, anyText, textLike } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { refusalOf } from './refusal.ts';
import { recordWhen } from './workflow/creations.ts';

const service = await sharedTestService();
const client = await service.client({ postRate: '1000', maxConcurrent: '100' });
afterAll(() => service.end());

interface View {
  readonly id: string;
  readonly status: string;
  readonly created_at: string;
  readonly started_at: string;
  readonly completed_at: string;
  readonly result_expires_at: string;
  readonly result_urls: string[];
  readonly results: { url: string; width: number; height: number; content_type: string; bytes: number }[];
}

const body = { model: 'sandbox-sketch', prompt: 'a canal' };
const submit = (change: object = {}, by: Client = client): Promise<Answer> =>
  service.send('/images/generate', { key: by.key, body: { ...body, ...change } });
const show = (id: string, by: Client = client): Promise<Answer> =>
  service.send(`/creations/${id}`, { key: by.key });
const view = (answer: Answer): View => answer.body as View;

const rfc3339 = textLike(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const uuidV7 = textLike(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
/** A creation may fail before its rendering has begun. */
const startedOrNot: unknown = expect.toBeOneOf([null, rfc3339]);

const common = {
  id: uuidV7,
  model: 'sandbox-sketch',
  prompt: 'a canal',
  resolution: '1K',
  aspect_ratio: '3:2',
  output_format: 'jpeg',
  seed: 7,
  cost: 0.01,
  currency: 'USD',
  metadata: { order: '7' },
  user: null,
  created_at: rfc3339,
};
const asked = {
  prompt: ' a canal ',
  aspect_ratio: '3:2',
  output_format: 'jpeg',
  seed: 7,
  metadata: { order: '7' },
};

describe('the fields of a creation', () => {
  it('A queued creation has exactly these fields, and its 202 has Location and Retry-After: 2', async () => {
    const answer = await submit({ ...asked, webhook_url: service.machine.inboxUrl });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      ...common,
      status: 'queued',
      amount_refunded: 0,
      webhook: { url: service.machine.inboxUrl, status: 'pending', attempts: 0 },
      started_at: null,
      completed_at: null,
      cancelled_at: null,
    });
    expect([answer.headers.get('location'), answer.headers.get('retry-after')]).toEqual([
      `/api/public/v1/creations/${view(answer).id}`,
      '2',
    ]);
  });

  it('The metadata may have any names that the client chooses', async () => {
    const metadata = '{"__proto__":"a","constructor":"b","toString":"c"}';
    const answer = await service.send('/images/generate', {
      key: client.key,
      body: JSON.stringify(body).replace('}', `,"metadata":${metadata}}`),
    });
    expect([answer.status, answer.text]).toEqual([202, expect.stringContaining(`"metadata":${metadata}`)]);
    expect((await show(view(answer).id)).text).toContain(`"metadata":${metadata}`);
  });

  it('A processing creation has exactly these fields', async () => {
    // The image is held back until the creation has been shown.
    const shown = Promise.withResolvers<undefined>();
    service.machine.interceptAws(async (call, serve) => {
      if (call.caller.startsWith('RenderImage') && call.operation === 'PutObject') await shown.promise;
      return serve();
    });
    const { id } = view(await submit(asked));
    await recordWhen(service, id, ({ status }) => status !== 'queued');
    const answer = await show(id);
    shown.resolve(undefined);
    service.machine.interceptAws((_call, serve) => serve());
    // test/creations/poll-pace.test.ts says when it is which.
    expect(answer.headers.get('retry-after')).toMatch(/^[12]$/);
    expect(answer.body).toEqual({
      ...common,
      status: 'processing',
      amount_refunded: 0,
      webhook: null,
      started_at: rfc3339,
      completed_at: null,
      cancelled_at: null,
    });
  });

  it('A completed creation has exactly these fields, and its results can be fetched as they are described', async () => {
    const { id } = view(await submit(asked));
    await service.ended(id);
    const answer = await show(id);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      ...common,
      status: 'completed',
      amount_refunded: 0,
      webhook: null,
      started_at: rfc3339,
      completed_at: rfc3339,
      cancelled_at: null,
      result_expires_at: rfc3339,
      result_urls: [expect.any(String)],
      results: [
        {
          url: anyText,
          width: 1248,
          height: 832,
          content_type: 'image/jpeg',
          bytes: anyNumber,
          content_credentials: 'absent',
        },
      ],
    });
    const [image] = view(answer).results;
    expect(view(answer).result_urls).toEqual([image?.url]);
    const file = await fetch(image?.url ?? '');
    expect([file.status, file.headers.get('content-type'), (await file.arrayBuffer()).byteLength]).toEqual([
      200,
      'image/jpeg',
      image?.bytes,
    ]);
    // A cache keeps the image as long as its result lives. A max-age would begin anew on the last day.
    const expires = Date.parse(file.headers.get('expires') ?? '');
    const left = Date.parse(view(answer).result_expires_at) - expires;
    expect(left).toBeGreaterThanOrEqual(0);
    expect(left).toBeLessThan(60_000);
    expect(file.headers.get('cache-control')).toBe('public, immutable, s-maxage=30');
    expect(Date.parse(view(answer).result_expires_at) - Date.parse(view(answer).completed_at)).toBe(
      30 * 86_400_000,
    );
    expect(Date.parse(view(answer).started_at)).toBeGreaterThanOrEqual(Date.parse(view(answer).created_at));
  });

  // Every failure: test/whole/workflow/messages.test.ts.
  it('A failed creation has exactly these fields, with the cost as charged and the full refund', async () => {
    const prompt = '[sandbox:reject-prompt]';
    const { id } = view(await submit({ ...asked, prompt }));
    await service.ended(id);
    expect((await show(id)).body).toEqual({
      ...common,
      prompt,
      status: 'failed',
      amount_refunded: 0.01,
      error: failures.PromptRejected.message,
      error_code: 'prompt_rejected',
      retryable: false,
      webhook: null,
      started_at: startedOrNot,
      completed_at: rfc3339,
      cancelled_at: null,
    });
  });

  it('A creation shows no provider name, provider job id or provider cost', async () => {
    const { id } = view(await submit({ model: 'sandbox-pro', prompt: 'a canal [sandbox:async=100ms]' }));
    await service.ended(id);
    const { text } = await show(id);
    // The random part of an address may spell any short word.
    const shown = text.replaceAll(/sandbox-pro|\[sandbox:async=100ms\]|results\/[\w-]+/g, '');
    expect(shown).not.toMatch(/sandbox|provider|job|lease|attempts"|routes|keyId|accountId/i);
  });

  it('The ids of creations are UUIDv7 and sort by time', async () => {
    const ids = [view(await submit()).id, view(await submit()).id, view(await submit()).id];
    expect([...ids].sort()).toEqual(ids);
    expect(ids).toEqual([uuidV7, uuidV7, uuidV7]);
  });
});

describe('404 ERR_NOT_FOUND', () => {
  it('A foreign, an absent and a malformed id get byte-identical answers, apart from the request id', async () => {
    const other = await service.client();
    const foreign = view(await submit({}, other)).id;
    const ids = [
      foreign,
      foreign.toUpperCase(),
      '01939f4e-0000-7000-8000-000000000000',
      'f47ac10b-58cc-4372-a567-0e02b2c3d479',
      'nonsense',
      '%00',
      'a'.repeat(300),
      "' OR 1=1",
    ];
    const answers = await Promise.all(ids.map((id) => show(encodeURI(id).replace('%2500', '%00'))));
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 404));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const compared = answers.map(({ headers }) =>
      Object.fromEntries(
        [...headers].filter(
          ([name]) => !['x-request-id', 'apigw-requestid', 'date', 'ratelimit'].includes(name),
        ),
      ),
    );
    for (const headers of compared) expect(headers).toEqual(compared[0]);
    expect(answers.map(refusalOf)).toContainEqual({ status: 404, code: 'ERR_NOT_FOUND', details: {} });
  });

  it('Polls of another account do not stamp a creation', async () => {
    const other = await service.client();
    const { id } = view(await submit({}, other));
    await Promise.all([show(id), show(id)]);
    expect((await show(id, other)).status).toBe(200);
  });
});

everyAnswer(() => service);
