/** Limits are exact, also while every second transaction meets a conflict. */
import { afterAll, beforeAll } from 'vitest';
import { startTestService, type TestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { exactUnderConflicts } from './exact-limits.ts';
import { moneyLimits, roomLimits, topUpUrl } from './limit-rows.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ environment: { TOP_UP_URL: topUpUrl } });
});
afterAll(() => service.end());

exactUnderConflicts([...moneyLimits, ...roomLimits], () => service);

everyAnswer(() => service);
