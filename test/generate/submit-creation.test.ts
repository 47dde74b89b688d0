/** The charge of POST /images/generate: the record of the creation, and when a second charge is tried. */
import { describe, expect, it } from 'vitest';
import type { ChargeOutcome } from '../../service/creations/charge.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import type { Executions } from '../../service/creations/executions.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { fakeClock, pngBytes, stub } from '../api/fakes.ts';
import { accepting, bearer, post } from '../api/serve-fixture.ts';
import {
  accountId,
  aCreation,
  anAccount,
  anApiKey,
  creationId,
  keyId,
  namedRequest,
  now,
} from '../fixtures/records.ts';
import { textLike } from '../fixtures/values.ts';

const body = { model: 'sandbox-standard', prompt: 'a pier' };
const everything = {
  model: 'sandbox-pro',
  prompt: 'a pier',
  resolution: '2K',
  aspect_ratio: '16:9',
  output_format: 'png',
  image_urls: ['https://images.test/1.png'],
  webhook_url: 'https://hooks.test/a',
  seed: 42,
  metadata: { order: '7' },
  user: 'customer 7',
  max_cost: 0.13,
};
const withKey = { headers: { ...bearer, 'content-type': 'application/json', 'idempotency-key': 'k' } };
/** SHA-256 of "k". */
const keyHash = '8254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d7a';
/** The id of a creation that is made at the fixture's time with the fixture's random bytes. */
const id = '01a1fdfa-bb30-7607-8809-0a0b0c0d0e0f';

describe('the order of a charge', () => {
  it('The order holds the whole record of a request that names only its model and prompt', async () => {
    const stage = accepting({});
    await post(stage, body);
    expect(stage.orders).toStrictEqual([
      {
        apiKey: anApiKey(),
        nowMillis: now,
        postRate: 60,
        maxConcurrent: 20,
        creations: [
          {
            id,
            accountId,
            keyId,
            requestId: namedRequest,
            v: 1,
            status: 'queued',
            model: 'sandbox-standard',
            prompt: 'a pier',
            resolution: '1K',
            aspectRatio: '1:1',
            outputFormat: 'png',
            seed: null,
            sources: [],
            metadata: {},
            costMicros: 40_000,
            refundedMicros: 0,
            chargedMonth: '2026_11',
            chargedDay: '2026_11_21',
            createdAt: '2026-11-21T12:00:30.000Z',
            deadlineAt: now + 300_000,
            results: [],
            routes: [{ provider: 'sandbox', providerModel: 'standard' }],
            attempts: [],
            executions: 1,
            recoveries: 0,
            dueAt: now + 60_000,
          },
        ],
      },
    ]);
  });

  it('The order holds everything that a request can name, the cap of the key and the Idempotency-Key', async () => {
    const stage = accepting({
      account: {
        limits: { ...anAccount().limits, postRate: 61, deadlineSeconds: 301 },
      },
      apiKey: { monthlyCapMicros: asMicros(2_000_000) },
      check: async () => Promise.resolve({ kind: 'allowed' }),
      fetchSource: async () => Promise.resolve({ kind: 'fetched', bytes: pngBytes }),
    });
    await post(stage, everything, withKey);
    expect(stage.orders).toMatchObject([
      {
        apiKey: { monthlyCapMicros: 2_000_000 },
        idempotency: { hash: keyHash, requestHash: textLike(/^[0-9a-f]{64}$/) },
        creations: [
          {
            resolution: '2K',
            aspectRatio: '16:9',
            outputFormat: 'png',
            seed: 42,
            sources: [{ width: 64 }],
            metadata: { order: '7' },
            user: 'customer 7',
            costMicros: 130_000,
            deadlineAt: now + 301_000,
            webhook: { url: 'https://hooks.test/a', status: 'pending', attempts: 0, nextAt: now },
            routes: [
              { provider: 'sandbox', providerModel: 'pro' },
              { provider: 'sandbox-large', providerModel: 'pro' },
            ],
          },
        ],
      },
    ]);
    expect(stage.orders[0]?.creations[0]).not.toHaveProperty('countedForUser');
    expect(stage.orders[0]).not.toHaveProperty('postRate');
    expect(stage.orders[0]?.idempotency).not.toHaveProperty('replaces');
  });

  it('The order names the quality of a route that has a quality', async () => {
    const stage = accepting({ state: { enabledProviders: ['openai'] } });
    const catalog = stage.open().catalog;
    const model = catalog.models.find(({ routes }) => routes.some(({ quality }) => quality !== null));
    await post(stage, { model: model?.id, prompt: 'a pier' });
    const named = stage.orders[0]?.creations[0].routes.map(({ quality }) => quality);
    expect(named).toContain(model?.routes.find(({ quality }) => quality !== null)?.quality);
  });
});

