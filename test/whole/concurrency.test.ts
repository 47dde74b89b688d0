/**
 * Limits are exact, however many requests come at once. For each limit, a burst of requests goes over sockets through
 * the whole service. A burst of two hundred charges goes to a table in memory (bursts.ts), because two hundred
 * requests over sockets take more than a second. concurrency-conflicts.test.ts adds conflicts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService } from '../fixtures/service.ts';
import { idOf } from '../fixtures/values.ts';
import { burstSize, openCounter, requestsAtOnce } from './bursts.ts';
import { everyAnswer } from './every-answer.ts';
import { charged, isAccepted, limits, roomForAll, startNothing, topUpUrl } from './exact-limits.ts';
import { refusalOf, withinOneMinute } from './refusal.ts';

const service = await startTestService({ environment: { TOP_UP_URL: topUpUrl } });
afterAll(() => service.end());
beforeAll(async () => {
  startNothing(service);
  // A function that is still loading its code while many requests wait would refuse them with 503.
  expect((await service.send('/images/generate', { body: {} })).status).toBe(400);
});

/** CROWD_ROUNDS=20 repeats each burst, with two hundred requests over sockets. */
const rounds = Number(process.env['CROWD_ROUNDS'] ?? 1);

describe.each(limits)('a burst against $name', ({ client: wanted, accepted, refusal, outcome }) => {
  it(
    `Over sockets, ${accepted} are accepted, and the others are answered ${refusal.status} with the right numbers`,
    async () => {
      for (let round = 0; round < rounds; round += 1) {
        withinOneMinute(service);
        const client = await service.client(wanted);
        const answers = await requestsAtOnce(service, client, rounds > 1 ? burstSize : accepted + 30);
        const refused = answers.filter((answer) => !isAccepted(answer));
        expect(new Set(answers.filter(isAccepted).map(idOf)).size).toBe(accepted);
        expect(refused).toHaveLength(answers.length - accepted);
        for (const answer of refused) expect(refusalOf(answer)).toEqual(refusal);
        expect(await charged(service, client)).toBe(accepted);
      }
    },
    120_000 * rounds,
  );

  it(`Of two hundred charges on the table, ${accepted} are charged, and the others get ${outcome.kind}`, async () => {
    const counter = openCounter(service);
    for (let round = 0; round < rounds; round += 1) {
      const client = await counter.client(wanted);
      const outcomes = await counter.chargeAtOnce(client);
      const refused = outcomes.filter(({ kind }) => kind !== 'charged');
      expect(refused).toEqual(Array.from({ length: burstSize - accepted }, () => outcome));
      const rows = await counter.ledger(client);
      expect(rows.filter(({ kind }) => kind === 'charge')).toHaveLength(accepted);
    }
  });
});

describe('two hundred requests at once with one Idempotency-Key', () => {
  it('The requests make one creation and one charge, and all are answered 202 with that creation', async () => {
    const client = await service.client(roomForAll);
    const answers = await requestsAtOnce(service, client, burstSize, { 'idempotency-key': 'one for all' });
    expect(new Set(answers.map((answer) => `${answer.status} ${idOf(answer)}`)).size).toBe(1);
    expect(answers.every(isAccepted)).toBe(true);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(
      burstSize - 1,
    );
    expect(await charged(service, client)).toBe(1);
  });
});

everyAnswer(() => service);
