/** A library repeats a call by itself and numbers the tries. However often it does, the call is paid for once. */
import { describe, expect, it } from 'vitest';
import type { RetryStore } from '../../service/creations/retry-store.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { aCreation, now } from '../fixtures/records.ts';
import { textLike } from '../fixtures/values.ts';
import {
  completing,
  type Course,
  failing,
  onePicture,
  type OpenaiAnswer,
  scene,
  type Scene,
} from './openai-fixture.ts';

const body = { model: 'sandbox-standard', prompt: 'a quiet lake' };
const send = async ({ generate }: Scene, attempt?: number, change: object = {}): Promise<OpenaiAnswer> =>
  generate(
    { ...body, ...change },
    attempt === undefined ? {} : { 'X-Stainless-Retry-Count': String(attempt) },
  );
const idsOf = ({ headers }: OpenaiAnswer): string | undefined => headers['x-darkroom-creation-id'];
const slow: Course = () => ({ status: 'processing' });

describe('a call that a library repeats', () => {
  it('A retry gets the pictures of the first try, and is not charged', async () => {
    const it = scene();
    const first = await send(it, 0, { n: 2 });
    const second = await send(it, 1, { n: 2 });
    expect(it.stage.orders).toHaveLength(1);
    expect(idsOf(second)).toBe(idsOf(first));
    expect(second).toMatchObject({ status: 200, headers: { 'idempotent-replayed': 'true' } });
    expect(second.body['data']).toEqual(first.body['data']);
    // The charge itself counts the first call in the rate. The retry is counted by its own write.
    expect(it.stage.counted).toBe(1);
  });

  it('Two calls with the same body make two pictures, and so does another body', async () => {
    const it = scene();
    const answers = [await send(it, 0), await send(it, 0), await send(it, 1, { prompt: 'another lake' })];
    expect(it.stage.orders).toHaveLength(3);
    expect(new Set(answers.map(idsOf)).size).toBe(3);
  });

  it('A retry that comes before its first try is charged, and the first try gets what the retry has made', async () => {
    const it = scene();
    expect(idsOf(await send(it, 1))).toBe(idsOf(await send(it, 0)));
    expect(it.stage.orders).toHaveLength(1);
  });

  it('After a failure the retry is charged again in the same entry, since the failure was refunded', async () => {
    const it = scene((charged, place, since) =>
      it.stage.orders[0]?.creations[0].id === charged.id
        ? failing('GenerationFailed')(charged, place, since)
        : completing(charged, place, since),
    );
    expect(await send(it, 0)).toMatchObject({ status: 502, headers: { 'x-should-retry': 'true' } });
    expect(await send(it, 1)).toMatchObject({ status: 200 });
    expect(it.stage.orders.map(({ retry }) => retry?.kind)).toEqual(['new_entry', 'same_entry']);
    expect(await send(it, 2)).toMatchObject({ status: 200 });
    expect(it.stage.orders).toHaveLength(2);
  });

  it('A client without numbers that got 504 comes back for its picture once, and then makes a new one', async () => {
    let isReady = false;
    const it = scene((...given) => (isReady ? completing(...given) : slow(...given)));
    const first = await send(it);
    expect(first.status).toBe(504);
    isReady = true;
    expect(idsOf(await send(it))).toBe(idsOf(first));
    expect(idsOf(await send(it))).not.toBe(idsOf(first));
    expect(it.stage.orders).toHaveLength(2);
  });

  it('An Idempotency-Key wins: the request is not among the tries', async () => {
    const it = scene();
    await it.generate(body, { 'idempotency-key': 'k', 'x-stainless-retry-count': '1' });
    expect(it.stage.orders[0]?.retry).toBeUndefined();
  });

  it('A retry is found before its request is checked against the wallet, which the first try has emptied', async () => {
    const setting = { account: { availableMicros: asMicros(onePicture) } };
    const it = scene(completing, { setting });
    const first = await send(it, 0);
    Object.assign(setting.account, { availableMicros: asMicros(0) });
    expect(await send(it, 1)).toMatchObject({
      status: 200,
      headers: { 'x-darkroom-creation-id': idsOf(first) },
    });
    expect(await send(it, 0)).toMatchObject({ status: 402, headers: { 'x-should-retry': 'false' } });
  });
});

