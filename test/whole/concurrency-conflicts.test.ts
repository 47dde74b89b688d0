/** Limits are exact, also while every second transaction meets a conflict. */
import { afterAll } from 'vitest';
import { startTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { exactUnderConflicts } from './exact-limits.ts';
import { moneyLimits, roomLimits, topUpUrl } from './limit-rows.ts';

const service = await startTestService({ environment: { TOP_UP_URL: topUpUrl } });
afterAll(() => service.end());

exactUnderConflicts([...moneyLimits, ...roomLimits], () => service);

everyAnswer(() => service);
