import { describe, expect, it } from 'vitest';
import { Overloaded } from '../../service/values/errors.ts';
import { fakePlaces } from '../api/fakes.ts';
import { now } from '../fixtures/records.ts';
import {
  bytesOf,
  completing,
  type Course,
  failing,
  type OpenaiAnswer,
  pictureAt,
  scene,
  type Scene,
  shownAt,
  type Setup,
} from './openai-fixture.ts';

const body = { model: 'sandbox-standard', prompt: 'a quiet lake' };
const dataOf = (answer: { body: Record<string, unknown> }): unknown => answer.body['data'];

describe('creations that fail', () => {
  const someFail: Course = (charged, place, since) =>
    place === 1 ? failing('PromptRejected')(charged, place, since) : completing(charged, place, since);

  it('The answer has the pictures that are there, and says which creation failed and was refunded', async () => {
    const { generate, stage } = scene(someFail);
    const answer = await generate({ ...body, n: 3 });
    expect(answer).toMatchObject({ status: 200, headers: { 'x-darkroom-cost': '0.08' } });
    expect(dataOf(answer)).toEqual([0, 2].map(shownAt));
    expect(answer.body['darkroom']).toMatchObject({
      cost: 0.08,
      failed: [{ creation_id: stage.started[1], code: 'content_policy_violation' }],
    });
  });

  it('A declined prompt names its field, and so does a rejected image', async () => {
    const paramFor = async (course: Course): Promise<unknown> =>
      (await scene(course).generate(body)).body.error?.param;
    expect(await paramFor(failing('PromptRejected'))).toBe('prompt');
    expect(await paramFor(failing('SourceImageRejected'))).toBe('image');
    expect(await paramFor(failing('GenerationFailed'))).toBeNull();
  });

  it.each<[string, string, number, Course, string?]>([
    ['content_policy_violation', 'false', 400, failing('PromptRejected')],
    ['invalid_image', 'false', 400, failing('SourceImageRejected')],
    ['generation_failed', 'true', 502, failing('GenerationFailed')],
    ['generation_failed', 'true', 502, failing('NothingRendered')],
    ['generation_timeout', 'true', 504, failing('GenerationTimedOut')],
    ['provider_unavailable', 'true', 503, failing('ServiceUnavailable'), '30'],
    ['generation_failed', 'true', 502, failing('InternalFailure')],
    ['cancelled', 'false', 409, failing('InternalFailure', { cancelledAt: new Date(now).toISOString() })],
  ])(
    'When all have failed, the answer is that of the first failure: %s, x-should-retry %s',
    async (code, retry, status, course, after) => {
      const { generate, stage } = scene(course);
      const answer = await generate({ ...body, n: 2 });
      expect(answer).toMatchObject({
        status,
        headers: {
          'x-should-retry': retry,
          'x-darkroom-cost': '0',
          'x-darkroom-creation-id': stage.started.join(','),
        },
        body: { error: { code, details: { creation_id: stage.started[0] } } },
      });
      expect(answer.headers['retry-after']).toBe(after);
    },
  );

  it('A creation that could not be started counts as failed', async () => {
    let starts = 0;
    const executions = {
      start: async () => Promise.resolve((starts += 1) === 2 ? ('refused' as const) : ('started' as const)),
    };
    const refund = async () => Promise.resolve('refunded' as const);
    const setting = { services: {} };
    const { generate, stage } = scene(someFail, { setting });
    const services = stage.open();
    Object.assign(services.executions, executions);
    Object.assign(services.charges, { refund });
    expect(await generate({ ...body, n: 2 })).toMatchObject({ status: 200 });
    expect(starts).toBe(2);
    expect(stage.log.lines).toContain('alarm start_refused');
  });
});

describe('a request that is held', () => {
  const slow: Course = () => ({ status: 'processing' });
  const heldFor = async (headers: Record<string, string>): Promise<number> => {
    const { generate, stage } = scene(slow);
    expect(await generate(body, headers)).toMatchObject({ status: 504 });
    return (stage.clock.now() - now) / 1_000;
  };

  it('After 285 s the answer is 504 with the creations, and a library sends the request again', async () => {
    const { generate, stage } = scene(slow);
    const answer = await generate({ ...body, n: 2 });
    expect(answer).toMatchObject({
      status: 504,
      headers: {
        'x-should-retry': 'true',
        'retry-after': '1',
        'x-darkroom-creation-id': stage.started.join(','),
        'x-darkroom-cost': '0.08',
      },
      body: { error: { type: 'server_error', code: 'still_rendering' } },
    });
    expect(answer.body.error?.details).toEqual({
      creation_ids: stage.started,
      creations: stage.started.map((id) => ({
        id,
        url: `https://api.test/api/public/v1/creations/${id}`,
        page: `https://portal.test/creations/${id}`,
      })),
    });
    expect(stage.clock.now() - now).toBe(285_000);
    // A poll every two seconds, after shorter pauses at the beginning.
    expect(stage.clock.sleeps.length).toBeLessThan(150);
    expect(Math.max(...stage.clock.sleeps)).toBe(2_000);
  });

  it('One creation that is not ready keeps all back', async () => {
    const oneSlow: Course = (...given) => (given[1] === 1 ? { status: 'processing' } : completing(...given));
    expect(await scene(oneSlow).generate({ ...body, n: 2 })).toMatchObject({ status: 504 });
  });

  it.each<[Record<string, string>, number]>([
    [{ 'X-Stainless-Timeout': '60' }, 55],
    [{ 'x-stainless-read-timeout': '30.5' }, 25.5],
    [{ 'x-stainless-read-timeout': '40', 'x-stainless-timeout': '20' }, 15],
    [{ 'x-stainless-timeout': '6' }, 3],
    [{ 'x-stainless-timeout': '600' }, 285],
    [{ 'x-stainless-timeout': 'None' }, 285],
    [{ 'x-stainless-timeout': '-5' }, 285],
  ])('With %j the answer comes before the library gives up', async (headers, seconds) => {
    expect(await heldFor(headers)).toBe(seconds);
  });

  it('A poll that fails is repeated', async () => {
    let looks = 0;
    const course: Course = (...given) => {
      looks += 1;
      if (looks === 2) throw new Overloaded('busy');
      return completing(...given);
    };
    const { generate, stage } = scene(course);
    expect(await generate(body)).toMatchObject({ status: 200 });
    expect(stage.log.lines).toContain('info wait_broken_off');
  });
});

