/** The time of one request: what ends when the time ends, and what is never sent later. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pictureOf } from '../../lab/vendors/fakes/fake-vendor.ts';
import { userTokenToItem } from '../../service/accounts/user-token-items.ts';
import { newUserToken, type UserToken } from '../../service/accounts/user-token.ts';
import { serve } from '../../service/api/serve.ts';
import { chargeMillis, overdueMillis, requestMillis } from '../../service/contract/limits.ts';
import type { ChargeOutcome } from '../../service/creations/charge.ts';
import type { SourceResult } from '../../service/outbound/outbound.ts';
import { asMicros } from '../../service/values/money.ts';
import { startBudget } from '../../service/values/time.ts';
import { fakeClock } from '../api/fakes.ts';
import { accepting, post } from '../api/serve-fixture.ts';
import { accountId, anApiKey, namedRequest, now } from '../fixtures/records.ts';

const image = { kind: 'fetched', bytes: pictureOf('png', 64, 64) } as const satisfies SourceResult;
const withImage = { model: 'sandbox-pro', prompt: 'a pier', image_urls: ['https://images.test/1.png'] };

describe('the time budget of a request', () => {
  it('The budget counts down from the arrival and aborts its signal at the end', () => {
    const clock = fakeClock();
    const budget = startBudget(clock, 26_000);
    clock.set(now + 1_234);
    expect({ left: budget.left(), elapsed: budget.elapsed(), over: budget.signal.aborted }).toEqual({
      left: 24_766,
      elapsed: 1_234,
      over: false,
    });
    clock.set(now + 26_000);
    expect({ left: budget.left(), over: budget.signal.aborted }).toEqual({ left: 0, over: true });
  });

  it('The budget is used up once the answer is given, whatever the clock says', () => {
    const budget = startBudget(fakeClock(), 26_000);
    budget.end();
    expect({ left: budget.left(), over: budget.signal.aborted }).toEqual({ left: 0, over: true });
  });

  it('The budget ends with its answer before Lambda ends the function after 29 s', () => {
    expect(requestMillis + overdueMillis).toBeLessThan(29_000);
  });
});

describe('POST /images/generate', () => {
  it('The request is answered 503 and charged nothing when source images left less than 5 s for the charge', async () => {
    const stage = accepting({
      fetchSource: async () => {
        stage.clock.set(now + requestMillis - chargeMillis + 1);
        return Promise.resolve(image);
      },
    });
    const answer = await post(stage, withImage);
    expect(answer).toMatchObject({
      status: 503,
      body: { error: { code: 'ERR_PROVIDER_UNAVAILABLE', details: { reason: 'overloaded' } } },
    });
    expect(stage.orders).toEqual([]);
    expect(stage.started).toEqual([]);
    expect(stage.log.lines).toEqual(['info request_shed']);
  });

  it('The request is charged while 5 s are left, and record, month and rate window follow the time of the charge', async () => {
    const beforeMonthsEnd = Date.UTC(2026, 10, 30, 23, 59, 50);
    const stage = accepting({
      startAt: beforeMonthsEnd,
      fetchSource: async () => {
        stage.clock.set(beforeMonthsEnd + 12_345);
        return Promise.resolve(image);
      },
    });
    expect((await post(stage, withImage)).status).toBe(202);
    expect(stage.orders).toMatchObject([
      {
        nowMillis: beforeMonthsEnd + 12_345,
        creations: [
          {
            createdAt: '2026-12-01T00:00:02.345Z',
            chargedMonth: '2026_12',
            deadlineAt: beforeMonthsEnd + 312_345,
          },
        ],
      },
    ]);
  });

  it('An operation that goes on after its time is answered, and is not charged later', async () => {
    const late = Promise.withResolvers<SourceResult>();
    const stage = accepting({ fetchSource: async () => late.promise });
    const answering = post(stage, withImage);
    await expect.poll(() => stage.counted).toBe(1);
    stage.clock.set(now + requestMillis + overdueMillis);
    expect(await answering).toMatchObject({ status: 500, body: { error: { code: 'ERR_INTERNAL' } } });
    expect(stage.log.lines).toContain('alarm request_failed');
    // A later invocation thaws the frozen environment, and the download ends there.
    stage.clock.set(now + 600_000);
    late.resolve(image);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(stage.orders).toEqual([]);
  });

  it('A page reads also that its request with a token took too long', async () => {
    const made = newUserToken({ id: anApiKey().id, accountId }, 'ada', randomBytes);
    const token: UserToken = {
      ...{ id: made.id, hash: made.hash, accountId, keyId: anApiKey().id, user: 'ada' },
      ...{ limitMicros: asMicros(100), leftMicros: asMicros(100), maxUses: 1, usesLeft: 1, uploadsLeft: 1 },
      ...{ origins: ['https://page.test'], expiresAt: new Date(now + 600_000).toISOString() },
    };
    const stage = accepting({ state: { tokenItem: userTokenToItem(token) } });
    const answering = post(stage, undefined, {
      ...{
        method: 'GET',
        path: '/api/public/v1/models',
        handle: async () => Promise.withResolvers<never>().promise,
      },
      headers: { authorization: `Bearer ${made.text}`, origin: 'https://page.test' },
    });
    await expect.poll(() => stage.counted).toBe(1);
    stage.clock.set(now + requestMillis + overdueMillis);
    expect(await answering).toMatchObject({
      status: 500,
      headers: { 'access-control-allow-origin': 'https://page.test', vary: 'Origin' },
    });
  });

  it("The lookup of the webhook and the download get the signal that ends with the request's time", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const stage = accepting({
      check: async (_url, signal) => {
        signals.push(signal);
        return Promise.resolve({ kind: 'allowed' });
      },
      fetchSource: async (_url, signal) => {
        signals.push(signal);
        return Promise.resolve(image);
      },
    });
    await post(stage, { ...withImage, webhook_url: 'https://receiver.test/' });
    expect(signals).toHaveLength(2);
    expect(
      signals.map((signal) => signal?.aborted),
      'the answer is given',
    ).toEqual([true, true]);
  });

  it('The charge itself counts the rate when there is nothing to download', async () => {
    const stage = accepting({});
    await post(stage, { model: 'sandbox-sketch', prompt: 'a pier' });
    expect(stage.counted).toBe(0);
    expect(stage.orders[0]).toMatchObject({ postRate: 60, creations: [{ requestId: namedRequest }] });
  });

  it.each<[ChargeOutcome['kind'], ChargeOutcome, number]>([
    ['over_balance', { kind: 'over_balance', availableMicros: asMicros(1) }, 402],
    ['too_many_open', { kind: 'too_many_open', limit: 7, current: 9 }, 429],
  ])('The request is counted once when the charge is refused: %s', async (_kind, outcome, status) => {
    const stage = accepting({ outcome });
    expect((await post(stage, { model: 'sandbox-sketch', prompt: 'a pier' })).status).toBe(status);
    expect(stage.counted).toBe(1);
    expect(stage.log.lines).not.toContain('info request_shed');
  });
});

describe('GET requests', () => {
  it('A GET is answered after it was counted, even if its operation refuses at once', async () => {
    const counting = Promise.withResolvers<boolean>();
    let isCounted = false;
    const stage = accepting({ countRequest: async () => counting.promise });
    const handler = serve('get', () => Promise.reject(new Error('it broke')), stage.open);
    const answering = post(stage, undefined, { handler, method: 'GET' }).then((answer) => {
      expect(isCounted).toBe(true);
      return answer;
    });
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    isCounted = true;
    counting.resolve(true);
    expect(await answering).toMatchObject({
      status: 500,
      headers: { 'ratelimit-policy': '"get";q=600;w=60' },
    });
  });
});
