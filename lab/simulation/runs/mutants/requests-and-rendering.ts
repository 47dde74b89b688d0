/** The planted bugs of requests, of the rendering of an image (routes, attempts, callbacks), and of the reconciler. */
import type { Bugs } from './plant.ts';

export const requestsAndRendering: Bugs = {
  'lab/simulation/aws/deployed-service.ts': {
    'task-of-today': ['releases.begin(release)', 'releases.begin(releases.current())'],
  },
  'lib/machine-definitions.ts': {
    'throttled-rendering-is-refunded': [
      '    Retry: [',
      "    Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.failure', Next: 'RefundCharge' }],\n    Retry: [{ ErrorEquals: ['Lambda.TooManyRequestsException'], MaxAttempts: 0 },",
    ],
  },
  'service/aws/dynamodb/table.ts': {
    'upload-without-owner': [
      'pk: `ACCOUNT#${account}`, sk: `UPLOAD#${id}`',
      'pk: `ACCOUNT#${account.slice(0, 0)}`, sk: `UPLOAD#${id}`',
    ],
  },
  'service/contract/limits.ts': {
    'entries-live-for-seconds': ['afterTry: 15 * 60_000', 'afterTry: 2_000'],
    'key-expires-early': ['idempotencySeconds = 24 * 60 * 60', 'idempotencySeconds = 2'],
  },
  'service/generate/await-outcome.ts': {
    'throttled-look-behind-the-charge': [
      "log.info('wait_broken_off', {",
      "if (last.id) throw new Error('wait_broken_off');\n    log.info('wait_broken_off', {",
    ],
  },
  'service/generate/charge.ts': {
    'used-upload-keeps-its-place': ['uploads.length > 0 && { uploads }', 'uploads.length < 0 && { uploads }'],
    'switch-is-not-read': [
      'if (caller.state.closed) throw',
      'if (caller.state.closed && caller.state.openCreations < 0) throw',
    ],
  },
  'service/generate/earlier-request.ts': {
    'completed-frees-the-key': [
      "some(({ status }) => status !== 'failed')",
      "some(({ status }) => status !== 'failed' && status !== 'completed')",
    ],
    'replay-tells-the-first-creation-alone': ['? [first, ...others]', '? [first]'],
    'retry-of-a-failure-makes-an-entry': [
      'retry: chargeInPlace(request, entry)',
      "retry: { kind: 'new_entry', place: request.place, attempt: request.attempt, head: known }",
    ],
  },
  'service/generate/generate-image.ts': {
    'start-refused-unrefunded': [
      'if (!(await isGivenBack(creation, services))) return',
      "if (creation.id === '') return",
    ],
    'rate-behind-the-wait': ['await caller.rateSlot.take();\n  return awaitOutcome', 'return awaitOutcome'],
  },
  'service/generate/open.ts': {
    'opener-without-the-held-limit': [
      'createHeldSlots(store, door, heldLimit)',
      'createHeldSlots(store, door, 1_000)',
    ],
  },
  'service/generate/sources.ts': {
    'rate-behind-the-downloads': [
      'await caller.rateSlot.take();',
      'if (request.imageUrls.length > 99) await caller.rateSlot.take();',
    ],
    'upload-unfilled': [
      'if (!bytes) throw uploadNotUsable(place);\n  return bytes;',
      "return bytes ?? Buffer.from('ffd8ffc0000b080040004001011100ffd9', 'hex');",
    ],
  },
  'service/reconcile/open.ts': {
    'opener-with-another-machine': [
      "on.environment('NOTICE_MACHINE_ARN')",
      "on.environment('STATE_MACHINE_ARN')",
    ],
  },
  'service/reconcile/reconcile.ts': {
    'death-waits-for-the-lease': ['(isOver ? stepAfterEnd : nextStep)(', 'nextStep('],
  },
  'service/reconcile/recover.ts': {
    'late-is-left-alone': ['if (now >= giveUpAt) return', 'if (now >= giveUpAt + 3_600_000) return'],
    'open-work-forgotten': [
      'await services.openWork.postpone(creation, dueAt);',
      'await services.openWork.postpone(creation, undefined);',
    ],
    'newer-record-is-recovered': ['requireKnownRelease(creation, services);', ''],
    'start-with-the-version-of-today': [
      'executions.start(creation, number)',
      'executions.start({ ...creation, v: services.schema.written }, number)',
    ],
  },
  'service/render/ask-provider.ts': {
    'retry-submits-again': [
      'jobId === undefined\n        ? await provider.submit(',
      "jobId !== ''\n        ? await provider.submit(",
    ],
  },
  'service/render/finish-job.ts': {
    'prompt-in-the-log': [
      "log.info('creation_completed', {",
      "log.info('creation_completed', { prompt: creation.prompt,",
    ],
    'image-not-stored': [
      'await images.put(image, bytes, clock.now() + resultDays * dayMillis);',
      'await Promise.resolve(images);',
    ],
    'task-ends-before-the-commit': [
      'const stored = await completeCreation(',
      "await services.tasks.succeed((await services.creations.taskToken(creation.id)) ?? '', creation.id);\n    const stored = await completeCreation(",
    ],
  },
  'service/render/health-store.ts': {
    'probe-for-everybody': [
      "':next': nextProbe(health, nowMillis)",
      "':next': Math.min(nowMillis, nextProbe(health, nowMillis))",
      'flapping',
    ],
    'probe-without-its-condition': [
      "`${isAsRead('openedAt', openedAt)} AND ${isAsRead('probeAt', probeAt)}`",
      "`${isAsRead('openedAt', openedAt)} AND ${probeAt === 0 ? isAsRead('probeAt', probeAt) : 'attribute_exists(pk)'}`",
      'flapping',
    ],
  },
  'service/render/held-lease.ts': {
    'heartbeat-never-sent': ['beating = beat();', ''],
  },
  'service/render/parking.ts': {
    'any-capability-opens': ['form.test(presented) && sameHash(', 'form.test(presented) || sameHash('],
  },
  'service/render/render-image.ts': {
    'first-attempt-left-to-the-reconciler': [
      'const isDelivered = await deliverFirst(id, known, services);',
      'const isDelivered = known !== undefined || (await deliverFirst(id, known, services));',
    ],
    'newer-payload-is-rendered': ['requireKnownRelease(payload.input ?? payload, services);', ''],
  },
  'service/render/honoured.ts': {
    'a-change-under-the-mask-is-delivered': ['if (change <= mostChange) return', 'if (change >= 0) return'],
    'another-background-is-delivered': [
      'if (found === background) return undefined;',
      'if (found) return undefined;',
    ],
  },
  'service/render/route-order.ts': {
    'open-circuit-removes-its-route': [
      'const routes = standings.flatMap(',
      "const routes = standings.filter((standing) => standing !== 'open').flatMap(",
      'flapping',
    ],
  },
  'service/render/walk-routes.ts': {
    'begun-attempt-is-asked-again': [
      "attempts.set({ ...begun, outcome: 'unknown_outcome' });",
      "attempts.set({ ...begun, outcome: 'unavailable', againAt: walk.services.clock.now() });",
      'flapping',
    ],
    'second-model-in-the-dark': [
      "provider === asked && outcome === 'unknown_outcome'",
      'provider === asked && outcome === undefined',
      'flapping',
    ],
    'named-moment-is-not-awaited': [
      'asksOf(route, attempts) < mostAsks',
      'asksOf(route, attempts) < Math.min(1, mostAsks)',
      'flapping',
    ],
    'asked-before-the-named-moment': [
      'await services.clock.sleep(waitMillis);',
      'await services.clock.sleep(Math.min(100, waitMillis));',
      'flapping',
    ],
  },
  'service/uploads/upload-store.ts': {
    'uploads-without-quota': ['size(unused) < :limit', 'size(unused) < :limit OR attribute_exists(pk)'],
  },
  'service/uploads/upload.ts': {
    'upload-never-expires': [
      'return nowMillis < upload.expiresAt;',
      'return nowMillis < upload.expiresAt + 86_400_000;',
    ],
  },
  'service/values/time.ts': {
    'charge-behind-the-answer': [
      'signal: ended.signal,\n    elapsed,\n    /** Milliseconds until the time is used up. 0 after the end. */\n    left: (): number => (ended.signal.aborted ? 0 : Math.max(0, millis - elapsed())),',
      'signal: new AbortController().signal,\n    elapsed,\n    /** Milliseconds until the time is used up. 0 after the end. */\n    left: () => millis,',
    ],
  },
};