describe('the version of an order', () => {
  it('The record has the version that the release writes, not the newest that it understands', async () => {
    const stage = accepting({ services: { schema: { written: 2, newestKnown: 3 } } });
    await post(stage, body);
    expect(stage.orders).toMatchObject([{ creations: [{ v: 2 }] }]);
  });
});

describe('the machine of an order', () => {
  it('A creation whose first provider can call back belongs to the callback machine', async () => {
    const stage = accepting({ state: { enabledProviders: ['fal'] } });
    await post(stage, { model: 'flux-2-pro', prompt: 'a pier' });
    expect(stage.orders).toMatchObject([
      { creations: [{ machine: 'callback', routes: [{ provider: 'fal' }] }] },
    ]);
  });

  it('A creation whose first provider is polled belongs to the plain machine, and names none', async () => {
    const stage = accepting({ state: { enabledProviders: ['bfl', 'fal'] } });
    await post(stage, { model: 'flux-2-pro', prompt: 'a pier' });
    expect(stage.orders).toMatchObject([
      { creations: [{ routes: [{ provider: 'bfl' }, { provider: 'fal' }] }] },
    ]);
    expect(stage.orders[0]?.creations[0]).not.toHaveProperty('machine');
  });
});

describe('an accepted creation', () => {
  it('The log says how long the charge and the start took', async () => {
    const clock = fakeClock();
    const stage = accepting({
      services: {
        clock,
        executions: stub<Executions>({ start: async () => clock.sleep(1_500).then(() => 'started') }),
      },
    });
    await post(stage, body);
    expect(stage.log.entries).toMatchObject([['info creation_accepted', { acceptMillis: 1_500 }]]);
  });

  it('The creation is started once and logged with its ids, and the answer has Location and Retry-After', async () => {
    const stage = accepting({});
    const answer = await post(stage, body);
    expect(stage.started).toEqual([id]);
    expect(stage.log.entries).toEqual([
      [
        'info creation_accepted',
        {
          requestId: namedRequest,
          accountId,
          creationId: id,
          executionId: id,
          model: 'sandbox-standard',
          costMicros: 40_000,
          started: 'started',
          acceptMillis: 0,
        },
      ],
    ]);
    expect(answer).toMatchObject({
      status: 202,
      headers: {
        location: `/api/public/v1/creations/${id}`,
        'retry-after': '2',
        'x-darkroom-cost': '0.04',
      },
    });
    expect(answer.headers).not.toHaveProperty('preference-applied');
  });
});

