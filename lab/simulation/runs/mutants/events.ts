/** The planted bugs of the log of events. */
import type { Mutant } from './plant.ts';

const eventLog = 'service/events/event-store.ts';

export const events: readonly Mutant[] = [
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
    file: 'service/webhooks/delivery-store.ts',
    find: '[{ Update: reopening(table, creation, nowMillis) }, event]',
    replace: '[{ Update: reopening(table, creation, nowMillis) }]',
  },
  {
    name: 'event-of-a-refund-lost',
    file: 'service/creations/charge-store.ts',
    find: 'await endWithEvent(table, creation, refund.nowMillis, items)',
    replace: 'await transact(table, items)',
  },
  {
    name: 'event-of-a-notice-lost',
    file: 'service/notices/notice-store.ts',
    find: '[markItem(table, crossing, notice), put, event]',
    replace: '[markItem(table, crossing, notice), put]',
  },
  {
    name: 'event-of-an-open-creation-lost',
    file: 'service/creations/event-items.ts',
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
];

/** The planted bugs of notices of thresholds. */
export const notices: readonly Mutant[] = [
  {
    name: 'notice-behind-another',
    file: 'service/notices/notice-store.ts',
    find: "'attribute_not_exists(toldLow) AND availableMicros < lowBalanceMicros'",
    replace: "'availableMicros < lowBalanceMicros'",
  },
  {
    name: 'notice-of-what-was-read',
    file: 'service/notices/notice-store.ts',
    find: "'attribute_not_exists(toldEmpty) AND availableMicros < :needed'",
    replace: "'attribute_not_exists(toldEmpty) AND (availableMicros < :needed OR attribute_exists(pk))'",
  },
  {
    name: 'notice-without-the-user',
    file: 'service/notices/check-thresholds.ts',
    find: 'periods, ...(user !== undefined && { user }) }',
    replace: "periods, ...(user === '' && { user }) }",
  },
  {
    name: 'notice-of-a-cap-behind-another',
    file: 'service/notices/notice-store.ts',
    find: '[isUntold, isSameCap, ...reached.conditions]',
    replace: '[isSameCap, ...reached.conditions, `(${isUntold} OR attribute_exists(pk))`]',
  },
  {
    name: 'notice-again-too-early',
    file: 'service/notices/notice-store.ts',
    find: 'belowMicros: crossing.neededMicros }',
    replace: 'belowMicros: 1 as typeof crossing.neededMicros }',
  },
  {
    name: 'notice-of-the-charge-alone',
    file: 'service/webhooks/deliver-webhook.ts',
    find: 'creation.isWatched !== true ||',
    replace: "creation.isWatched !== true || creation.status === 'completed' ||",
  },
];

/** The planted bugs of webhooks: the schedule, the signature, the secrets. */
export const webhooks: readonly Mutant[] = [
  {
    name: 'webhook-early',
    file: 'service/webhooks/deliver-attempt.ts',
    find: '{ at: clock.now() + waitAfter(number) }',
    replace: '{ at: clock.now() + 30_000 }',
  },
  {
    name: 'webhook-unclaimed',
    file: 'service/webhooks/deliver-attempt.ts',
    find: 'nowMillis: now }))) throw notDelivered();',
    replace: 'nowMillis: now })) && now === 0) throw notDelivered();',
  },
  {
    name: 'webhook-after-success',
    file: 'service/webhooks/deliver-attempt.ts',
    find: 'const isLast = isDelivered || ',
    replace: 'const isLast = ',
  },
  {
    name: 'webhook-gives-up-at-four',
    file: 'service/webhooks/deliver-attempt.ts',
    find: 'number === webhookAttempts',
    replace: 'number >= webhookAttempts - 1',
  },
  {
    name: 'signed-with-the-oldest',
    file: 'service/webhooks/secrets.ts',
    find: "current: plainOf.get(signing) ?? ''",
    replace: "current: opened.at(-1)?.plain ?? ''",
  },
  {
    name: 'signed-with-the-pending',
    file: 'service/webhooks/secrets.ts',
    find: 'signsFrom === undefined || signsFrom <= nowMillis',
    replace: 'signsFrom === undefined || signsFrom > 0',
  },
  {
    name: 'previous-is-the-oldest',
    file: 'service/webhooks/secrets.ts',
    find: '.find((plain) => plain !== undefined)',
    replace: '.findLast((plain) => plain !== undefined)',
  },
  {
    name: 'replaced-secret-dropped',
    file: 'service/webhooks/secrets.ts',
    find: 'replacedAt !== undefined && replacedAt <= oldest',
    replace: 'replacedAt !== undefined',
  },
  {
    name: 'six-attempts',
    file: 'service/webhooks/webhook.ts',
    find: 'webhookAttempts = 5',
    replace: 'webhookAttempts = 6',
  },
  {
    name: 'replaced-secret-never-over',
    file: 'service/webhooks/secrets.ts',
    find: 'replacedSecretSeconds = 24 * 60 * 60',
    replace: 'replacedSecretSeconds = 99 * 60 * 60',
  },
  {
    name: 'test-delivery-unthrottled',
    file: 'service/webhooks/delivery-store.ts',
    find: "'attribute_not_exists(lastAt) OR lastAt <= :before'",
    replace: "'attribute_not_exists(lastAt) OR attribute_exists(lastAt) OR lastAt <= :before'",
  },
];
