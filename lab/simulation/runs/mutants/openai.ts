/** The planted bugs of the OpenAI-shaped endpoint. */
import type { Mutant } from './plant.ts';

export const openai: readonly Mutant[] = [
  {
    name: 'place-for-everybody',
    file: 'service/api/held-places-store.ts',
    find: "'attribute_not_exists(#place) OR #place.#until <= :now OR #place.holder = :holder'",
    replace:
      "'attribute_not_exists(#place) OR #place.#until <= :now OR #place.holder = :holder OR attribute_exists(pk)'",
  },
  {
    name: 'place-beyond-the-share',
    file: 'service/api/held-places-store.ts',
    find: '{ length: limit }',
    replace: '{ length: limit + 1 }',
  },
  {
    name: 'share-of-places-unheeded',
    file: 'service/openai/openai-images.ts',
    find: 'isHeld ? untilMillis : 0',
    replace: 'isHeld || !asked.asked.isStreamed ? untilMillis : 0',
  },
];