describe('pictures that cannot be read', () => {
  it('The answer is 500 while the head is not out, and the library sends the request again', async () => {
    const get = async (): Promise<never> => Promise.reject(new Error('the bucket answered 403 to a get'));
    const { generate, stage } = scene(completing, { images: { get } });
    expect(await generate(body)).toMatchObject({
      status: 500,
      headers: { 'x-should-retry': 'true', 'x-darkroom-creation-id': stage.started[0] },
      body: { error: { code: 'internal_error', details: { creation_ids: stage.started } } },
    });
    expect(stage.log.lines).toContain('alarm request_failed');
  });

  it('A bucket that is busy is 503 without an alarm, and the library sends the request again', async () => {
    const get = async (): Promise<never> => Promise.reject(new Overloaded('busy'));
    const { generate, stage } = scene(completing, { images: { get } });
    expect(await generate(body)).toMatchObject({
      status: 503,
      headers: { 'x-should-retry': 'true', 'retry-after': '2', 'x-darkroom-creation-id': stage.started[0] },
      body: { error: { code: 'overloaded', details: { creation_ids: stage.started } } },
    });
    expect(stage.log.lines).toContain('info result_not_read');
  });

  it('A later picture that is not there is 500, too', async () => {
    const find = async (): Promise<undefined> => Promise.resolve(undefined);
    expect(await scene(completing, { images: { find } }).generate({ ...body, n: 2 })).toMatchObject({
      status: 500,
    });
  });

  it('A later picture that cannot be read ends the answer too early, so that no client takes it for whole', async () => {
    const get = async (key: string): Promise<Uint8Array> =>
      key === pictureAt(1).key ? Promise.reject(new Error('gone')) : Promise.resolve(bytesOf(key));
    await expect(scene(completing, { images: { get } }).generate({ ...body, n: 2 })).rejects.toThrow('gone');
  });

  it('Pictures that have expired are 500', async () => {
    const expired: Course = (...given) => ({ ...completing(...given), resultsExpireAt: now });
    expect(await scene(expired).generate({ ...body, response_format: 'url' })).toMatchObject({ status: 500 });
  });
});

const slow: Course = () => ({ status: 'processing' });
const send = async ({ generate }: Scene, attempt: number, change: object = {}): Promise<OpenaiAnswer> =>
  generate({ ...body, ...change }, { 'X-Stainless-Retry-Count': String(attempt) });

/** An account whose other requests leave so many slots. */
function withPlaces(limit: number, course?: Course, setup: Setup = {}) {
  const held = fakePlaces(limit);
  return { held, ...scene(course, { ...setup, services: { held } }) };
}

describe('a request beyond the share of its account', () => {
  it('A wrong request needs no slot and gets an answer that says what is wrong', async () => {
    expect(await send(withPlaces(0), 0, { prompt: '' })).toMatchObject({ status: 400 });
  });

  it('A retry whose pictures are ready needs no slot', async () => {
    const it = withPlaces(1);
    const first = await send(it, 0);
    it.held.fill();
    expect(await send(it, 1)).toMatchObject({ status: 200, body: { data: first.body['data'] } });
  });

  it('A stream says in its first event that the pictures are still made', async () => {
    const it = withPlaces(1, slow);
    await send(it, 0, { stream: true });
    it.held.fill();
    const before = it.stage.clock.now();
    const { status, text } = await send(it, 1, { stream: true });
    expect(status).toBe(200);
    expect(text).toContain('"code":"still_rendering"');
    expect(it.stage.clock.now()).toBe(before);
  });
});

describe('the slot of a request', () => {
  it.each<[string, Course | undefined, object, number]>([
    ['pictures', undefined, {}, 200],
    ['a stream', undefined, { stream: true }, 200],
    ['a failure', failing('GenerationFailed'), {}, 502],
    ['a refusal', undefined, { model: 'sandbox-standard', max_cost: 0.001 }, 400],
  ])('The place is given back after %s', async (_what, course, change, status) => {
    const it = withPlaces(1, course);
    expect((await send(it, 0, change)).status).toBe(status);
    expect(it.held.taken).toBe(0);
  });

  it('The slot is freed when the charge is refused', async () => {
    const it = withPlaces(1, undefined, { setting: { outcome: { kind: 'rate_used_up' } } });
    expect((await send(it, 0)).status).toBe(429);
    expect(it.held.taken).toBe(0);
  });
});
