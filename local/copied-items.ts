/** The items in a copy of the tables, for the operator's command. */
import path from 'node:path';
import type { Item } from './dynamodb/attributes.ts';
import { realFiles } from './dynamodb/journal/file-operations.ts';
import { loadFolder } from './dynamodb/journal/load-folder.ts';
import type { StoredChange } from './dynamodb/storage.ts';

/** In the order of their keys. Throws FolderRefused when the copy is damaged. */
export async function itemsInCopy(folder: string, table: string): Promise<Item[]> {
  const items = new Map<string, Item>();
  const apply = (change: StoredChange): void => {
    if (change.table !== table) return;
    if ('put' in change) items.set(keyOf(change.put), change.put);
    else items.delete(keyOf(change.delete));
  };
  await loadFolder(realFiles, path.join(folder, 'tables'), (record) => {
    if (record.kind === 'commit') record.changes.forEach(apply);
  });
  return [...items].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, item]) => item);
}

function keyOf({ pk, sk }: Item): string {
  return `${pk?.S ?? ''}\n${sk?.S ?? ''}`;
}
