/** The user of a request before its body is checked: one read holds what is spent for that user. */
import { describe, expect, it } from 'vitest';
import { asMicros } from '../../core/money.ts';
import { userHash } from '../../core/user.ts';
import { anApiKey } from '../fixtures/records.ts';
import { accepting, bearer, post } from './serve-fixture.ts';

const body = { model: 'sandbox-standard', prompt: 'a pier', user: 'customer 7' };

describe('the user of a request', () => {
  it.each<[string, object, string | undefined]>([
    ['a user', body, userHash('customer 7')],
    ['no user', { ...body, user: undefined }, undefined],
    ['null', { ...body, user: null }, undefined],
    ['a user of a wrong form', { ...body, user: 'a\nb' }, undefined],
    ['the word in its prompt', { model: 'sandbox-standard', prompt: '"user"' }, undefined],
  ])('The first read of a body with %s asks for the counter of: %s', async (_what, sent, hash) => {
    const stage = accepting({});
    await post(stage, sent);
    expect(stage.questions.map((question) => question.userHash)).toEqual([hash]);
  });

  it('A body that cannot be read, and a request without a well-formed key, ask for no counter', async () => {
    const stage = accepting({});
    await post(stage, undefined, { bytes: Buffer.from('{"user":"customer 7",') });
    await post(stage, undefined, { bytes: Buffer.from(`["user"]`) });
    await post(stage, undefined, { bytes: Buffer.from(`{"user":"a"${' '.repeat(256 * 1024)}}`) });
    await post(stage, body, { headers: { ...bearer, authorization: 'Bearer dk_live_mistyped' } });
    expect(stage.questions.map((question) => question.userHash)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('A user whose budget is used up is refused before anything is fetched or charged', async () => {
    const stage = accepting({
      apiKey: { perUserMonthlyCapMicros: asMicros(50_000) },
      state: { userSpentMicros: asMicros(10_001) },
    });
    const answer = await post(stage, { ...body, image_urls: ['https://images.test/1.png'] });
    expect(answer).toMatchObject({
      status: 402,
      body: { error: { details: { reason: 'user_budget_exceeded', spent: 0.010001, user: 'customer 7' } } },
    });
    expect([stage.fetched, stage.orders]).toEqual([[], []]);
  });

  it('A charge of a key with a cap for each user says that it counts for the user', async () => {
    const stage = accepting({ apiKey: { perUserMonthlyCapMicros: asMicros(50_000) } });
    expect((await post(stage, body)).status).toBe(202);
    expect(stage.orders[0]?.creations[0]).toMatchObject({ user: 'customer 7', countedForUser: true });
  });

  it('A cap for each user that is set during the request requires the user then', async () => {
    const changed = anApiKey({ perUserMonthlyCapMicros: asMicros(50_000) });
    const stage = accepting({ outcome: { kind: 'key_changed', apiKey: changed } });
    const answer = await post(stage, { ...body, user: null });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { details: { errors: [{ field: 'user', code: 'required' }] } } },
    });
  });
});
