/** Quota and rate are exact, however many requests come at once. exact-limits.ts says how this is tested. */
import { afterAll, beforeAll } from 'vitest';
import { startTestService, type TestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { exactLimits, roomForAll } from './exact-limits.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ environment: { TOP_UP_URL: 'https://portal.test/wallet' } });
});
afterAll(() => service.end());

exactLimits(
  [
    {
      name: 'a limit of five concurrent creations',
      client: { ...roomForAll, maxConcurrent: '5' },
      accepted: 5,
      refusal: {
        status: 429,
        code: 'ERR_QUOTA_EXCEEDED',
        details: { scope: 'account', reason: 'concurrent_creations', limit: 5, current: 5 },
      },
      outcome: { kind: 'too_many_open', limit: 5, current: 5 },
    },
    {
      name: 'a rate of sixty a minute',
      client: { ...roomForAll, postRate: '60' },
      accepted: 60,
      refusal: {
        status: 429,
        code: 'ERR_RATE_LIMIT',
        details: { reason: 'account_rate', limit: 60, window_seconds: 60 },
      },
      outcome: { kind: 'rate_used_up' },
    },
  ],
  () => service,
);

everyAnswer(() => service);
