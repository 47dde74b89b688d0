/** The planted bugs of copies into the buckets of clients. */
import type { Bugs } from './plant.ts';

export const copies: Bugs = {
  'service/copies/copy-picture.ts': {
    'copy-noted-before-it-is-made': [
      "const isStored = outcome.kind === 'stored';",
      "const isStored = outcome.kind === 'stored' || number > 0;",
    ],
    'copy-unclaimed': [
      'if (!(await copies.claim({ work, attempt: number, claimedBy, nextAt, nowMillis }))) throw notDelivered();',
      'await copies.claim({ work, attempt: number, claimedBy, nextAt, nowMillis });',
    ],
    'copy-given-up-early': [
      'const isLast = isStored || number === webhookAttempts;',
      'const isLast = isStored || number === webhookAttempts - 1;',
    ],
  },
  'service/copies/bucket-client.ts': {
    'copy-not-compared': ['!got.body.equals(part)', 'got.body.length === 0'],
  },
  'service/creations/copy-items.ts': {
    'copy-not-found-by-the-reconciler': ["openShard: openShard('WEBHOOK', work.id),", ''],
  },
};
