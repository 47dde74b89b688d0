/** The planted bugs of the rendering of an image: routes, attempts, callbacks. */
import type { Mutant } from './plant.ts';

export const render: readonly Mutant[] = [
  {
    name: 'heartbeat-never-sent',
    file: 'service/render/held-lease.ts',
    find: 'beating = beat();',
    replace: '',
  },
  {
    name: 'prompt-in-the-log',
    file: 'service/render/finish-job.ts',
    find: "log.info('creation_completed', {",
    replace: "log.info('creation_completed', { prompt: creation.prompt,",
  },
  {
    name: 'image-not-stored',
    file: 'service/render/finish-job.ts',
    find: 'await images.put(image, bytes, clock.now() + resultDays * dayMillis);',
    replace: 'await Promise.resolve(images);',
  },
  {
    name: 'task-ends-before-the-commit',
    file: 'service/render/finish-job.ts',
    find: 'const committed = await completeCreation(',
    replace: 'await endWaitingTask(creation.id, services);\n    const committed = await completeCreation(',
  },
  {
    name: 'any-capability-opens',
    file: 'service/render/parking.ts',
    find: 'form.test(presented) && sameHash(',
    replace: 'form.test(presented) || sameHash(',
  },
  {
    name: 'retry-submits-again',
    file: 'service/render/ask-provider.ts',
    find: 'jobId === undefined\n        ? await provider.submit(',
    replace: "jobId !== ''\n        ? await provider.submit(",
  },
  {
    name: 'newer-payload-is-rendered',
    file: 'service/render/render-image.ts',
    find: 'requireKnownRelease(payload.input ?? payload, services);',
    replace: '',
  },
  {
    name: 'open-circuit-removes-its-route',
    file: 'service/render/route-order.ts',
    find: 'const routes = standings.flatMap(',
    replace: "const routes = standings.filter((standing) => standing !== 'open').flatMap(",
    flapping: true,
  },
  {
    name: 'probe-for-everybody',
    file: 'service/render/health-store.ts',
    find: "':next': nextProbe(health, nowMillis)",
    replace: "':next': Math.min(nowMillis, nextProbe(health, nowMillis))",
    flapping: true,
  },
  {
    name: 'probe-without-its-condition',
    file: 'service/render/health-store.ts',
    find: "`${isAsRead('openedAt', openedAt)} AND ${isAsRead('probeAt', probeAt)}`",
    replace:
      "`${isAsRead('openedAt', openedAt)} AND ${probeAt === 0 ? isAsRead('probeAt', probeAt) : 'attribute_exists(pk)'}`",
    flapping: true,
  },
  {
    name: 'begun-attempt-is-asked-again',
    file: 'service/render/walk-routes.ts',
    find: "attempts.set({ ...begun, outcome: 'unknown_outcome' });",
    replace: "attempts.set({ ...begun, outcome: 'unavailable', againAt: walk.services.clock.now() });",
    flapping: true,
  },
  {
    name: 'second-model-in-the-dark',
    file: 'service/render/walk-routes.ts',
    find: "provider === asked && outcome === 'unknown_outcome'",
    replace: 'provider === asked && outcome === undefined',
    flapping: true,
  },
  {
    name: 'named-moment-is-not-awaited',
    file: 'service/render/walk-routes.ts',
    find: 'asksOf(route, attempts) < mostAsks',
    replace: 'asksOf(route, attempts) < Math.min(1, mostAsks)',
    flapping: true,
  },
  {
    name: 'asked-before-the-named-moment',
    file: 'service/render/walk-routes.ts',
    find: 'await services.clock.sleep(waitMillis);',
    replace: 'await services.clock.sleep(Math.min(100, waitMillis));',
    flapping: true,
  },
  {
    name: 'throttled-rendering-is-refunded',
    file: 'lib/machine-definitions.ts',
    find: '    Retry: [',
    replace:
      "    Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.failure', Next: 'RefundCharge' }],\n" +
      "    Retry: [{ ErrorEquals: ['Lambda.TooManyRequestsException'], MaxAttempts: 0 },",
  },
];
