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

/** The planted bugs of POST /images/generate: retries, uploads, rates and the start. */
export const generate: readonly Mutant[] = [
  {
    name: 'completed-frees-the-key',
    file: 'service/generate/earlier-request.ts',
    find: "some(({ status }) => status !== 'failed')",
    replace: "some(({ status }) => status !== 'failed' && status !== 'completed')",
  },
  {
    name: 'retry-of-a-failure-makes-an-entry',
    file: 'service/generate/earlier-request.ts',
    find: 'retry: chargeInPlace(request, entry)',
    replace: "retry: { kind: 'new_entry', place: request.place, attempt: request.attempt, head: known }",
  },
  {
    name: 'entries-live-for-seconds',
    file: 'service/contract/limits.ts',
    find: 'afterTry: 15 * 60_000',
    replace: 'afterTry: 2_000',
  },
  {
    name: 'start-refused-unrefunded',
    file: 'service/generate/generate-image.ts',
    find: 'if (!(await isGivenBack(creation, services))) return',
    replace: "if (creation.id === '') return",
  },
  {
    name: 'key-expires-early',
    file: 'service/contract/limits.ts',
    find: 'idempotencySeconds = 24 * 60 * 60',
    replace: 'idempotencySeconds = 2',
  },
  {
    name: 'charge-behind-the-answer',
    file: 'service/values/time.ts',
    find: 'signal: ended.signal,\n    elapsed,\n    left: () => (ended.signal.aborted ? 0 : Math.max(0, millis - elapsed())),',
    replace: 'signal: new AbortController().signal,\n    elapsed,\n    left: () => millis,',
  },
  {
    name: 'rate-behind-the-downloads',
    file: 'service/generate/sources.ts',
    find: 'await caller.place.take();',
    replace: 'if (imageUrls.length > 99) await caller.place.take();',
  },
  {
    name: 'rate-behind-the-wait',
    file: 'service/generate/generate-image.ts',
    find: 'await caller.place.take();\n  return awaitOutcome',
    replace: 'return awaitOutcome',
  },
  {
    name: 'upload-without-owner',
    file: 'service/aws/dynamodb/table.ts',
    find: 'pk: `ACCOUNT#${account}`, sk: `UPLOAD#${id}`',
    replace: 'pk: `ACCOUNT#${account.slice(0, 0)}`, sk: `UPLOAD#${id}`',
  },
  {
    name: 'upload-never-expires',
    file: 'service/uploads/upload.ts',
    find: 'return nowMillis < upload.expiresAt;',
    replace: 'return nowMillis < upload.expiresAt + 86_400_000;',
  },
  {
    name: 'upload-unfilled',
    file: 'service/generate/sources.ts',
    find: 'if (!bytes) throw uploadNotUsable(index);\n  return bytes;',
    replace: "return bytes ?? Buffer.from('ffd8ffc0000b080040004001011100ffd9', 'hex');",
  },
  {
    name: 'uploads-without-quota',
    file: 'service/uploads/upload-store.ts',
    find: 'size(unused) < :limit',
    replace: 'size(unused) < :limit OR attribute_exists(pk)',
  },
  {
    name: 'used-upload-keeps-its-place',
    file: 'service/generate/charge.ts',
    find: 'uploads.length > 0 && { uploads }',
    replace: 'uploads.length < 0 && { uploads }',
  },
  {
    name: 'throttled-look-behind-the-charge',
    file: 'service/generate/await-outcome.ts',
    find: "log.info('wait_broken_off', {",
    replace: "if (last.id) throw new Error('wait_broken_off');\n    log.info('wait_broken_off', {",
  },
  {
    name: 'switch-is-not-read',
    file: 'service/generate/charge.ts',
    find: 'if (caller.state.closed) throw',
    replace: 'if (caller.state.closed && caller.state.openCreations < 0) throw',
  },
  {
    name: 'opener-without-the-held-limit',
    file: 'service/generate/open.ts',
    find: 'createHeldPlaces(store, door, heldLimit)',
    replace: 'createHeldPlaces(store, door, 1_000)',
  },
];

/** The planted bugs of the reconciler, and of a rollback. */
export const reconcile: readonly Mutant[] = [
  {
    name: 'late-is-left-alone',
    file: 'service/reconcile/recover.ts',
    find: 'if (now >= giveUpAt) return',
    replace: 'if (now >= giveUpAt + 3_600_000) return',
  },
  {
    name: 'death-waits-for-the-lease',
    file: 'service/reconcile/reconcile.ts',
    find: '(isOver ? stepAfterEnd : nextStep)(',
    replace: 'nextStep(',
  },
  {
    name: 'open-work-forgotten',
    file: 'service/reconcile/recover.ts',
    find: 'await services.openWork.postpone(creation, dueAt);',
    replace: 'await services.openWork.postpone(creation, undefined);',
  },
  {
    name: 'newer-record-is-recovered',
    file: 'service/reconcile/recover.ts',
    find: 'requireKnownRelease(creation, services);',
    replace: '',
  },
  {
    name: 'start-with-the-version-of-today',
    file: 'service/reconcile/recover.ts',
    find: 'executions.start(creation, number)',
    replace: 'executions.start({ ...creation, v: services.schema.written }, number)',
  },
  {
    name: 'task-of-today',
    file: 'lab/simulation/aws/deployed-service.ts',
    find: 'releases.begin(release)',
    replace: 'releases.begin(releases.current())',
  },
  {
    name: 'opener-with-another-machine',
    file: 'service/reconcile/open.ts',
    find: "on.environment('NOTICE_MACHINE_ARN')",
    replace: "on.environment('STATE_MACHINE_ARN')",
  },
];
