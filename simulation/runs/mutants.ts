/**
 * The planted bugs. Each one changes a few words in one file of the product while Node loads that file. The
 * simulation has to catch every one of them. This file is a table, so it may be longer than 300 lines.
 *
 * `find` must occur exactly once in the file; test/simulation/mutants.test.ts checks that. Whoever changes a
 * line that a mutant cites must adapt the mutant, so that it plants the same bug.
 */
import { registerHooks } from 'node:module';

export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** The scenarios with flapping providers alone catch it. */
  readonly flapping?: true;
}

const charge = 'adapters/dynamodb/charge.ts';
const chargeKey = 'adapters/dynamodb/charge-key.ts';
const keyStore = 'adapters/dynamodb/key-store.ts';
const eventLog = 'adapters/dynamodb/event-log.ts';

export const mutants: readonly Mutant[] = [
  {
    name: 'audit-resumes-past-an-account',
    file: 'core/audit/audit-accounts.ts',
    find: 'after: first.place',
    replace: 'after: begun.at(-1)?.place ?? first.place',
  },
  {
    name: 'charge-ignores-the-balance',
    file: charge,
    find: "'availableMicros >= :cost'",
    replace: "'(attribute_exists(pk) OR availableMicros >= :cost)'",
  },
  {
    name: 'charge-ignores-the-room',
    file: charge,
    find: "'inFlight < maxConcurrent'",
    replace: "'(inFlight < maxConcurrent OR attribute_exists(pk))'",
  },
  {
    name: 'charge-ignores-the-month',
    file: chargeKey,
    find: '#spent <= :monthRoom)',
    replace: '#spent <= :monthRoom OR attribute_exists(pk))',
  },
  {
    name: 'daily-cap-without-the-cost',
    file: chargeKey,
    find: 'daily - cost',
    replace: 'daily',
  },
  {
    name: 'total-without-the-other-months',
    file: chargeKey,
    find: 'apiKey.totalCapMicros - costOf(order) - spentInOthers(apiKey, month)',
    replace: 'apiKey.totalCapMicros - costOf(order)',
  },
  {
    name: 'user-cap-without-the-cost',
    file: chargeKey,
    find: "':room': cap - cost",
    replace: "':room': cap",
  },
  {
    name: 'refund-on-this-day',
    file: 'adapters/dynamodb/refund.ts',
    find: 'isDayGivenBack(chargedDay, nowMillis) ? chargedDay : undefined',
    replace:
      "isDayGivenBack(chargedDay, nowMillis) ? new Date(nowMillis).toISOString().slice(0, 10).replaceAll('-', '_') : undefined",
  },
  {
    name: 'refund-forgets-the-user',
    file: 'adapters/dynamodb/refund.ts',
    find: "':userBack': 0 - creation.costMicros",
    replace: "':userBack': 0",
  },
  {
    name: 'charge-ignores-revocation',
    file: chargeKey,
    find: 'attribute_exists(pk) AND attribute_not_exists(revokedAt)',
    replace: 'attribute_exists(pk)',
  },
  {
    name: 'charge-ignores-suspension',
    file: charge,
    find: "'#condition = :active'",
    replace: "'(#condition = :active OR attribute_exists(pk))'",
  },
  {
    name: 'key-names-two-charges',
    file: charge,
    find: "'attribute_not_exists(pk) OR expiresAt <= :now'",
    replace: "'attribute_not_exists(pk) OR attribute_exists(pk) OR expiresAt <= :now'",
  },
  {
    name: 'charge-without-its-row',
    file: charge,
    find: 'amountMicros: 0 - creation.costMicros',
    replace: 'amountMicros: 0',
  },
  {
    name: 'completed-frees-the-key',
    file: 'functions/operations/generate/replay.ts',
    find: "some(({ status }) => status !== 'failed')",
    replace: "some(({ status }) => status !== 'failed' && status !== 'completed')",
  },
  {
    name: 'lost-answer-is-no-charge',
    file: 'adapters/dynamodb/charge-store.ts',
    find: 'if (outcome.unclear)',
    replace: 'if (outcome.unclear && order.nowMillis === 0)',
  },
  {
    name: 'several-charged-one-by-one',
    file: 'adapters/dynamodb/charge-store.ts',
    find: 'const outcome = await transact(table, [...items.values()], order.creations[0].id);',
    replace:
      'for (const creation of order.creations.slice(1)) await transact(table, [...chargeItems(table, { creations: [creation], apiKey: order.apiKey, maxConcurrent: order.maxConcurrent, nowMillis: order.nowMillis }).values()], creation.id);\n' +
      'const outcome = await transact(table, [...chargeItems(table, { ...order, creations: [order.creations[0]] }).values()], order.creations[0].id);',
  },
  {
    name: 'retry-without-record',
    file: charge,
    find: 'order.retry ? retryItems(table, order.retry, idsOf(order), order.nowMillis) : []',
    replace: '[]',
  },
  {
    name: 'retry-by-the-highest-number',
    file: 'core/retries.ts',
    find: 'if (seen.includes(attempt)) return false;',
    replace: 'if (seen.some((number) => number >= attempt)) return false;',
  },
  {
    name: 'late-first-try-is-a-new-call',
    file: 'core/retries.ts',
    find: 'attempt === 0 ? head.madeByRetry > 0 : true',
    replace: 'attempt !== 0',
  },
  {
    name: 'retry-head-without-condition',
    file: 'adapters/dynamodb/retry-items.ts',
    find: 'if (attempt === undefined) return {};',
    replace: 'return {};',
  },
  {
    name: 'retry-of-a-failure-makes-an-entry',
    file: 'functions/operations/generate/earlier-try.ts',
    find: 'retry: chargeInPlace(request, entry)',
    replace: "retry: { kind: 'new_entry', place: request.place, attempt: request.attempt, head: known }",
  },
  {
    name: 'entries-live-for-seconds',
    file: 'core/limits.ts',
    find: 'afterTry: 15 * 60_000',
    replace: 'afterTry: 2_000',
  },
  {
    name: 'refund-twice',
    file: 'adapters/dynamodb/terminal.ts',
    find: "'#status IN (:queued, :processing)'",
    replace: "'(#status IN (:queued, :processing) OR attribute_exists(pk))'",
  },
  {
    name: 'refund-forgets-the-room',
    file: 'adapters/dynamodb/refund.ts',
    find: ', inFlight = inFlight - :one',
    replace: ', refunds = :one',
  },
  {
    name: 'refund-of-half',
    file: 'adapters/dynamodb/refund.ts',
    find: "':cost': creation.costMicros",
    replace: "':cost': creation.costMicros / 2",
  },
  {
    name: 'refund-in-this-month',
    file: 'adapters/dynamodb/refund.ts',
    find: 'spentAttribute(creation.chargedMonth)',
    replace: "spentAttribute(at.slice(0, 7).replace('-', '_'))",
  },
  {
    name: 'completion-keeps-the-room',
    file: 'adapters/dynamodb/creation-store.ts',
    find: "'SET inFlight = inFlight - :one'",
    replace: "'SET completions = :one'",
  },
  {
    name: 'lost-lease-still-writes',
    file: 'adapters/dynamodb/creation-store.ts',
    find: "'fence = :turn'",
    replace: "'(fence = :turn OR attribute_exists(pk))'",
  },
  {
    name: 'late-is-left-alone',
    file: 'functions/schedule/next-step.ts',
    find: 'if (now >= giveUpAt) return',
    replace: 'if (now >= giveUpAt + 3_600_000) return',
  },
  {
    name: 'start-refused-unrefunded',
    file: 'functions/operations/generate/start.ts',
    find: 'if (!(await isGivenBack(creation, services))) return',
    replace: "if (creation.id === '') return",
  },
  {
    name: 'heartbeat-never-sent',
    file: 'functions/workflow/held-lease.ts',
    find: 'beating = beat();',
    replace: '',
  },
  {
    name: 'death-waits-for-the-lease',
    file: 'functions/schedule/reconcile.ts',
    find: '(isOver ? stepAfterEnd : nextStep)(',
    replace: 'nextStep(',
  },
  {
    name: 'open-work-forgotten',
    file: 'functions/schedule/recover.ts',
    find: 'await services.openWork.postpone(creation, dueAt);',
    replace: 'await services.openWork.postpone(creation, undefined);',
  },
  {
    name: 'webhook-early',
    file: 'functions/workflow/deliver-attempt.ts',
    find: '{ at: clock.now() + waitAfter(number) }',
    replace: '{ at: clock.now() + 30_000 }',
  },
  {
    name: 'webhook-unclaimed',
    file: 'functions/workflow/deliver-attempt.ts',
    find: 'nowMillis: now }))) throw notDelivered();',
    replace: 'nowMillis: now })) && now === 0) throw notDelivered();',
  },
  {
    name: 'webhook-after-success',
    file: 'functions/workflow/deliver-attempt.ts',
    find: 'const isLast = isDelivered || ',
    replace: 'const isLast = ',
  },
  {
    name: 'webhook-gives-up-at-four',
    file: 'functions/workflow/deliver-attempt.ts',
    find: 'number === webhookAttempts',
    replace: 'number >= webhookAttempts - 1',
  },
  {
    name: 'signed-with-the-oldest',
    file: 'core/webhook-secrets.ts',
    find: "current: plainOf.get(signing) ?? ''",
    replace: "current: opened.at(-1)?.plain ?? ''",
  },
  {
    name: 'signed-with-the-pending',
    file: 'core/webhook-secrets.ts',
    find: 'signsFrom === undefined || signsFrom <= nowMillis',
    replace: 'signsFrom === undefined || signsFrom > 0',
  },
  {
    name: 'previous-is-the-oldest',
    file: 'core/webhook-secrets.ts',
    find: '.find((plain) => plain !== undefined)',
    replace: '.findLast((plain) => plain !== undefined)',
  },
  {
    name: 'replaced-secret-dropped',
    file: 'core/webhook-secrets.ts',
    find: 'replacedAt !== undefined && replacedAt <= oldest',
    replace: 'replacedAt !== undefined',
  },
  {
    name: 'prompt-in-the-log',
    file: 'functions/workflow/complete-creation.ts',
    find: "log.info('creation_completed', {",
    replace: "log.info('creation_completed', { prompt: creation.prompt,",
  },
  {
    name: 'everybody-reads-everything',
    file: 'functions/operations/get-creation.ts',
    find: 'creation?.accountId !== caller.account.id',
    replace: '!creation',
  },
  {
    name: 'key-never-expires',
    file: charge,
    find: "'attribute_not_exists(pk) OR expiresAt <= :now'",
    replace: "'attribute_not_exists(pk) OR (attribute_not_exists(pk) AND expiresAt <= :now)'",
  },
  {
    name: 'key-expires-early',
    file: 'core/limits.ts',
    find: 'idempotencySeconds = 24 * 60 * 60',
    replace: 'idempotencySeconds = 2',
  },
  {
    name: 'overloaded-is-charged',
    file: 'adapters/dynamodb/charge-store.ts',
    find: "return { kind: 'overloaded' };",
    replace: "return { kind: 'charged' };",
  },
  {
    name: 'refund-row-of-nothing',
    file: 'adapters/dynamodb/refund.ts',
    find: 'amountMicros: creation.costMicros',
    replace: 'amountMicros: 0',
  },
  {
    name: 'refund-is-not-told',
    file: 'adapters/dynamodb/refund.ts',
    find: 'refundedMicros: creation.costMicros,\n    ...(isCancelled',
    replace: 'refundedMicros: 0,\n    ...(isCancelled',
  },
  {
    name: 'six-attempts',
    file: 'core/webhook.ts',
    find: 'webhookAttempts = 5',
    replace: 'webhookAttempts = 6',
  },
  {
    name: 'replaced-secret-never-over',
    file: 'core/webhook-secrets.ts',
    find: 'replacedSecretSeconds = 24 * 60 * 60',
    replace: 'replacedSecretSeconds = 99 * 60 * 60',
  },
  {
    name: 'test-delivery-unthrottled',
    file: 'adapters/dynamodb/delivery-store.ts',
    find: "'attribute_not_exists(lastAt) OR lastAt <= :before'",
    replace: "'attribute_not_exists(lastAt) OR attribute_exists(lastAt) OR lastAt <= :before'",
  },
  {
    name: 'balance-tells-the-credit-line',
    file: 'functions/operations/get-balance.ts',
    find: 'available: toUsd(account.availableMicros)',
    replace: 'available: toUsd(account.creditLineMicros)',
  },
  {
    name: 'list-forgets-the-newest',
    file: 'adapters/dynamodb/creation-page.ts',
    find: 'ids.slice(0, count)',
    replace: 'ids.slice(1, count)',
  },
  {
    name: 'image-not-stored',
    file: 'functions/workflow/complete-creation.ts',
    find: 'await images.put(image, bytes, clock.now() + resultDays * dayMillis);',
    replace: 'await Promise.resolve(images);',
  },
  {
    name: 'unprocessed-is-absent',
    file: 'adapters/dynamodb/batch-get.ts',
    find: 'if (open.length === 0) return items;',
    replace: 'if (open.length >= 0) return items;',
  },
  {
    name: 'switch-of-protocols-unheard',
    file: 'adapters/pinned-exchange.ts',
    find: "request.on('upgrade', ({ headers }, socket) => {\n      hasAnswer = true;",
    replace:
      "request.on('upgrade', ({ headers }, socket) => {\n      if (socket) return;\n      hasAnswer = true;",
  },
  {
    name: 'charge-behind-the-answer',
    file: 'core/time-budget.ts',
    find: 'signal: ended.signal,\n    elapsed,\n    left: () => (ended.signal.aborted ? 0 : Math.max(0, millis - elapsed())),',
    replace: 'signal: new AbortController().signal,\n    elapsed,\n    left: () => millis,',
  },
  {
    name: 'rate-behind-the-downloads',
    file: 'functions/operations/generate/sources.ts',
    find: 'await caller.place.take();',
    replace: 'if (imageUrls.length > 99) await caller.place.take();',
  },
  {
    name: 'rate-behind-the-wait',
    file: 'functions/operations/generate/generate-image.ts',
    find: 'await caller.place.take();\n  return awaitOutcome',
    replace: 'return awaitOutcome',
  },
  {
    name: 'conflict-of-a-single-write',
    file: 'adapters/dynamodb/send.ts',
    find: 'if (!isShed(error)) throw error;',
    replace: "if (!isShed(error) || (error as Error).name === 'TransactionConflictException') throw error;",
  },
  {
    name: 'upload-without-owner',
    file: 'adapters/dynamodb/table.ts',
    find: 'pk: `ACCOUNT#${account}`, sk: `UPLOAD#${id}`',
    replace: 'pk: `ACCOUNT#${account.slice(0, 0)}`, sk: `UPLOAD#${id}`',
  },
  {
    name: 'upload-never-expires',
    file: 'core/upload.ts',
    find: 'return nowMillis < upload.expiresAt;',
    replace: 'return nowMillis < upload.expiresAt + 86_400_000;',
  },
  {
    name: 'upload-unfilled',
    file: 'functions/operations/generate/uploads.ts',
    find: 'if (!bytes) throw uploadNotUsable(index);\n  return bytes;',
    replace: "return bytes ?? Buffer.from('ffd8ffc0000b080040004001011100ffd9', 'hex');",
  },
  {
    name: 'uploads-without-quota',
    file: 'adapters/dynamodb/upload-store.ts',
    find: 'size(unused) < :limit',
    replace: 'size(unused) < :limit OR attribute_exists(pk)',
  },
  {
    name: 'used-upload-keeps-its-place',
    file: 'functions/operations/generate/charge.ts',
    find: 'uploads.length > 0 && { uploads }',
    replace: 'uploads.length < 0 && { uploads }',
  },
  {
    name: 'task-ends-before-the-commit',
    file: 'functions/operations/callback/finish-job.ts',
    find: 'const committed = await completeCreation(',
    replace: 'await endWaitingTask(creation.id, services);\n    const committed = await completeCreation(',
  },
  {
    name: 'any-capability-opens',
    file: 'core/callback-address.ts',
    find: 'form.test(presented) && sameHash(',
    replace: 'form.test(presented) || sameHash(',
  },
  {
    name: 'retry-submits-again',
    file: 'functions/workflow/ask-provider.ts',
    find: 'jobId === undefined\n        ? await provider.submit(',
    replace: "jobId !== ''\n        ? await provider.submit(",
  },
  {
    name: 'cancel-ignores-what-was-sent',
    file: 'adapters/dynamodb/terminal.ts',
    find: "'attempts = :known'",
    replace: "'(attempts = :known OR attribute_exists(pk))'",
  },
  {
    name: 'asked-is-taken-for-stopped',
    file: 'core/cancellation.ts',
    find: "if (answer === 'refused') return false;",
    replace: "if (answer !== undefined) return answer !== 'refused';",
  },
  {
    name: 'attempt-begins-behind-the-cancel',
    file: 'adapters/dynamodb/creation-store.ts',
    find: '`${isOpen} AND ${isOfThisTurn}`',
    replace: '`(${isOpen} OR attribute_exists(pk)) AND ${isOfThisTurn}`',
  },
  {
    name: 'denied-cancel-stands',
    file: 'core/cancellation.ts',
    find: 'note === undefined || (await creations.withdrawCancel(creation, note))',
    replace: "note !== ''",
  },
  {
    name: 'throttled-look-behind-the-charge',
    file: 'functions/operations/generate/await-outcome.ts',
    find: "log.info('wait_broken_off', {",
    replace: "if (last.id) throw new Error('wait_broken_off');\n    log.info('wait_broken_off', {",
  },
  {
    name: 'notice-behind-another',
    file: 'adapters/dynamodb/notice-store.ts',
    find: "'attribute_not_exists(toldLow) AND availableMicros < lowBalanceMicros'",
    replace: "'availableMicros < lowBalanceMicros'",
  },
  {
    name: 'notice-of-what-was-read',
    file: 'adapters/dynamodb/notice-store.ts',
    find: "'attribute_not_exists(toldEmpty) AND availableMicros < :needed'",
    replace: "'attribute_not_exists(toldEmpty) AND (availableMicros < :needed OR attribute_exists(pk))'",
  },
  {
    name: 'notice-without-the-user',
    file: 'core/look-for-crossings.ts',
    find: 'periods, ...(user !== undefined && { user }) }',
    replace: "periods, ...(user === '' && { user }) }",
  },
  {
    name: 'notice-of-a-cap-behind-another',
    file: 'adapters/dynamodb/notice-caps.ts',
    find: '[isUntold, isSameCap, ...reached.conditions]',
    replace: '[isSameCap, ...reached.conditions, `(${isUntold} OR attribute_exists(pk))`]',
  },
  {
    name: 'notice-again-too-early',
    file: 'adapters/dynamodb/notice-store.ts',
    find: 'belowMicros: crossing.neededMicros }',
    replace: 'belowMicros: 1 as typeof crossing.neededMicros }',
  },
  {
    name: 'notice-of-the-charge-alone',
    file: 'functions/workflow/deliver-webhook.ts',
    find: 'creation.isWatched !== true ||',
    replace: "creation.isWatched !== true || creation.status === 'completed' ||",
  },
  {
    name: 'newer-record-is-recovered',
    file: 'functions/schedule/recover.ts',
    find: 'requireKnownRelease(creation, services);',
    replace: '',
  },
  {
    name: 'newer-payload-is-rendered',
    file: 'functions/workflow/render-image.ts',
    find: 'requireKnownRelease(payload.input ?? payload, services);',
    replace: '',
  },
  {
    name: 'newer-record-is-cancelled',
    file: 'core/cancellation.ts',
    find: 'isKnownVersion(v, schema)',
    replace: '(isKnownVersion(v, schema) || v !== undefined)',
  },
  {
    name: 'start-with-the-version-of-today',
    file: 'functions/schedule/recover.ts',
    find: 'executions.start(creation, number)',
    replace: 'executions.start({ ...creation, v: services.schema.written }, number)',
  },
  {
    name: 'task-of-today',
    file: 'simulation/aws/deployed-service.ts',
    find: 'releases.begin(release)',
    replace: 'releases.begin(releases.current())',
  },
  {
    name: 'event-numbered-by-the-clock',
    file: eventLog,
    find: 'entries.filter(({ id }) => !known.has(id))',
    replace: 'entries.filter(({ id }) => !known.has(id) && id > last)',
  },
  {
    name: 'event-of-a-left-item-again',
    file: eventLog,
    find: 'entries.filter(({ id }) => !known.has(id))',
    replace: "entries.filter(({ id }) => id !== '')",
  },
  {
    name: 'event-two-readers-win',
    file: eventLog,
    find: `    UpdateExpression: 'SET #number = :next, entries = :entries',
    ConditionExpression: isFirstPage ? isFirst : isStillNewest,
    ExpressionAttributeNames: { '#number': 'number' },
    ExpressionAttributeValues: {
      ':next': newest.number + 1,
      ':entries': fresh,
      ...(!isFirstPage && { ':before': newest.number }),
    },
  });
`,
    replace: `    UpdateExpression: 'SET entries = :entries ADD #number :one',
    ExpressionAttributeNames: { '#number': 'number' },
    ExpressionAttributeValues: { ':entries': fresh, ':one': 1 },
  });
`,
  },
  {
    name: 'event-listed-before-the-page',
    file: eventLog,
    find: 'if (fresh.length === 0) return false;',
    replace: `if (fresh.length === 0) return false;
  newest = await newestPage(table, account);`,
  },
  {
    name: 'event-item-left-behind-a-page',
    file: eventLog,
    find: 'await removeNew(table, account, left);',
    replace: 'if (left.length > 99) await removeNew(table, account, left);',
  },
  {
    name: 'event-removed-before-its-place',
    file: eventLog,
    find: 'await removeNew(table, account, left);',
    replace: 'await removeNew(table, account, [...left, ...fresh]);',
  },
  {
    name: 'event-page-not-kept',
    file: eventLog,
    find: 'if (newest.number > 0) await keepPage',
    replace: 'if (newest.number > 99) await keepPage',
  },
  {
    name: 'event-of-a-redelivery-lost',
    file: 'adapters/dynamodb/delivery-store.ts',
    find: '[{ Update: reopening(table, creation, nowMillis) }, event]',
    replace: '[{ Update: reopening(table, creation, nowMillis) }]',
  },
  {
    name: 'event-of-a-refund-lost',
    file: 'adapters/dynamodb/charge-store.ts',
    find: 'await endWithEvent(table, creation, refund.nowMillis, items)',
    replace: 'await transact(table, items)',
  },
  {
    name: 'event-of-a-notice-lost',
    file: 'adapters/dynamodb/notice-store.ts',
    find: '[markItem(table, crossing, notice), put, event]',
    replace: '[markItem(table, crossing, notice), put]',
  },
  {
    name: 'event-of-an-open-creation-lost',
    file: 'adapters/dynamodb/event-items.ts',
    find: "'attribute_not_exists(eventsSince)'",
    replace: "'attribute_exists(pk)'",
  },
  {
    name: 'event-log-read-from-a-copy',
    file: eventLog,
    find: 'return pageOf(await getItem(table, eventKeys.log(account)));',
    replace: `const { pk, sk } = eventKeys.log(account);
  const { Items: found = [] } = await queryPage(table, {
    ConsistentRead: false,
    KeyConditionExpression: 'pk = :pk AND sk = :sk',
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
  });
  return pageOf(found[0]);`,
  },
  {
    name: 'place-for-everybody',
    file: 'adapters/dynamodb/held-places.ts',
    find: "'attribute_not_exists(#place) OR #place.#until <= :now OR #place.holder = :holder'",
    replace:
      "'attribute_not_exists(#place) OR #place.#until <= :now OR #place.holder = :holder OR attribute_exists(pk)'",
  },
  {
    name: 'place-beyond-the-share',
    file: 'adapters/dynamodb/held-places.ts',
    find: '{ length: limit }',
    replace: '{ length: limit + 1 }',
  },
  {
    name: 'share-of-places-unheeded',
    file: 'functions/openai/images/openai-images.ts',
    find: 'isHeld ? untilMillis : 0',
    replace: 'isHeld || !asked.asked.isStreamed ? untilMillis : 0',
  },
  {
    name: 'edit-without-its-condition',
    file: keyStore,
    find: "['attribute_exists(pk)', ...conditions].join(' AND ')",
    replace: "`attribute_exists(pk) OR (${conditions.join(' AND ')})`",
  },
  {
    name: 'version-is-not-compared',
    file: 'functions/portal/manage/change-key.ts',
    find: ' || keyVersion(read) !== body.version',
    replace: '',
  },
  {
    name: 'edit-undoes-a-revocation',
    file: keyStore,
    find: `    ...parts,
    ConditionExpression: condition.ConditionExpression,`,
    replace: `    ...parts,
    UpdateExpression: parts.UpdateExpression.includes('REMOVE')
      ? parts.UpdateExpression + ', #revokedAt'
      : parts.UpdateExpression + ' REMOVE #revokedAt',
    ConditionExpression: condition.ConditionExpression.replace(
      'attribute_not_exists(#revokedAt)',
      '(attribute_not_exists(#revokedAt) OR attribute_exists(pk))',
    ),`,
  },
  {
    name: 'near-end-handed-on',
    file: 'core/api-keys.ts',
    find: 'key.rolled ? key.rolled.expiresAt : key.expiresAt',
    replace: 'key.expiresAt',
  },
  {
    name: 'member-without-its-condition',
    file: 'adapters/dynamodb/portal/people-changes.ts',
    find: 'condition: `#role = :role AND ${hasSameCap}`',
    replace: 'condition: `(#role = :role AND ${hasSameCap}) OR attribute_exists(pk)`',
  },
  {
    name: 'invitation-binds-twice',
    file: 'adapters/dynamodb/portal/people-store.ts',
    find: 'toDelete(key, isOpen, values)',
    replace: 'toDelete(key, `attribute_not_exists(pk) OR (${isOpen})`, values)',
  },
  {
    name: 'session-outlives-its-place',
    file: 'core/portal/session.ts',
    find: 'createdAt < Date.parse(since) || ',
    replace: '',
  },
  {
    name: 'roll-forgets-the-old-key',
    file: 'functions/portal/manage/roll-key.ts',
    find: 'services.keys.roll(read, next.record, until)',
    replace: "services.keys.roll(read, next.record, '2099-01-01T00:00:00.000Z')",
  },
  {
    name: 'rotation-without-its-condition',
    file: 'adapters/dynamodb/account-settings.ts',
    find: "'webhookSecrets[0].sealed = :current'",
    replace: "'webhookSecrets[0].sealed = :current OR attribute_exists(pk)'",
  },
  {
    name: 'alerts-without-their-condition',
    file: 'adapters/dynamodb/account-settings.ts',
    find: "['attribute_exists(pk)', ...asRead].join(' AND ')",
    replace: "`attribute_exists(pk) OR (${asRead.join(' AND ')})`",
  },
  {
    name: 'last-owner-may-go',
    file: 'adapters/dynamodb/portal/people-changes.ts',
    find: "ConditionExpression: 'owners > :one'",
    replace: "ConditionExpression: 'owners > :one OR attribute_exists(pk)'",
  },
  {
    name: 'removed-member-is-remembered',
    file: 'functions/portal/http/authenticate-person.ts',
    find: 'const { member, account, operator } = state;',
    replace:
      "const { account, operator } = state;\n  const known = ((globalThis as Record<string, unknown>)['members'] ??= new Map()) as Map<string, typeof state.member>;\n  const member = state.member ?? known.get(session.hash);\n  known.set(session.hash, member);",
  },
  {
    name: 'origin-secret-before-is-refused',
    file: 'adapters/plain-secret.ts',
    find: 'return [current, previous].filter',
    replace: 'return [current || previous].filter',
  },
  {
    name: 'ended-session-lives',
    file: 'functions/portal/http/authenticate-person.ts',
    find: 'if (member && wasEndedHere(session, member))',
    replace: "if (member?.role === 'viewer' && wasEndedHere(session, member))",
  },
  {
    name: 'developers-may-do-everything',
    file: 'core/portal/people.ts',
    find: 'roles.indexOf(role) >= roles.indexOf(least)',
    replace: 'roles.indexOf(role) >= Math.min(1, roles.indexOf(least))',
  },
  {
    name: 'action-noted-behind',
    file: 'functions/portal/http/note-action.ts',
    find: '  await services.actions.begin(action);',
    replace:
      '  const early = await run();\n  await services.actions.begin(action);\n  if (early.status < 400) return early;',
  },
  {
    name: 'playground-without-the-idempotency-key',
    file: 'functions/portal/generate/through-the-api.ts',
    find: 'handle(request, caller, services)',
    replace: "handle({ ...request, idempotencyKey: { kind: 'absent' } }, caller, services)",
  },
  {
    name: 'all-webhooks-sent-again',
    file: 'functions/portal/manage/redeliver-failed.ts',
    find: "one.webhook?.status === 'failed'",
    replace: "one.webhook?.status !== 'pending'",
  },
  {
    name: 'new-key-in-the-log',
    file: 'functions/portal/manage/create-key.ts',
    find: 'const view: CreatedKeyView = { key,',
    replace: "services.log.info('key_created', { key });\n  const view: CreatedKeyView = { key,",
  },
  {
    name: 'switch-is-not-read',
    file: 'functions/operations/generate/charge.ts',
    find: 'if (caller.state.closed) throw',
    replace: 'if (caller.state.closed && caller.state.openCreations < 0) throw',
  },
  {
    name: 'completion-is-not-noted',
    file: 'core/open-notes.ts',
    find: "if (outcome === 'completed') await",
    replace: "if (outcome !== 'completed') await",
  },
  {
    name: 'catalog-of-an-old-revision',
    file: 'core/sold-catalog.ts',
    find: 'if (memory.kept?.revision === revision) return memory.kept;',
    replace: 'if (memory.kept) return memory.kept;',
  },
  {
    name: 'open-circuit-removes-its-route',
    file: 'core/route-order.ts',
    find: 'const routes = standings.flatMap(',
    replace: "const routes = standings.filter((standing) => standing !== 'open').flatMap(",
    flapping: true,
  },
  {
    name: 'probe-for-everybody',
    file: 'adapters/dynamodb/health-store.ts',
    find: "':next': nextProbe(health, nowMillis)",
    replace: "':next': Math.min(nowMillis, nextProbe(health, nowMillis))",
    flapping: true,
  },
  {
    name: 'probe-without-its-condition',
    file: 'adapters/dynamodb/health-store.ts',
    find: "`${isAsRead('openedAt', openedAt)} AND ${isAsRead('probeAt', probeAt)}`",
    replace:
      "`${isAsRead('openedAt', openedAt)} AND ${probeAt === 0 ? isAsRead('probeAt', probeAt) : 'attribute_exists(pk)'}`",
    flapping: true,
  },
  {
    name: 'begun-attempt-is-asked-again',
    file: 'functions/workflow/walk-routes.ts',
    find: "attempts.set({ ...begun, outcome: 'unknown_outcome' });",
    replace: "attempts.set({ ...begun, outcome: 'unavailable', againAt: walk.services.clock.now() });",
    flapping: true,
  },
  {
    name: 'second-model-in-the-dark',
    file: 'functions/workflow/walk-routes.ts',
    find: "provider === asked && outcome === 'unknown_outcome'",
    replace: 'provider === asked && outcome === undefined',
    flapping: true,
  },
  {
    name: 'named-moment-is-not-awaited',
    file: 'functions/workflow/later-routes.ts',
    find: 'asksOf(route, attempts) < mostAsks',
    replace: 'asksOf(route, attempts) < Math.min(1, mostAsks)',
    flapping: true,
  },
  {
    name: 'asked-before-the-named-moment',
    file: 'functions/workflow/walk-routes.ts',
    find: 'await services.clock.sleep(waitMillis);',
    replace: 'await services.clock.sleep(Math.min(100, waitMillis));',
    flapping: true,
  },
  {
    name: 'throttled-rendering-is-refunded',
    file: 'lib/callback-definition.ts',
    find: '    Retry: [',
    replace:
      "    Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.failure', Next: 'RefundCharge' }],\n" +
      "    Retry: [{ ErrorEquals: ['Lambda.TooManyRequestsException'], MaxAttempts: 0 },",
  },
  {
    name: 'opener-without-the-held-limit',
    file: 'functions/services/submit.ts',
    find: 'createHeldPlaces(store, door, heldLimit)',
    replace: 'createHeldPlaces(store, door, 1_000)',
  },
  {
    name: 'opener-with-another-machine',
    file: 'functions/services/reconcile.ts',
    find: "on.environment('NOTICE_MACHINE_ARN')",
    replace: "on.environment('STATE_MACHINE_ARN')",
  },
  {
    name: 'opener-whose-clock-stands-still',
    file: 'functions/services/common.ts',
    find: 'clock: on.clock,',
    replace: 'clock: { ...on.clock, now: ((at) => () => at)(on.clock.now()) },',
  },
];

const root = new URL('../../', import.meta.url);

/**
 * Plants a bug while Node loads its file, so the product must not be imported yet. The load throws when the
 * file does not hold the text exactly once.
 */
export function plant({ file, find, replace, name }: Mutant): void {
  const target = new URL(file, root).href;
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      if (url !== target) return loaded;
      const text =
        typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
      if (text.split(find).length !== 2) throw new Error(`mutant ${name}: its text is not once in ${file}`);
      return { ...loaded, source: text.replace(find, () => replace) };
    },
  });
}
