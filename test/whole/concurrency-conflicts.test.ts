/** Limits are exact, also while every second transaction meets a conflict. */
import { afterAll, expect, it } from 'vitest';
import { type Answer, startTestService } from '../fixtures/service.ts';
import { burstSize, requestsAtOnce } from './bursts.ts';
import { everyAnswer } from './every-answer.ts';
import { charged, isAccepted, limits, startNothing, topUpUrl } from './exact-limits.ts';
import { refusalOf, withinOneMinute } from './refusal.ts';

const service = await startTestService({ environment: { TOP_UP_URL: topUpUrl } });
afterAll(() => service.end());

const isOverloaded = ({ status, text }: Answer): boolean =>
  status === 503 && text.includes('"reason":"overloaded"');

it.each(limits)(
  'With conflicts in half of the transactions against $name, some may get 503 overloaded, but the count is never wrong',
  async ({ client: wanted, accepted, refusal }) => {
    withinOneMinute(service);
    const client = await service.client(wanted);
    const { faults } = service.machine;
    startNothing(service);
    faults.set({ call: 'dynamodb:TransactWriteItems', error: 'TransactionConflict', every: 2 });
    const answers = await requestsAtOnce(service, client, burstSize);
    const struck = faults.list().find(({ error }) => error === 'TransactionConflict')?.struck ?? 0;
    faults.clear();
    expect(struck).toBeGreaterThan(accepted);
    const refused = answers.filter((answer) => !isAccepted(answer) && !isOverloaded(answer));
    for (const answer of refused) expect(refusalOf(answer)).toEqual(refusal);
    // A refusal says that the limit is used up, so exactly that many requests must have been accepted.
    const count = answers.filter(isAccepted).length;
    expect(count).toBeLessThanOrEqual(accepted);
    if (refused.length > 0) expect(count).toBe(accepted);
    expect(await charged(service, client)).toBe(count);
  },
);

everyAnswer(() => service);
