/** Every refusal of the API in the form of the OpenAI API. The table is stated a second time here. */
import type { Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import * as problems from '../../service/api/problems.ts';
import { OpenaiRefusal, refusedBy } from '../../service/openai/refusal.ts';
import { inOpenaiForm } from '../../service/openai/serve-openai.ts';
import { asMicros } from '../../service/values/money.ts';
import { type FieldErrorCode, invalidRequest, Problem } from '../../service/values/problem.ts';
import { aCreation, creationId, now } from '../fixtures/records.ts';
import { base64Of, completing, type Course, failing, pictureAt, scene } from './openai-fixture.ts';

/** Status, type, code, param, whether to retry, and after how many seconds. */
const shown = (problem: Problem): string => {
  const { status, headers, error } = refusedBy(problem);
  const retry = [headers['x-should-retry'], headers['retry-after'] ?? '-'];
  return [status, error.type, error.code, error.param ?? '-', ...retry].join(' ');
};

const budget = { capMicros: asMicros(1), spentMicros: asMicros(1), resetsAt: null };

const over = (period: 'daily' | 'monthly' | 'total' | 'user'): Problem =>
  problems.overBudget({ ...budget, period }, undefined);

describe('a refusal in the form of the OpenAI API', () => {
  it.each<[Problem, string]>([
    [problems.keyMissing(true), '401 invalid_request_error invalid_api_key - false -'],
    [problems.keyInvalid('was revoked'), '401 invalid_request_error invalid_api_key - false -'],
    [problems.accountDisabled(), '403 permission_error account_disabled - false -'],
    [problems.apiSuspended(), '403 permission_error api_suspended - false -'],
    [problems.addressBlocked(1_000), '429 rate_limit_error address_blocked - false 1'],
    [problems.rateExceeded('post', 60, 7), '429 rate_limit_error rate_limit_exceeded - true 7'],
    [problems.tooManyOpen(1, 1), '429 rate_limit_error rate_limit_exceeded - true 5'],
    [problems.tooManyOpen(0, 0), '429 rate_limit_error rate_limit_exceeded - false 5'],
    [problems.rateExceeded('post', 0, 7), '429 rate_limit_error rate_limit_exceeded - false 7'],
    [problems.tooManyHeld(2), '429 rate_limit_error rate_limit_exceeded - true 5'],
    [problems.tooManyUnusedUploads(1, 1), '429 rate_limit_error rate_limit_exceeded - false 60'],
    [problems.serviceIsFull(1, 1), '429 rate_limit_error rate_limit_exceeded - true 5'],
    [problems.wrongContentType(), '400 invalid_request_error err_invalid_request Content-Type false -'],
    [problems.bodyNotJson(), '400 invalid_request_error err_invalid_request - false -'],
    [
      problems.idempotencyKeyMismatch(),
      '400 invalid_request_error err_invalid_request Idempotency-Key false -',
    ],
    [problems.modelNotFound('m'), '404 invalid_request_error model_not_found model false -'],
    [problems.noProviderEnabled('m', []), '503 server_error provider_unavailable - false -'],
    [
      problems.maxCostExceeded(asMicros(1), 0),
      '400 invalid_request_error err_invalid_request max_cost false -',
    ],
    [problems.sourceTooLarge(1), '400 invalid_request_error err_invalid_request image false -'],
    [problems.sourceNotFetched(0, true), '502 server_error input_fetch_failed image true -'],
    [problems.sourceNotFetched(0, false), '502 server_error input_fetch_failed image false -'],
    [
      problems.overBalance(asMicros(1), asMicros(0), 'u'),
      '402 insufficient_quota insufficient_balance - false -',
    ],
    [over('daily'), '402 insufficient_quota daily_budget_exceeded - false -'],
    [over('monthly'), '402 insufficient_quota monthly_budget_exceeded - false -'],
    [over('total'), '402 insufficient_quota total_budget_exceeded - false -'],
    [over('user'), '402 insufficient_quota user_budget_exceeded - false -'],
    [problems.notStarted(creationId), '503 server_error provider_unavailable - true 30'],
    [
      problems.generationFailed(aCreation(), 'GenerationFailed'),
      '502 server_error generation_failed - true -',
    ],
    [
      problems.generationFailed(aCreation(), 'ServiceUnavailable'),
      '503 server_error provider_unavailable - true 30',
    ],
    [problems.serviceClosed({ message: 'm', since: 's' }), '503 server_error overloaded - false 60'],
    [problems.overloaded(), '503 server_error overloaded - true 2'],
    [problems.internalError(), '500 server_error internal_error - true -'],
    [new Problem('ERR_CONTENT_POLICY', 'm'), '400 invalid_request_error content_policy_violation - false -'],
    [new Problem('ERR_CONFLICT', 'm'), '409 invalid_request_error conflict - false -'],
  ])('%s', (problem, expected) => {
    expect(shown(problem)).toBe(expected);
  });

  it('A source image is named by the name of this endpoint, in the message, too', () => {
    expect(refusedBy(problems.sourceTooLarge(1)).error).toMatchObject({
      message: 'image[1]: must have at most 10 MB',
      param: 'image',
      details: { errors: [{ field: 'image[1]', code: 'too_large' }] },
    });
  });

  it('The param is the first wrong field, without the path below it', () => {
    const problem = invalidRequest([
      { field: 'metadata.order', code: 'too_long', message: 'm' },
      { field: 'size', code: 'invalid_value', message: 'n' },
    ]);
    expect(refusedBy(problem).error).toMatchObject({ param: 'metadata', code: 'err_invalid_request' });
  });

  it.each<[string, FieldErrorCode, string]>([
    ['output_format', 'invalid_value', 'unsupported_value'],
    ['background', 'unsupported_value', 'unsupported_value'],
    ['mask', 'unsupported_parameter', 'unsupported_parameter'],
    ['size', 'invalid_value', 'err_invalid_request'],
  ])('The field %s with %s has the code %s', (field, code, expected) => {
    expect(refusedBy(invalidRequest([{ field, code, message: 'm' }])).error.code).toBe(expected);
  });

  it('A refusal of this endpoint has the status of its row', () => {
    const refusal = new OpenaiRefusal('still_rendering', 'm', { headers: { 'retry-after': '1' } });
    expect(shown(refusal)).toBe('504 server_error still_rendering - true 1');
    expect(refusal.status).toBe(504);
  });
});

const body = { model: 'sandbox-standard', prompt: 'a quiet lake', stream: true };

const keepAlive = ': keep-alive';

/** The blocks of the stream: comments as they are, events as their name and their data. */
const blocksOf = (text: string): unknown[] =>
  text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      return event === undefined ? block : [event, JSON.parse(data ?? '')];
    });

