/** The planted bugs of notices of thresholds. */
import type { Mutant } from './plant.ts';

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
