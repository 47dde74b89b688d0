/** Quota and rate are exact, however many requests come at once. exact-limits.ts says how this is tested. */
import { afterAll } from 'vitest';
import { startTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { exactLimits } from './exact-limits.ts';
import { roomLimits, topUpUrl } from './limit-rows.ts';

const service = await startTestService({ environment: { TOP_UP_URL: topUpUrl } });
afterAll(() => service.end());

exactLimits(roomLimits, () => service);

everyAnswer(() => service);
