import { describe, expect, it } from 'vitest';
import type { CreationId } from '../../service/values/ids.ts';
import { aCreation, now } from '../fixtures/records.ts';
import { textLike } from '../fixtures/values.ts';
import { completing, type Course, failing, scene } from './images-fixture.ts';

const body = { model: 'sandbox-standard', prompt: 'a quiet lake' };
const dataOf = (answer: { body: Record<string, unknown> }): unknown => answer.body['data'];

describe('an Idempotency-Key', () => {
  const key = { 'Idempotency-Key': 'order-7' };
  const earlier = [
    aCreation(),
    aCreation({ id: '019aa5a0-1000-7000-8000-00000000000b' as CreationId }),
  ] as const;
  const ids = [earlier[0].id, earlier[1].id] as const;

  it('The key is kept with all creations of the request', async () => {
    const { generate, stage } = scene();
    await generate({ ...body, n: 2 }, key);
    expect(stage.orders[0]).toMatchObject({
      idempotency: { hash: textLike(/^[0-9a-f]{64}$/), requestHash: textLike(/^[0-9a-f]{64}$/) },
    });
    expect(stage.orders[0]?.creations).toHaveLength(2);
  });

  it('The same request again gets the same pictures, is not charged, and takes its place in the rate', async () => {
    const first = scene();
    await first.generate({ ...body, n: 2 }, key);
    const requestHash = first.stage.orders[0]?.idempotency?.requestHash ?? '';
    const state = { idempotency: { creationIds: ids, requestHash, expiresAt: now } };
    const { generate, stage } = scene(completing, { earlier, setting: { state } });
    const answer = await generate({ n: 2, ...body }, key);
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        'x-darkroom-creation-id': ids.join(','),
        'idempotent-replayed': 'true',
        'x-darkroom-cost': '0.08',
      },
    });
    expect(dataOf(answer)).toHaveLength(2);
    expect(stage.orders).toEqual([]);
    expect(stage.counted).toBe(1);
  });

  it('A replay takes its place in the rate before it is held', async () => {
    const first = scene();
    await first.generate(body, key);
    const requestHash = first.stage.orders[0]?.idempotency?.requestHash ?? '';
    const state = { idempotency: { creationIds: ids, requestHash, expiresAt: now } };
    const { generate, stage } = scene(completing, { earlier, setting: { state, hasRoom: false } });
    expect(await generate(body, key)).toMatchObject({ status: 429 });
    expect(stage.clock.sleeps).toEqual([]);
  });

  it('Another request under the key is 400', async () => {
    const state = { idempotency: { creationIds: ids, requestHash: 'other', expiresAt: now } };
    const { generate } = scene(completing, { earlier, setting: { state } });
    expect(await generate(body, key)).toMatchObject({
      status: 400,
      body: { error: { param: 'Idempotency-Key', details: { reason: 'idempotency_key_mismatch' } } },
    });
  });

  it('When all creations of the key have failed, the request is charged again in their place', async () => {
    const state = { idempotency: { creationIds: ids, requestHash: 'other', expiresAt: now } };
    const course: Course = (charged, ...rest) =>
      ids.includes(charged.id) ? failing('GenerationFailed')(charged, ...rest) : completing(charged, ...rest);
    const { generate, stage } = scene(course, { earlier, setting: { state } });
    expect(await generate(body, key)).toMatchObject({ status: 200 });
    expect(stage.orders[0]?.idempotency).toMatchObject({ replaces: ids[0] });
  });

  it('A key that cannot be read is 400', async () => {
    expect(await scene().generate(body, { 'Idempotency-Key': 'ä' })).toMatchObject({
      status: 400,
      body: { error: { param: 'Idempotency-Key' } },
    });
  });
});
