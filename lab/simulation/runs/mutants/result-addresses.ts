/** The planted bugs of signed addresses of results. */
import type { Bugs } from './plant.ts';

export const resultAddresses: Bugs = {
  'service/creations/result-addresses.ts': {
    'key-of-addresses-read-for-an-order': [
      'return signedMinutes !== undefined && resultsExpireAt',
      'return signedMinutes',
    ],
    'service-signs-for-everybody': ["results === 'signed') ?", 'stated !== results) ?'],
  },
  'service/creations/result-signer.ts': {
    'signed-address-lives-too-long': ['signedMinutes * 60_000', 'signedMinutes * 180_000'],
    'any-object-under-one-signature': ['cannedPolicy(url, expires)', 'cannedPolicy(`${baseUrl}/*`, expires)'],
  },
  'service/events/event.ts': {
    'event-shows-the-stored-addresses': [
      'const isAsStored = signedMinutes === undefined &&',
      'const isAsStored =',
    ],
  },
  'service/webhooks/delivery-store.ts': {
    'redelivery-sends-ended-addresses': [
      "creation.signedMinutes === undefined ? '' :",
      "creation.signedMinutes !== 0 ? '' :",
    ],
  },
  'service/render/walk-routes.ts': {
    'signed-result-lies-in-the-open': [
      "creation.signedMinutes === undefined ? 'results/' : signedPrefix",
      "creation.signedMinutes === undefined ? signedPrefix.slice(0, 8) : 'results/'",
    ],
  },
};
