/**
 * The first vendor fails in each possible way. The second vendor then renders the image within the deadline,
 * and the client pays once.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHealthStore } from '../../adapters/dynamodb/health-store.ts';
import { windowMillis } from '../../core/route-health.ts';
import {
  fieldsOf,
  startFakeVendor,
  type FakeVendor,
  type Reply,
} from '../../tools/vendors/fakes/fake-vendor.ts';
import { fakes } from '../../tools/vendors/fakes/all-fakes.ts';
import { startTestService, type Client, type TestService } from '../fixtures/service.ts';
import { movementsOf, settled, submit } from '../workflow/creations.ts';
import { enableAll, environmentOf } from '../../tools/vendors/fleet.ts';

/** A phrase of the prompt tells the first vendor, Black Forest Labs, how to behave. */
const troubles: Readonly<Record<string, { readonly reply: Reply; readonly outcome: string }>> = {
  down: { reply: { status: 503, body: 'upstream' }, outcome: 'unavailable' },
  throttled: { reply: { status: 429, body: { detail: 'Rate limit exceeded' } }, outcome: 'unavailable' },
  'out of credit': {
    reply: { status: 402, body: { detail: 'Insufficient credits' } },
    outcome: 'credentials',
  },
  'refusing our key': {
    reply: { status: 403, body: { detail: 'Not authenticated' } },
    outcome: 'credentials',
  },
  'cutting the line': { reply: { status: 'break' }, outcome: 'unknown_outcome' },
  hanging: { reply: { status: 'hang' }, outcome: 'no_answer' },
  'at work for ever': {
    reply: { status: 200, body: { id: 'job', polling_url: '{origin}/v1/get_result?id=job' } },
    outcome: 'no_answer',
  },
};
/** A vendor that does not answer uses half of this time. The other half is left for the second vendor. */
const deadlineSeconds = 40;
const opening = 25_000_000;
const refusedStatus: unknown = expect.stringMatching(/^HTTP 40[23]/);

let first: FakeVendor;
let second: FakeVendor;
let service: TestService;
let client: Client;
beforeAll(async () => {
  first = await startFakeVendor(({ json, path }, origin) => {
    if (path.endsWith('=moderated'))
      return { status: 200, body: { id: 'moderated', status: 'Request Moderated', result: null } };
    if (path.startsWith('/v1/get_result'))
      return { status: 200, body: { id: 'job', status: 'Pending', result: null } };
    const prompt = String(fieldsOf(json)['prompt']);
    if (prompt.includes('refusing the prompt'))
      return { status: 200, body: { id: 'moderated', polling_url: `${origin}/v1/get_result?id=moderated` } };
    const { reply } = Object.entries(troubles).find(([word]) => prompt.includes(`first is ${word}`))?.[1] ?? {
      reply: { status: 500 },
    };
    return withOrigin(reply, origin);
  });
  second = await fakes.fal.start();
  service = await startTestService({
    environment: environmentOf([
      ['bfl', first],
      ['fal', second],
    ]),
  });
  await enableAll(service.operator);
  client = await service.client({ deadline: String(deadlineSeconds), maxConcurrent: '50' });
  await service.operator.accounts.change(client.account.id, { providers: ['bfl', 'fal'] });
  await praise('bfl', 'flux-2-pro');
});

/**
 * Notes so many images of a route, for these minutes and the next, that no failure here opens its circuit. The
 * service would learn otherwise that the first vendor fails, and ask the second one first.
 */
async function praise(provider: string, providerModel: string): Promise<void> {
  const health = createHealthStore(service.operator.table);
  const { signal } = new AbortController();
  const now = service.operator.clock.now();
  for (let window = 0; window < 48; window += 1) {
    const note = { sign: 'rendered', weight: 10_000, millis: 300_000 } as const;
    await health.note({ provider, providerModel }, note, now + window * windowMillis, signal);
  }
}
afterAll(async () => {
  await service.end();
  await Promise.all([first.stop(), second.stop()]);
});

function withOrigin(reply: Reply, origin: string): Reply {
  return {
    ...reply,
    ...(reply.body !== undefined && {
      body: fieldsOf(JSON.parse(JSON.stringify(reply.body).replaceAll('{origin}', origin))),
    }),
  };
}

describe.concurrent('the routes of a model with two vendors', () => {
  it.each(Object.entries(troubles))(
    'lead to the second vendor when the first is %s',
    async (word, { outcome }) => {
      const id = await submit(service, client.key, {
        model: 'flux-2-pro',
        prompt: `a harbour, the first is ${word}`,
      });
      const record = await settled(service, id);
      expect(record, JSON.stringify(record.attempts)).toMatchObject({
        status: 'completed',
        refundedMicros: 0,
      });
      expect(record.attempts.map((attempt) => [attempt.provider, attempt.outcome])).toEqual([
        ['bfl', outcome],
        ['fal', 'rendered'],
      ]);
      expect(await movementsOf(service, record)).toEqual(['charge']);
    },
  );

  it.each(['down', 'throttled', 'out of credit'])(
    'end with ServiceUnavailable and a full refund when the first vendor is %s and the second throttles',
    async (word) => {
      const id = await submit(service, client.key, {
        model: 'flux-2-pro',
        prompt: `a harbour, the first is ${word} [row:throttled]`,
      });
      const record = await settled(service, id);
      expect(record).toMatchObject({ status: 'failed', failure: 'ServiceUnavailable' });
      expect(record.refundedMicros).toBe(record.costMicros);
      expect(await movementsOf(service, record)).toEqual(['charge', 'refund']);
    },
  );

  it('end at the first vendor when that vendor refuses the prompt', async () => {
    const id = await submit(service, client.key, {
      model: 'flux-2-pro',
      prompt: 'a harbour, the first is refusing the prompt',
    });
    const record = await settled(service, id);
    expect(record).toMatchObject({ status: 'failed', failure: 'PromptRejected' });
    expect(record.attempts.map(({ provider }) => provider)).toEqual(['bfl']);
  });
});

describe('after all of these creations', () => {
  it('only the rendered images are charged, and the books balance', async () => {
    const rendered =
      (await service.operator.wallet.ledger(client.account.id)).filter(({ kind }) => kind === 'charge')
        .length - 4;
    expect(rendered).toBe(Object.keys(troubles).length);
    const { availableMicros, inFlight } = await service.account(client.account.id);
    expect(availableMicros).toBeLessThan(opening);
    expect(inFlight).toBe(0);
    expect(await service.audit()).toEqual([]);
  });

  it('the log has an alarm for each time that the vendor refused the credentials', () => {
    const alarms = service.log
      .filter((line) => line.includes('provider_refused_credentials'))
      .map((line) => fieldsOf(JSON.parse(line)));
    expect(alarms.length).toBe(3);
    for (const alarm of alarms)
      expect(alarm).toMatchObject({
        level: 'alarm',
        provider: 'bfl',
        detail: refusedStatus,
      });
  });
});
