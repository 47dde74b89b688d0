/** The planted bugs of erasures: at least one for each store that could keep something. */
import type { Bugs } from './plant.ts';

export const erasures: Bugs = {
  'admin/erase/account.ts': {
    'external-id-is-free-before-the-account-lost-it': [
      'const outcome = await transact(table, [{ Update }, ...deletion]);',
      'if (isOwn) await deleteItem(table, place);\n  const outcome = await transact(table, [{ Update }]);',
    ],
    'account-keeps-its-rows': ['await deleteItem(table, key);', ''],
    'account-keeps-its-users': ["['LEDGER#', 'user']", "['LEDGER#', undefined]"],
    'counters-go-while-open': ['if (hasOpen && /^(LEDGER|USER|USER_TOKEN)#/.test(sk)) continue;', ''],
  },
  'service/creations/creation.ts': {
    'erased-addresses-are-shown': ['creation.erasedBy !== undefined || ', ''],
  },
  'service/creations/creation-store.ts': {
    'colours-come-back': ['attribute_not_exists(erasedBy) AND ', ''],
    'colours-come-back-to-deleted-results': [' AND attribute_not_exists(resultsDeletedBy)', ''],
  },
  'service/creations/erase.ts': {
    'erasure-forgets-small-forms': [
      '[...originalKeysOf(creation), ...formKeysOf(creation)]',
      'originalKeysOf(creation)',
    ],
    'deletion-forgets-small-forms': [
      '[...resultKeysOf(creation), ...formKeysOf(creation)]',
      'resultKeysOf(creation)',
    ],
    'results-stay-after-the-204': ['await images.remove(resultImageKeysOf(asked));', ''],
    'erasure-logs-the-prompt': [
      '{ creationId, accountId, by }',
      '{ creationId, accountId, by, prompt: asked.prompt }',
    ],
  },
  'service/creations/erase-store.ts': {
    'colours-stay-in-the-record': ["      ', colours',\n", ''],
    'prompt-stays-in-the-record': ['prompt = :nothing', 'asked = :nothing'],
    'negative-prompt-stays-in-the-record': ['      ...privateMembers.map((name) => `, ${name}`),\n', ''],
    'body-stays-in-the-record': ["${webhook ? ', webhook.body' : ''}", ''],
    'open-creation-is-erased': [
      "const hasEnded = '#status IN (:completed, :failed)'",
      "const hasEnded = '(#status IN (:completed, :failed) OR attribute_exists(pk))'",
    ],
    'erased-webhook-stays-owed': [
      "webhook.status === 'pending' ? 'skipped' : webhook.status",
      'webhook.status',
    ],
  },
  'service/erase/by-age.ts': {
    'age-skips-the-last-account': [
      'progress = { ...progress, after: place };',
      'progress = { ...progress, after: place };\n    if (progress.leftFrom === undefined) break;',
    ],
  },
  'service/erase/erase-content.ts': {
    'second-pass-leaves-images': ['await images.remove(imageKeysOf(creation));', ''],
    'second-pass-leaves-rows': ['await leftovers.removeDeliveries(creation);', ''],
  },
  'service/erase/leftovers-store.ts': {
    'rows-of-others-are-erased': ["'creationId = :id'", "'creationId = :id OR attribute_exists(creationId)'"],
  },
};
