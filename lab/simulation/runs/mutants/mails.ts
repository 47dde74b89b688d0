/** The planted bugs of notices by e-mail. */
import type { Bugs } from './plant.ts';

export const mails: Bugs = {
  'service/notices/mail-store.ts': {
    'mail-count-goes-with-the-first': [
      'others.length === 0 && mailChoices !== undefined',
      'others.length >= 0 && mailChoices !== undefined',
      'mails',
    ],
    'mail-readers-of-another-account': [
      "(await queryAll(table, keys.account(account).pk, 'MEMBER#'))",
      "(await ((globalThis as { read?: ReturnType<typeof queryAll> }).read ??= queryAll(table, keys.account(account).pk, 'MEMBER#')))",
      'mails',
    ],
  },
  'service/portal/manage/people.ts': {
    'mail-topic-of-a-removed-person-stays': [
      'await services.removeTopic?.(topic)',
      'if (read.mail) await services.removeTopic?.(topic)',
      'mails',
    ],
  },
  'service/portal/sign-in/emails.ts': {
    'mail-choice-outlives-its-end': [
      'await mailStore.end(account.id, person.id, account.mailChoices);',
      '',
      'mails',
    ],
    'mail-topic-is-made-behind-a-removal': [
      'await orUnavailable(() => topics.remove(topic));\n    throw',
      'throw',
      'mails',
    ],
    'mail-topic-stays-behind-the-last-choice': [
      'await orUnavailable(() => topics.remove(topic));\n    return',
      'return',
      'mails',
    ],
  },
  'service/webhooks/notice-mails.ts': {
    'mail-choice-of-the-first-attempt': [
      '(await mails.readers(accountId))',
      '(await ((globalThis as { [id: string]: unknown })[owed.id] ??= mails.readers(accountId)) as Awaited<ReturnType<typeof mails.readers>>)',
      'mails',
    ],
    'mail-lost-without-a-state': [".catch(() => 'on' as const)", ".catch(() => 'gone' as const)", 'mails'],
    'mail-to-the-topic-of-another-account': [
      'topicOf(delivery.accountId, personId)',
      'topicOf(((globalThis as { first?: typeof delivery.accountId }).first ??= delivery.accountId), personId)',
      'mails',
    ],
    'mail-of-every-kind': [
      'kinds.some((kind) => kind === event)',
      "kinds.length > 0 && event !== ''",
      'mails',
    ],
    'mail-refused-is-delivered': [
      "outcome: status === 200 ? 'delivered' : 'failed'",
      "outcome: status !== 404 ? 'delivered' : 'failed'",
      'mails',
    ],
  },
};
