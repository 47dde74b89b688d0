import type { OpenWorkStore } from '../../service/creations/open-work-store.ts';

/** The overdue creations of all shards. The shards are read at the same time, as the reconciler does. */
export async function overdueIds(store: OpenWorkStore, atMillis: number): Promise<readonly string[]> {
  const lists = store.overdue(atMillis).map(async (pages) => {
    const ids: string[] = [];
    for await (const page of pages) ids.push(...page);
    return ids;
  });
  return (await Promise.all(lists)).flat();
}
