/** The planted bugs of the charge, the refund, the cancel and the record of a creation, and of their audit. */
import type { Mutant } from './plant.ts';

const charge = 'service/creations/charge.ts';
const chargeKey = 'service/creations/charge.ts';

export const creations: readonly Mutant[] = [
  {
    name: 'audit-resumes-past-an-account',
    file: 'service/audit/audit-accounts.ts',
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
    file: 'service/creations/refund.ts',
    find: 'isDayGivenBack(chargedDay, nowMillis) ? chargedDay : undefined',
    replace:
      "isDayGivenBack(chargedDay, nowMillis) ? new Date(nowMillis).toISOString().slice(0, 10).replaceAll('-', '_') : undefined",
  },
  {
    name: 'refund-forgets-the-user',
    file: 'service/creations/refund.ts',
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
    name: 'lost-answer-is-no-charge',
    file: 'service/creations/charge-store.ts',
    find: 'if (outcome.unclear)',
    replace: 'if (outcome.unclear && order.nowMillis === 0)',
  },
  {
    name: 'several-charged-one-by-one',
    file: 'service/creations/charge-store.ts',
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
    file: 'service/creations/retries.ts',
    find: 'if (seen.includes(attempt)) return false;',
    replace: 'if (seen.some((number) => number >= attempt)) return false;',
  },
  {
    name: 'late-first-try-is-a-new-call',
    file: 'service/creations/retries.ts',
    find: 'attempt === 0 ? head.madeByRetry > 0 : true',
    replace: 'attempt !== 0',
  },
  {
    name: 'retry-head-without-condition',
    file: 'service/creations/retry-store.ts',
    find: 'if (attempt === undefined) return {};',
    replace: 'return {};',
  },
  {
    name: 'refund-twice',
    file: 'service/creations/refund.ts',
    find: "'#status IN (:queued, :processing)'",
    replace: "'(#status IN (:queued, :processing) OR attribute_exists(pk))'",
  },
  {
    name: 'refund-forgets-the-room',
    file: 'service/creations/refund.ts',
    find: ', inFlight = inFlight - :one',
    replace: ', refunds = :one',
  },
  {
    name: 'refund-of-half',
    file: 'service/creations/refund.ts',
    find: "':cost': creation.costMicros",
    replace: "':cost': creation.costMicros / 2",
  },
  {
    name: 'refund-in-this-month',
    file: 'service/creations/refund.ts',
    find: 'spentAttribute(creation.chargedMonth)',
    replace: "spentAttribute(at.slice(0, 7).replace('-', '_'))",
  },
  {
    name: 'completion-keeps-the-room',
    file: 'service/creations/creation-store.ts',
    find: "'SET inFlight = inFlight - :one'",
    replace: "'SET completions = :one'",
  },
  {
    name: 'lost-lease-still-writes',
    file: 'service/creations/creation-store.ts',
    find: "'fence = :turn'",
    replace: "'(fence = :turn OR attribute_exists(pk))'",
  },
  {
    name: 'key-never-expires',
    file: charge,
    find: "'attribute_not_exists(pk) OR expiresAt <= :now'",
    replace: "'attribute_not_exists(pk) OR (attribute_not_exists(pk) AND expiresAt <= :now)'",
  },
  {
    name: 'overloaded-is-charged',
    file: 'service/creations/charge-store.ts',
    find: "return { kind: 'overloaded' };",
    replace: "return { kind: 'charged' };",
  },
  {
    name: 'refund-row-of-nothing',
    file: 'service/creations/refund.ts',
    find: 'amountMicros: creation.costMicros',
    replace: 'amountMicros: 0',
  },
  {
    name: 'refund-is-not-told',
    file: 'service/creations/refund.ts',
    find: 'refundedMicros: creation.costMicros,\n    ...(isCancelled',
    replace: 'refundedMicros: 0,\n    ...(isCancelled',
  },
  {
    name: 'list-forgets-the-newest',
    file: 'service/creations/creation-reads.ts',
    find: 'ids.slice(0, count)',
    replace: 'ids.slice(1, count)',
  },
  {
    name: 'cancel-ignores-what-was-sent',
    file: 'service/creations/refund.ts',
    find: "'attempts = :known'",
    replace: "'(attempts = :known OR attribute_exists(pk))'",
  },
  {
    name: 'asked-is-taken-for-stopped',
    file: 'service/creations/cancel.ts',
    find: "if (answer === 'refused') return false;",
    replace: "if (answer !== undefined) return answer !== 'refused';",
  },
  {
    name: 'attempt-begins-behind-the-cancel',
    file: 'service/creations/creation-store.ts',
    find: '`${isOpen} AND ${isOfThisTurn}`',
    replace: '`(${isOpen} OR attribute_exists(pk)) AND ${isOfThisTurn}`',
  },
  {
    name: 'denied-cancel-stands',
    file: 'service/creations/cancel.ts',
    find: 'note === undefined || (await creations.withdrawCancel(creation, note))',
    replace: "note !== ''",
  },
  {
    name: 'newer-record-is-cancelled',
    file: 'service/creations/cancel.ts',
    find: 'isKnownVersion(v, schema)',
    replace: '(isKnownVersion(v, schema) || v !== undefined)',
  },
  {
    name: 'end-is-not-counted',
    file: 'service/creations/event-items.ts',
    find: "if (outcome.kind === 'done') await countOpen",
    replace: "if (outcome.kind !== 'done') await countOpen",
  },
  {
    name: 'opener-whose-clock-stands-still',
    file: 'service/platform/common.ts',
    find: 'clock: on.clock,',
    replace: 'clock: { ...on.clock, now: ((at) => () => at)(on.clock.now()) },',
  },
];

/** The planted bugs of accounts and keys. */
export const accounts: readonly Mutant[] = [
  {
    name: 'edit-without-its-condition',
    file: 'service/accounts/key-store.ts',
    find: "['attribute_exists(pk)', ...conditions].join(' AND ')",
    replace: "`attribute_exists(pk) OR (${conditions.join(' AND ')})`",
  },
  {
    name: 'edit-undoes-a-revocation',
    file: 'service/accounts/key-store.ts',
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
    file: 'service/accounts/key-changes.ts',
    find: 'key.rolled ? key.rolled.expiresAt : key.expiresAt',
    replace: 'key.expiresAt',
  },
  {
    name: 'rotation-without-its-condition',
    file: 'service/accounts/account-settings-store.ts',
    find: "'webhookSecrets[0].sealed = :current'",
    replace: "'webhookSecrets[0].sealed = :current OR attribute_exists(pk)'",
  },
  {
    name: 'alerts-without-their-condition',
    file: 'service/accounts/account-settings-store.ts',
    find: "['attribute_exists(pk)', ...asRead].join(' AND ')",
    replace: "`attribute_exists(pk) OR (${asRead.join(' AND ')})`",
  },
];
