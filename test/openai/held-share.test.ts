/** An account may have only its share of the requests that are held. */
import { describe, expect, it } from 'vitest';
import { fakePlaces } from '../api/fakes.ts';
import { type Course, failing, scene, type Scene, type Setup } from './images-fixture.ts';
import type { OpenaiAnswer } from './openai-fixture.ts';

const body = { model: 'sandbox-standard', prompt: 'a quiet lake' };
const slow: Course = () => ({ status: 'processing' });
const send = async ({ generate }: Scene, attempt: number, change: object = {}): Promise<OpenaiAnswer> =>
  generate({ ...body, ...change }, { 'X-Stainless-Retry-Count': String(attempt) });

/** An account whose other requests leave so many places. */
function withPlaces(limit: number, course?: Course, setup: Setup = {}) {
  const held = fakePlaces(limit);
  return { held, ...scene(course, { ...setup, services: { held } }) };
}

describe('a request beyond the share of its account', () => {
  it('A request for new pictures is refused with 429 before the charge', async () => {
    const it = withPlaces(0);
    expect(await send(it, 0)).toMatchObject({
      status: 429,
      headers: { 'retry-after': '5', 'x-should-retry': 'true' },
      body: {
        error: {
          code: 'rate_limit_exceeded',
          details: { scope: 'account', reason: 'held_requests', limit: 0 },
        },
      },
    });
    expect([it.stage.orders, it.stage.clock.sleeps]).toEqual([[], []]);
    // The refusal counts once against the rate.
    expect(it.stage.counted).toBe(1);
  });

  it('A wrong request needs no place and hears what is wrong', async () => {
    expect(await send(withPlaces(0), 0, { prompt: '' })).toMatchObject({ status: 400 });
  });

  it('A retry is told at once that its pictures are still made, and is not charged', async () => {
    const it = withPlaces(1, slow);
    await send(it, 0);
    it.held.fill();
    const before = it.stage.clock.now();
    expect(await send(it, 1)).toMatchObject({
      status: 504,
      headers: { 'x-should-retry': 'true', 'retry-after': '10' },
      body: { error: { code: 'still_rendering' } },
    });
    expect(it.stage.clock.now()).toBe(before);
    expect(it.stage.orders).toHaveLength(1);
  });

  it('A retry whose pictures are ready needs no place', async () => {
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

describe('the place of a request', () => {
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

  it('The place is given back when the charge is refused', async () => {
    const it = withPlaces(1, undefined, { setting: { outcome: { kind: 'rate_used_up' } } });
    expect((await send(it, 0)).status).toBe(429);
    expect(it.held.taken).toBe(0);
  });
});