const eventsOf = (text: string): unknown[] => blocksOf(text).filter((block) => block !== keepAlive);

const pictureEvent = (place: number): unknown[] => [
  'image_generation.completed',
  {
    type: 'image_generation.completed',
    b64_json: base64Of(pictureAt(place).key),
    created_at: now / 1_000 + 2,
    output_format: 'png',
    size: '1024x1024',
    quality: 'medium',
    background: 'opaque',
    usage: {
      input_tokens: 0,
      input_tokens_details: { image_tokens: 0, text_tokens: 0 },
      output_tokens: 0,
      total_tokens: 0,
    },
  },
];

describe('a request with stream', () => {
  it('The stream begins with a comment, and has one event for each picture', async () => {
    const { generate, stage } = scene();
    const answer = await generate({ ...body, n: 2, partial_images: 2 });
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/event-stream',
        'x-darkroom-creation-id': stage.started.join(','),
        'x-darkroom-cost': '0.08',
      },
    });
    expect(blocksOf(answer.text)).toEqual([keepAlive, pictureEvent(0), pictureEvent(1)]);
    expect(answer.headers['x-darkroom-ignored']).toBeUndefined();
  });

  it('A picture is sent as soon as it is there', async () => {
    const oneLater: Course = (charged, place, since) =>
      place === 0 && since < 60_000 ? { status: 'processing' } : completing(charged, place, since);
    const blocks = blocksOf((await scene(oneLater).generate({ ...body, n: 2 })).text);
    expect(blocks.slice(0, 3)).toEqual([keepAlive, pictureEvent(1), keepAlive]);
    expect(blocks.at(-1)).toEqual(pictureEvent(0));
  });

  it('The stream is never silent for more than 15 s', async () => {
    const { generate, partsAt } = scene(() => ({ status: 'processing' }));
    // The limit of a library ends with the head, which is out.
    await generate(body, { 'x-stainless-timeout': '20' });
    const silences = partsAt.slice(1).map((at, index) => at - (partsAt[index] ?? 0));
    expect(partsAt.at(-1)).toBe(now + 285_000);
    expect(Math.max(...silences)).toBeLessThanOrEqual(15_000);
    // A comment costs something, too.
    expect(silences.length).toBeLessThan(25);
  });

  it('A request that takes too long ends with an error that names the creations', async () => {
    const { generate, stage } = scene(() => ({ status: 'processing' }));
    const events = eventsOf((await generate(body)).text);
    expect(events).toMatchObject([
      [
        'error',
        {
          error: { type: 'server_error', code: 'still_rendering', details: { creation_ids: stage.started } },
        },
      ],
    ]);
  });

  it('When all creations have failed, the stream ends with the first failure', async () => {
    const answer = await scene(failing('PromptRejected')).generate({ ...body, n: 2 });
    expect(answer.status).toBe(200);
    expect(eventsOf(answer.text)).toMatchObject([
      [
        'error',
        { error: { type: 'invalid_request_error', code: 'content_policy_violation', param: 'prompt' } },
      ],
    ]);
  });

  it('When one of two has failed, the stream has the other one and no error', async () => {
    const oneFails: Course = (...given) =>
      given[1] === 0 ? failing('GenerationFailed')(...given) : completing(...given);
    expect(eventsOf((await scene(oneFails).generate({ ...body, n: 2 })).text)).toEqual([pictureEvent(1)]);
  });

  it('A picture that cannot be read is an error event', async () => {
    const get = async (): Promise<never> => Promise.reject(new Error('gone'));
    const answer = await scene(completing, { images: { get } }).generate(body);
    expect(eventsOf(answer.text)).toMatchObject([['error', { error: { code: 'internal_error' } }]]);
  });

  it('A refusal before the charge has a status of its own, and is no stream', async () => {
    expect(await scene().generate({ ...body, n: 9 })).toMatchObject({
      status: 400,
      headers: { 'content-type': 'application/json' },
    });
  });

  it('A client that is gone ends the waiting', async () => {
    const { stage } = scene();
    let isEnded = false;
    const handler = inOpenaiForm(
      async () =>
        Promise.resolve({
          status: 200,
          headers: {},
          body: (async function* () {
            try {
              for (;;) yield await Promise.resolve('part');
            } finally {
              isEnded = true;
            }
          })(),
        }),
      stage.open,
    );
    const { restEvent } = await import('./openai-fixture.ts');
    const { body: parts } = await handler(restEvent(), {} as Context);
    for await (const part of parts) if (part === 'part') break;
    expect(isEnded).toBe(true);
  });
});
