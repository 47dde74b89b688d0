/** The planted bugs of accounts, and of the charge, the refund, the cancel, the record and the audit of creations. */
import type { Bugs } from './plant.ts';

export const creations: Bugs = {
  'service/accounts/account-settings-store.ts': {
    'rotation-without-its-condition': [
      "'webhookSecrets[0].sealed = :current'",
      "'webhookSecrets[0].sealed = :current OR attribute_exists(pk)'",
    ],
    'alerts-without-their-condition': [
      "['attribute_exists(pk)', ...asRead].join(' AND ')",
      "`attribute_exists(pk) OR (${asRead.join(' AND ')})`",
    ],
  },
  'service/accounts/key-changes.ts': {
    'near-end-handed-on': ['key.rolled ? key.rolled.expiresAt : key.expiresAt', 'key.expiresAt'],
  },
  'service/accounts/key-store.ts': {
    'edit-without-its-condition': [
      "['attribute_exists(pk)', ...conditions].join(' AND ')",
      "`attribute_exists(pk) OR (${conditions.join(' AND ')})`",
    ],
    'edit-undoes-a-revocation': [
      '    ...parts,\n    ConditionExpression: condition.ConditionExpression,',
      "    ...parts,\n    UpdateExpression: parts.UpdateExpression.includes('REMOVE')\n      ? parts.UpdateExpression + ', #revokedAt'\n      : parts.UpdateExpression + ' REMOVE #revokedAt',\n    ConditionExpression: condition.ConditionExpression.replace(\n      'attribute_not_exists(#revokedAt)',\n      '(attribute_not_exists(#revokedAt) OR attribute_exists(pk))',\n    ),",
    ],
  },
  'service/audit/audit-accounts.ts': {
    'audit-resumes-past-an-account': ['after: first.place', 'after: begun.at(-1)?.place ?? first.place'],
  },
  'service/audit/closings.ts': {
    'refund-counts-in-its-own-month': [
      'return month ?? monthOf(Date.parse(at));',
      "return monthOf(Date.parse(at === '' ? (month ?? at) : at));",
    ],
  },
  'service/audit/check-account.ts': {
    'closed-month-is-counted-again': ['monthOfRow(row) <= closed.month', 'monthOfRow(row) < closed.month'],
  },
  'service/contract/failures.ts': {
    'cancelled-has-the-code-of-its-sentence': [
      'creation.cancelledAt === undefined ? code : cancelledCode',
      'code',
    ],
    'code-of-another-sentence': ["code: 'timed_out'", "code: 'internal'"],
  },
  'service/creations/cancel.ts': {
    'asked-is-taken-for-stopped': [
      "if (answer === 'refused') return false;",
      "if (answer !== undefined) return answer !== 'refused';",
    ],
    'denied-cancel-stands': [
      'note === undefined || (await creations.withdrawCancel(creation, note))',
      "note !== ''",
    ],
    'newer-record-is-cancelled': [
      'isKnownVersion(v, schema)',
      '(isKnownVersion(v, schema) || v !== undefined)',
    ],
  },
  'service/creations/charge-store.ts': {
    'lost-answer-is-no-charge': ['if (outcome.unclear)', 'if (outcome.unclear && order.nowMillis === 0)'],
    'several-charged-one-by-one': [
      'const outcome = await transact(table, items, order.creations[0].id);',
      'for (const creation of order.creations.slice(1)) await transact(table, chargeParts(table, { creations: [creation], apiKey: order.apiKey, maxConcurrent: order.maxConcurrent, nowMillis: order.nowMillis }).map(({ item }) => item), creation.id);\nconst outcome = await transact(table, chargeParts(table, { ...order, creations: [order.creations[0]] }).map(({ item }) => item), order.creations[0].id);',
    ],
    'overloaded-is-charged': ["return { kind: 'overloaded' };", "return { kind: 'charged' };"],
  },
  'service/creations/charge.ts': {
    'charge-ignores-the-balance': [
      "'availableMicros >= :cost'",
      "'(attribute_exists(pk) OR availableMicros >= :cost)'",
    ],
    'several-take-the-room-of-one': ["count === 1 ? ':one' : ':count'", "count > 0 ? ':one' : ':count'"],
    'charge-ignores-the-room': [
      "'inFlight < maxConcurrent'",
      "'(inFlight < maxConcurrent OR attribute_exists(pk))'",
    ],
    'charge-ignores-the-month': ['#spent <= :monthRoom)', '#spent <= :monthRoom OR attribute_exists(pk))'],
    'daily-cap-without-the-cost': ['daily - cost', 'daily'],
    'total-without-the-other-months': [
      'apiKey.totalCapMicros - costOf(order) - spentInOthers(apiKey, month)',
      'apiKey.totalCapMicros - costOf(order)',
    ],
    'user-cap-without-the-cost': ["':room': cap - cost", "':room': cap"],
    'charge-ignores-revocation': [
      'attribute_exists(pk) AND attribute_not_exists(revokedAt)',
      'attribute_exists(pk)',
    ],
    'charge-ignores-suspension': [
      "'#condition = :active'",
      "'(#condition = :active OR attribute_exists(pk))'",
    ],
    'key-names-two-charges': [
      "'attribute_not_exists(pk) OR expiresAt <= :now'",
      "'attribute_not_exists(pk) OR attribute_exists(pk) OR expiresAt <= :now'",
    ],
    'charge-without-its-row': ['amountMicros: 0 - creation.costMicros', 'amountMicros: 0'],
    'retry-without-record': ['retry ? retryItems(table, retry, idsOf(order), order.nowMillis) : []', '[]'],
    'key-never-expires': [
      "'attribute_not_exists(pk) OR expiresAt <= :now'",
      "'attribute_not_exists(pk) OR (attribute_not_exists(pk) AND expiresAt <= :now)'",
    ],
  },
  'service/creations/creation-reads.ts': {
    'list-forgets-the-newest': ['ids.slice(0, count)', 'ids.slice(1, count)'],
  },
  'service/creations/creation-store.ts': {
    'completion-keeps-the-room': ["'SET inFlight = inFlight - :one'", "'SET completions = :one'"],
    'lost-lease-still-writes': ["'fence = :turn'", "'(fence = :turn OR attribute_exists(pk))'"],
    'attempt-begins-behind-the-cancel': [
      '`${isOpen} AND ${isOfThisTurn}`',
      '`(${isOpen} OR attribute_exists(pk)) AND ${isOfThisTurn}`',
    ],
  },
  'service/creations/event-items.ts': {
    'end-is-not-counted': [
      "if (outcome.kind === 'done') await countOpen",
      "if (outcome.kind !== 'done') await countOpen",
    ],
  },
  'service/creations/render-job.ts': {
    'job-without-its-quality': ['quality = tierIn(creation), unitMicros', 'quality, unitMicros'],
  },
  'service/creations/refund.ts': {
    'refund-on-this-day': [
      'isDayGivenBack(chargedDay, nowMillis) ? chargedDay : undefined',
      "isDayGivenBack(chargedDay, nowMillis) ? new Date(nowMillis).toISOString().slice(0, 10).replaceAll('-', '_') : undefined",
    ],
    'refund-forgets-the-user': ["':userBack': 0 - creation.costMicros", "':userBack': 0"],
    'refund-twice': [
      "'#status IN (:queued, :processing)'",
      "'(#status IN (:queued, :processing) OR attribute_exists(pk))'",
    ],
    'refund-forgets-the-room': [', inFlight = inFlight - :one', ', refunds = :one'],
    'refund-of-half': ["':cost': creation.costMicros", "':cost': creation.costMicros / 2"],
    'refund-in-this-month': [
      'spentAttribute(creation.chargedMonth)',
      "spentAttribute(at.slice(0, 7).replace('-', '_'))",
    ],
    'refund-row-of-nothing': ['amountMicros: creation.costMicros', 'amountMicros: 0'],
    'refund-is-not-told': [
      'refundedMicros: creation.costMicros,\n    ...(isCancelled',
      'refundedMicros: 0,\n    ...(isCancelled',
    ],
    'cancel-ignores-what-was-sent': ["'attempts = :known'", "'(attempts = :known OR attribute_exists(pk))'"],
  },
  'service/creations/retries.ts': {
    'retry-by-the-highest-number': [
      'if (seen.includes(attempt)) return false;',
      'if (seen.some((number) => number >= attempt)) return false;',
    ],
    'late-first-try-is-a-new-call': ['attempt === 0 ? head.madeByRetry > 0 : true', 'attempt !== 0'],
  },
  'service/creations/retry-store.ts': {
    'retry-head-without-condition': ['if (attempt === undefined) return {};', 'return {};'],
  },
  'service/platform/common.ts': {
    'opener-whose-clock-stands-still': [
      'clock: on.clock,',
      'clock: { ...on.clock, now: ((at) => () => at)(on.clock.now()) },',
    ],
  },
};
