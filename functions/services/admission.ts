/** What the functions that begin and end creations need to keep the running count (core/open-count.ts). */
import { createOpenCountStore } from '../../adapters/dynamodb/open-count-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { openNotes, type OpenNotes } from '../../core/open-notes.ts';
import { randomness, type CommonServices } from './clients.ts';
import { environment } from './environment.ts';

/** The setting: how many creations may be open at once in the whole service. */
export function serviceCapacity(): number {
  return Number(environment('SERVICE_CAPACITY'));
}

/** The turns of the creations of this environment (core/open-count.ts). The first turn is random. */
export function sampleTurns(): () => number {
  let turn = randomness(1)[0] ?? 0;
  return () => (turn += 1);
}

/**
 * The notes of an environment, for each of its requests.
 * @param shared the table of the function: the time of a request does not limit a note
 */
export function notesOver(shared: Table): (common: Pick<CommonServices, 'clock' | 'log'>) => OpenNotes {
  const ofEnvironment = {
    openCount: createOpenCountStore(shared),
    serviceCapacity: serviceCapacity(),
    owed: { sum: 0 },
  };
  return ({ clock, log }) => openNotes({ clock, log, ...ofEnvironment });
}
