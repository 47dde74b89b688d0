/**
 * Wallet and budget are exact, however many requests come at once. exact-limits.ts says how this is tested.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { startTestService } from '../fixtures/service.ts';
import { crowdSize, requestsAtOnce } from './crowd.ts';
import { everyAnswer } from './every-answer.ts';
import { charged, exactLimits, isAccepted, roomForAll } from './exact-limits.ts';
import { moneyLimits, topUpUrl } from './limit-rows.ts';

const service = await startTestService({ environment: { TOP_UP_URL: topUpUrl } });
afterAll(() => service.end());

exactLimits(moneyLimits, () => service);

describe('two hundred requests at once with one Idempotency-Key', () => {
  it('The requests make one creation and one charge, and all are answered 202 with that creation', async () => {
    const client = await service.client(roomForAll);
    const answers = await requestsAtOnce(service, client, { 'idempotency-key': 'one for all' });
    expect(
      new Set(answers.map(({ status, body }) => `${status} ${(body as { id?: string }).id ?? ''}`)).size,
    ).toBe(1);
    expect(answers.every(isAccepted)).toBe(true);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(
      crowdSize - 1,
    );
    expect(await charged(service, client)).toBe(1);
  });
});

everyAnswer(() => service);
