/** A first vendor that is out in every way there is: the second one renders, inside the deadline, for one charge. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeVendor, type FakeVendor, type Reply } from '../../tools/vendors/fakes/fake-vendor.ts';
import { fakes } from '../../tools/vendors/fakes/all-fakes.ts';
import { startTestService, type Client, type TestService } from '../fixtures/service.ts';
import { movementsOf, settled, submit } from '../workflow/creations.ts';
import { enableAll, environmentOf } from './fleet.ts';

/** How the first vendor, Black Forest Labs, behaves, by a word of the prompt. */
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
/** A vendor that hangs has half of this time; the second vendor has the other half. */
const deadlineSeconds = 40;
const opening = 25_000_000;

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
    const { prompt } = json as { prompt: string };
    if (prompt.includes('refusing the prompt'))
      return { status: 200, body: { id: 'moderated', polling_url: `${origin}/v1/get_result?id=moderated` } };
    const { reply } = Object.entries(troubles).find(([word]) => prompt.includes(`first is ${word}`))?.[1] ?? {
      reply: { status: 500 },
    };
    return withOrigin(reply, origin);
  });
  second = await fakes.fal.start();
  service = await startTestService({ environment: environmentOf({ bfl: first, fal: second }) });
  await enableAll(service.operator);
  client = await service.client({ deadline: String(deadlineSeconds), maxConcurrent: '50' });
  await service.operator.accounts.change(client.account.id, { providers: ['bfl', 'fal'] });
});
afterAll(async () => {
  await service.end();
  await Promise.all([first.stop(), second.stop()]);
});

function withOrigin(reply: Reply, origin: string): Reply {
  return {
    ...reply,
    ...(reply.body !== undefined && {
      body: JSON.parse(JSON.stringify(reply.body).replaceAll('{origin}', origin)) as object,
    }),
  };
}

describe.concurrent('the first vendor', () => {
  it.each(Object.entries(troubles))('%s leaves the image to the second', async (word, { outcome }) => {
    const id = await submit(service, client.key, {
      model: 'flux-2-pro',
      prompt: `a harbour, the first is ${word}`,
    });
    const record = await settled(service, id);
    expect(record, JSON.stringify(record.attempts)).toMatchObject({ status: 'completed', refundedMicros: 0 });
    expect(record.attempts.map((attempt) => [attempt.provider, attempt.outcome])).toEqual([
      ['bfl', outcome],
      ['fal', 'rendered'],
    ]);
    expect(await movementsOf(service, record)).toEqual(['charge']);
  });

  it.each(['down', 'throttled', 'out of credit'])(
    '%s and the second throttled: "temporarily unavailable", and everything given back',
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

  it('that refuses the prompt ends the matter: the second is not asked', async () => {
    const id = await submit(service, client.key, {
      model: 'flux-2-pro',
      prompt: 'a harbour, the first is refusing the prompt',
    });
    const record = await settled(service, id);
    expect(record).toMatchObject({ status: 'failed', failure: 'PromptRejected' });
    expect(record.attempts.map(({ provider }) => provider)).toEqual(['bfl']);
  });
});

describe('after all of it', () => {
  it('only what was rendered is charged, and the books balance', async () => {
    const rendered =
      (await service.operator.wallet.ledger(client.account.id)).filter(({ kind }) => kind === 'charge')
        .length - 4;
    expect(rendered).toBe(Object.keys(troubles).length);
    const { availableMicros, inFlight } = await service.account(client.account.id);
    expect(availableMicros).toBeLessThan(opening);
    expect(inFlight).toBe(0);
    expect(await service.audit()).toEqual([]);
  });

  it('an operator was told of the credentials that the vendor refused', () => {
    const alarms = service.log
      .filter((line) => line.includes('provider_refused_credentials'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(alarms.length).toBe(3);
    for (const alarm of alarms)
      expect(alarm).toMatchObject({
        level: 'alarm',
        provider: 'bfl',
        detail: expect.stringMatching(/^HTTP 40[23]/) as string,
      });
  });
});