/** A store that notes its calls. */
function recording(
  change: (store: RetryStore) => Partial<RetryStore>,
  setting = {},
): Scene & { notes: unknown[] } {
  const notes: unknown[] = [];
  const note: RetryStore['note'] = async (_place, entry, told) =>
    Promise.resolve(void notes.push([entry.creationIds, told]));
  const plain: RetryStore = {
    readHead: async () => Promise.resolve(undefined),
    entries: async () => Promise.resolve([]),
    attach: async () => Promise.resolve(true),
    note,
  };
  return Object.assign(
    scene(completing, { setting, services: { retries: { ...plain, ...change(plain) } } }),
    { notes },
  );
}

describe('what is noted and asked', () => {
  it('The answer is noted once it is out', async () => {
    const it = recording(() => ({}));
    await send(it);
    await send(it, 0, { stream: true });
    await send(it, 0, { response_format: 'url' });
    expect(it.notes).toEqual(it.stage.orders.map(({ creations }) => [[creations[0].id], 'pictures']));
  });

  it('A note that fails does not break the answer', async () => {
    const it = recording(() => ({ note: async () => Promise.reject(new Error('a secret')) }));
    expect(await send(it)).toMatchObject({ status: 200 });
    expect(it.stage.log.lines).toContain('info answer_not_noted');
    expect(it.stage.log.text()).not.toContain('secret');
  });

  it('A charge that another try overtook reads again, and gives up after three rounds', async () => {
    let reads = 0;
    const readHead = async () => Promise.resolve(void (reads += 1));
    const once = recording(() => ({ readHead }), { outcome: [{ kind: 'retry_moved' }, { kind: 'charged' }] });
    expect(await send(once, 1)).toMatchObject({ status: 200 });
    expect(reads).toBe(2);
    const always = recording(() => ({}), { outcome: { kind: 'retry_moved' } });
    expect(await send(always, 1)).toMatchObject({ status: 503, body: { error: { code: 'overloaded' } } });
    expect(always.stage.orders).toHaveLength(3);
  });

  it.each([
    ['the wallet', { kind: 'over_balance', availableMicros: asMicros(0) }, 402],
    ['the room', { kind: 'too_many_open', limit: 1, current: 1 }, 429],
  ])(
    'A retry that is refused for %s checks whether its own first try took it',
    async (_what, refusal, status) => {
      /** An entry is made between two reads of the head. */
      const changing = (): Partial<RetryStore> => {
        const heads = [undefined, { made: 1, madeByRetry: 0 }];
        return { readHead: async () => Promise.resolve(heads.length > 1 ? heads.shift() : heads[0]) };
      };
      const it = recording(changing, { outcome: [refusal, { kind: 'charged' }] });
      expect(await send(it, 1)).toMatchObject({ status: 200 });
      // Without another try, and for a first try, the refusal stands.
      const alone = recording(() => ({}), { outcome: refusal });
      expect(await send(alone, 1)).toMatchObject({ status });
      const first = recording(changing, { outcome: refusal });
      expect(await send(first, 0)).toMatchObject({ status });
      expect(first.stage.orders).toHaveLength(1);
    },
  );

  it('A retry is counted in the rate before it attaches, so that it is not refused after that', async () => {
    let attached = 0;
    const entry = { id: 'e', creationIds: ['c' as never], madeAt: 0, seen: [0] } as const;
    const it = recording(
      () => ({
        readHead: async () => Promise.resolve({ made: 1, madeByRetry: 0 }),
        entries: async () => Promise.resolve([entry]),
        attach: async () => Promise.resolve((attached += 1) > 0),
      }),
      { hasRoom: false },
    );
    expect(await send(it, 1)).toMatchObject({ status: 429, headers: { 'x-should-retry': 'true' } });
    expect(attached).toBe(0);
  });
});

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

  it('A replay is counted in the rate before it is held', async () => {
    const first = scene();
    await first.generate(body, key);
    const requestHash = first.stage.orders[0]?.idempotency?.requestHash ?? '';
    const state = { idempotency: { creationIds: ids, requestHash, expiresAt: now } };
    const { generate, stage } = scene(completing, { earlier, setting: { state, hasRoom: false } });
    expect(await generate(body, key)).toMatchObject({ status: 429 });
    expect(stage.clock.sleeps).toEqual([]);
  });

  const state = { idempotency: { creationIds: ids, requestHash: 'other', expiresAt: now } };

  it('Another request under the key is 400', async () => {
    const { generate } = scene(completing, { earlier, setting: { state } });
    expect(await generate(body, key)).toMatchObject({
      status: 400,
      body: { error: { param: 'Idempotency-Key', details: { reason: 'idempotency_key_mismatch' } } },
    });
  });

  it('When all creations of the key have failed, the request is charged again for new ones', async () => {
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
