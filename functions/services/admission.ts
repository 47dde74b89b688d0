/** What the functions that begin and end creations need to keep the running count (core/open-count.ts). */
import { createOpenCountStore } from '../../adapters/dynamodb/open-count-store.ts';
import { openNotes, type OpenNotes, type OwedNotes } from '../../core/open-notes.ts';
import { tableOf, type CommonServices } from './common.ts';
import type { On } from './platform.ts';

/** The setting: how many creations may be open at once in the whole service. */
export function serviceCapacity({ environment }: On): number {
  return Number(environment('SERVICE_CAPACITY'));
}

/**
 * The notes of an environment, for each of its requests. The time of a request does not limit a note.
 * @param component the function whose environments owe notes
 */
export function notesOver(
  on: On<'dynamodb'>,
  component: string,
): (common: Pick<CommonServices, 'log'>) => OpenNotes {
  const openCount = createOpenCountStore(tableOf(on));
  const capacity = serviceCapacity(on);
  const owed = on.remembered<OwedNotes>(`notes of ${component}`, () => ({ sum: 0 }));
  return ({ log }) => openNotes({ clock: on.clock, log, openCount, serviceCapacity: capacity, owed: owed() });
}
