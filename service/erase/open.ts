import { openShards } from '../aws/dynamodb/table.ts';
import { createCreationReads } from '../creations/creation-reads.ts';
import { createEraseStore } from '../creations/erase-store.ts';
import { overdueIn } from '../creations/open-work-store.ts';
import { commonOf, tableOf } from '../platform/common.ts';
import type { On } from '../platform/platform.ts';
import type { CreationId } from '../values/ids.ts';
import { createAgeStore } from './age-store.ts';
import { createLeftoversStore } from './leftovers-store.ts';

export type EraseContentServices = ReturnType<typeof openEraseContent>;

export function openEraseContent(on: On<'dynamodb' | 'images'>) {
  const table = tableOf(on);
  return {
    ...commonOf(on, 'erase-content'),
    creations: createCreationReads(table),
    erasures: createEraseStore(table),
    images: on.images(),
    leftovers: createLeftoversStore(table),
    age: createAgeStore(table),
    /** The setting. 0: the texts stay as long as the record. */
    keepPromptsDays: Number(on.environment('KEEP_PROMPTS_DAYS')),
    /** The creations whose second pass is due, by shard. */
    due: (of: 'ERASE' | 'RESULTS', nowMillis: number) =>
      openShards(of).map(
        (shard) => overdueIn(table, shard, nowMillis) as AsyncIterable<readonly CreationId[]>,
      ),
  };
}