describe('a charge that is built anew', () => {
  const changedTo = (cap: number): ChargeOutcome => ({
    kind: 'key_changed',
    apiKey: anApiKey({ monthlyCapMicros: asMicros(cap) }),
  });

  it('Each new charge takes the cap of the key as it is then', async () => {
    const stage = accepting({ outcome: [changedTo(2_000_000), changedTo(3_000_000), { kind: 'charged' }] });
    expect((await post(stage, body)).status).toBe(202);
    const caps = stage.orders.map(({ apiKey }) => apiKey.monthlyCapMicros);
    expect(caps).toEqual([undefined, 2_000_000, 3_000_000]);
  });

  it('The new charge takes the limit of the account as it is then', async () => {
    const limits = { ...anAccount().limits, maxConcurrent: 7 };
    const changed: ChargeOutcome = { kind: 'account_changed', account: anAccount({ limits }) };
    const stage = accepting({ outcome: [changed, { kind: 'charged' }] });
    expect((await post(stage, body)).status).toBe(202);
    expect(stage.orders.map(({ maxConcurrent }) => maxConcurrent)).toEqual([20, 7]);
  });

  it('The request is given up after three charges', async () => {
    const stage = accepting({ outcome: changedTo(2_000_000) });
    expect((await post(stage, body)).status).toBe(503);
    expect(stage.orders).toHaveLength(3);
  });

  it('The request is refused when the new cap does not cover the cost', async () => {
    const stage = accepting({ outcome: changedTo(39_999) });
    expect((await post(stage, body)).body).toMatchObject({
      error: { details: { reason: 'monthly_budget_exceeded', cap: 0.039999, spent: 0 } },
    });
    expect(stage.orders).toHaveLength(1);
  });

  const record = { creationIds: [creationId] as const, requestHash: 'other', expiresAt: now };
  const failed = aCreation({ status: 'failed', failure: 'GenerationFailed' });
  const holding = (...read: ReturnType<typeof aCreation>[]): CreationStore =>
    stub<CreationStore>({ read: async () => Promise.resolve(read[0]) });

  it('The new charge replaces a failed creation that took the key meanwhile', async () => {
    const stage = accepting({
      outcome: [{ kind: 'idempotency_taken', record }, { kind: 'charged' }],
      services: { creations: holding(failed) },
    });
    expect((await post(stage, body, withKey)).status).toBe(202);
    expect(stage.orders.map(({ idempotency }) => idempotency?.replaces)).toEqual([undefined, creationId]);
    expect(stage.orders[1]?.idempotency).toMatchObject({ hash: keyHash });
  });

  it('The charge replaces a failed creation that had the key before', async () => {
    const stage = accepting({ state: { idempotency: record }, services: { creations: holding(failed) } });
    expect((await post(stage, body, withKey)).status).toBe(202);
    expect(stage.orders.map(({ idempotency }) => idempotency?.replaces)).toEqual([creationId]);
  });

  it('A key that names several creations is free again only when all of them have failed', async () => {
    const other = '019aa5a0-1000-7000-8000-00000000000b' as CreationId;
    const several = { ...record, creationIds: [creationId, other] as const };
    const withSecond = (second: CreationRecord): CreationStore =>
      stub<CreationStore>({ read: async (id) => Promise.resolve(id === other ? second : failed) });
    const free = accepting({
      state: { idempotency: several },
      services: { creations: withSecond({ ...failed, id: other }) },
    });
    expect((await post(free, body, withKey)).status).toBe(202);
    expect(free.orders.map(({ idempotency }) => idempotency?.replaces)).toEqual([creationId]);
    const taken = accepting({
      state: { idempotency: several },
      services: { creations: withSecond(aCreation({ id: other })) },
    });
    expect((await post(taken, body, withKey)).status).toBe(400);
    expect(taken.orders).toEqual([]);
  });

  it.each([[holding()], [holding(failed)]])(
    'The request is given up after three charges that each met a failed creation',
    async (creations) => {
      const stage = accepting({ outcome: { kind: 'idempotency_taken', record }, services: { creations } });
      expect((await post(stage, body, withKey)).status).toBe(503);
      expect(stage.orders).toHaveLength(3);
    },
  );

  it('The request is refused when another request took the key', async () => {
    const stage = accepting({
      outcome: { kind: 'idempotency_taken', record },
      services: { creations: holding(aCreation()) },
    });
    const answer = await post(stage, body, withKey);
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        error: {
          code: 'ERR_INVALID_REQUEST',
          message:
            'This Idempotency-Key was used for another request. Use a new key, or send the same request again.',
          details: {
            reason: 'idempotency_key_mismatch',
            errors: [{ field: 'Idempotency-Key', code: 'mismatch', message: 'was used for another request' }],
          },
        },
      },
    ]);
  });
});
