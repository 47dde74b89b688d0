/** What the functions that begin and end creations need to keep the running count (core/open-count.ts). */
import { createOpenCountStore } from '../../adapters/dynamodb/open-count-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { openNotes, type OpenNotes } from '../open-notes.ts';
import type { CommonServices } from './clients.ts';
import { environment } from './environment.ts';

/** The setting: how many creations may be open at once in the whole service. */
export function serviceCapacity(): number {
  return Number(environment('SERVICE_CAPACITY'));
}

/** @param shared the table of the function: the time of a request does not limit a note */
export function notesOver(shared: Table, { clock, log }: Pick<CommonServices, 'clock' | 'log'>): OpenNotes {
  return openNotes({
    clock,
    log,
    openCount: createOpenCountStore(shared),
    serviceCapacity: serviceCapacity(),
  });
}
