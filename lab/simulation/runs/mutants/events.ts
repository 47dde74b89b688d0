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
