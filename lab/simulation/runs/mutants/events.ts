/** The planted bugs of events, webhooks and notices. */
import type { Bugs } from './plant.ts';

export const events: Bugs = {
  'service/creations/charge-store.ts': {
    'event-of-a-refund-lost': [
      'await endWithEvent(table, creation, refund.nowMillis, items)',
      'await transact(table, items)',
    ],
  },
  'service/creations/event-items.ts': {
    'event-of-an-open-creation-lost': ["'attribute_not_exists(eventsSince)'", "'attribute_exists(pk)'"],
  },
  'service/events/event-store.ts': {
    'event-numbered-by-the-clock': [
      'entries.filter(({ id }) => !known.has(id))',
      'entries.filter(({ id }) => !known.has(id) && id > last)',
    ],
    'event-of-a-left-item-again': [
      'entries.filter(({ id }) => !known.has(id))',
      "entries.filter(({ id }) => id !== '')",
    ],
    'event-two-readers-win': [
      "    UpdateExpression: 'SET #number = :next, entries = :entries',\n    ConditionExpression: isFirstPage ? isFirst : isStillNewest,\n    ExpressionAttributeNames: { '#number': 'number' },\n    ExpressionAttributeValues: {\n      ':next': newest.number + 1,\n      ':entries': fresh,\n      ...(!isFirstPage && { ':before': newest.number }),\n    },\n  });\n",
      "    UpdateExpression: 'SET entries = :entries ADD #number :one',\n    ExpressionAttributeNames: { '#number': 'number' },\n    ExpressionAttributeValues: { ':entries': fresh, ':one': 1 },\n  });\n",
    ],
    'event-listed-before-the-page': [
      'if (fresh.length === 0) return false;',
      'if (fresh.length === 0) return false;\n  newest = await newestPage(table, account);',
    ],
    'event-item-left-behind-a-page': [
      'await removeNew(table, account, left);',
      'if (left.length > 99) await removeNew(table, account, left);',
    ],
    'event-removed-before-its-place': [
      'await removeNew(table, account, left);',
      'await removeNew(table, account, [...left, ...fresh]);',
    ],
    'event-page-not-kept': [
      'if (newest.number > 0) await keepPage',
      'if (newest.number > 99) await keepPage',
    ],
    'event-log-read-from-a-copy': [
      'return pageOf(await getItem(table, eventKeys.log(account)));',
      "const { pk, sk } = eventKeys.log(account);\n  const { Items: found = [] } = await queryPage(table, {\n    ConsistentRead: false,\n    KeyConditionExpression: 'pk = :pk AND sk = :sk',\n    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },\n  });\n  return pageOf(found[0]);",
    ],
  },
  'service/notices/check-thresholds.ts': {
    'notice-without-the-user': [
      'periods, ...(user !== undefined && { user }) }',
      "periods, ...(user === '' && { user }) }",
    ],
  },
  'service/notices/notice.ts': {
    'budget-told-too-early': ['spent * 100 >= budgetMicros * one', 'spent * 120 >= budgetMicros * one'],
    'budget-never-told': ['level === undefined || level <= above', 'level !== undefined'],
  },
  'service/notices/notice-store.ts': {
    'event-of-a-notice-lost': [
      'return [put, eventItem(table, notice.accountId, entry)];',
      'return [put] as unknown as readonly [TransactItem, TransactItem];',
    ],
    'budget-told-twice': [
      'toldBudget.#level < :level)))',
      'toldBudget.#level < :level) OR attribute_exists(toldBudget)))',
    ],
    'notice-behind-another': [
      "'attribute_not_exists(toldLow) AND availableMicros < lowBalanceMicros'",
      "'availableMicros < lowBalanceMicros'",
    ],
    'notice-of-what-was-read': [
      "'attribute_not_exists(toldEmpty) AND availableMicros < :needed'",
      "'attribute_not_exists(toldEmpty) AND (availableMicros < :needed OR attribute_exists(pk))'",
    ],
    'notice-of-a-cap-behind-another': [
      '[isUntold, isSameCap, ...reached.conditions]',
      '[isSameCap, ...reached.conditions, `(${isUntold} OR attribute_exists(pk))`]',
    ],
    'notice-again-too-early': [
      'belowMicros: alert.neededMicros }',
      'belowMicros: 1 as typeof alert.neededMicros }',
    ],
  },
  'service/webhooks/deliver-attempt.ts': {
    'webhook-early': ['{ at: clock.now() + waitAfter(number) }', '{ at: clock.now() + 30_000 }'],
    'webhook-unclaimed': [
      'nowMillis: now }))) throw notDelivered();',
      'nowMillis: now })) && now === 0) throw notDelivered();',
    ],
    'webhook-after-success': ['const isLast = isDelivered || ', 'const isLast = '],
    'webhook-gives-up-at-four': ['number === webhookAttempts', 'number >= webhookAttempts - 1'],
  },
  'service/webhooks/deliver-webhook.ts': {
    'first-attempt-always-delivered': ['  } catch {\n    return false;', '  } catch {\n    return true;'],
    'notice-of-the-charge-alone': [
      'creation.isWatched !== true ||',
      "creation.isWatched !== true || creation.status === 'completed' ||",
    ],
  },
  'service/webhooks/delivery-store.ts': {
    'event-of-a-redelivery-lost': [
      '[{ Update: reopening(table, creation, nowMillis, endpoints) }, event],',
      '[{ Update: reopening(table, creation, nowMillis, endpoints) }],',
    ],
    'test-delivery-unthrottled': [
      "'attribute_not_exists(lastAt) OR lastAt <= :before'",
      "'attribute_not_exists(lastAt) OR attribute_exists(lastAt) OR lastAt <= :before'",
    ],
  },
  'service/webhooks/secrets.ts': {
    'signed-with-the-oldest': ["current: plainOf.get(signing) ?? ''", "current: opened.at(-1)?.plain ?? ''"],
    'signed-with-the-pending': [
      'signsFrom === undefined || signsFrom <= nowMillis',
      'signsFrom === undefined || signsFrom > 0',
    ],
    'previous-is-the-oldest': [
      '.find((plain) => plain !== undefined)',
      '.findLast((plain) => plain !== undefined)',
    ],
    'replaced-secret-dropped': [
      'replacedAt !== undefined && replacedAt <= oldest',
      'replacedAt !== undefined',
    ],
    'replaced-secret-never-over': [
      'replacedSecretSeconds = 24 * 60 * 60',
      'replacedSecretSeconds = 99 * 60 * 60',
    ],
  },
  'service/webhooks/webhook.ts': {
    'six-attempts': ['webhookAttempts = 1 + retries', 'webhookAttempts = 2 + retries'],
  },
};
