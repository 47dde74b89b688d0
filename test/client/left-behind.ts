/** Prints what two calls of the client leave behind in their process: timers, and listeners of their signal. */
import { getEventListeners } from 'node:events';
import { Darkroom } from '../../client/src/index.ts';
import { json, testKey } from './stub.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** The first answer asks for a retry after so many seconds. */
async function callWithRetry(
  seconds: number,
  onRetry: (controller: AbortController) => void,
): Promise<object> {
  const controller = new AbortController();
  const answers = [json({}, 503, { 'retry-after': String(seconds) }), json({ available: 1 })];
  let timersDuringRequest = 0;
  const darkroom = new Darkroom({
    apiKey: testKey,
    baseUrl: 'https://darkroom.test',
    fetch: async () => {
      timersDuringRequest = timers();
      return Promise.resolve(answers.shift() ?? json({}));
    },
    onRetry: () => onRetry(controller),
  });
  const outcome: unknown = await darkroom.balance
    .get({ signal: controller.signal })
    .catch((error: unknown) => error);
  const listeners = getEventListeners(controller.signal, 'abort').length;
  return { outcome, timersDuringRequest, timers: timers(), listeners };
}

const succeeded = await callWithRetry(0, () => undefined);
const aborted = await callWithRetry(50, (controller) =>
  queueMicrotask(() => controller.abort('the caller’s own reason')),
);
process.stdout.write(JSON.stringify({ succeeded, aborted }));
