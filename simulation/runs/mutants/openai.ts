/** The planted bugs of the OpenAI-shaped endpoint. */
import type { Mutant } from './plant.ts';

export const openai: readonly Mutant[] = [
  {
    name: 'place-for-everybody',
    file: 'adapters/dynamodb/held-places.ts',
    find: "'attribute_not_exists(#place) OR #place.#until <= :now OR #place.holder = :holder'",
    replace:
      "'attribute_not_exists(#place) OR #place.#until <= :now OR #place.holder = :holder OR attribute_exists(pk)'",
  },
  {
    name: 'place-beyond-the-share',
    file: 'adapters/dynamodb/held-places.ts',
    find: '{ length: limit }',
    replace: '{ length: limit + 1 }',
  },
  {
    name: 'share-of-places-unheeded',
    file: 'functions/openai/images/openai-images.ts',
    find: 'isHeld ? untilMillis : 0',
    replace: 'isHeld || !asked.asked.isStreamed ? untilMillis : 0',
  },
];
