import { createCharges } from '../../adapters/dynamodb/charge-store.ts';
import { createHeldPlaces } from '../../adapters/dynamodb/held-places.ts';
import { createNoticeMarks } from '../../adapters/dynamodb/notice-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { createUploadReader } from '../../adapters/dynamodb/upload-store.ts';
import { createExecutions, createNoticeExecutions } from '../../adapters/step-functions.ts';
import { notedCharges, notedStarts } from '../../core/open-notes.ts';
import type { Door } from '../../core/ports/held.ts';
import type { AfterCatalog } from '../../core/sold-catalog.ts';
import { notesOver, serviceCapacity } from './admission.ts';
import { catalogsOf, openApiWith, type CatalogPlatform } from './api.ts';
import { machinesOf, type CommonServices } from './common.ts';
import { outboundRules } from './environment.ts';
import type { ServicesOf } from './open.ts';
import type { On } from './platform.ts';

export type SubmitPlatform = CatalogPlatform & On<'states' | 'images' | 'outbound' | 'nextTurn'>;
/** For the operation that charges. */
export type SubmitServices = Omit<AfterCatalog<ServicesOf<typeof openSubmit>>, 'notes'>;

/**
 * What charges, behind a key or a session.
 * @param door where requests are held
 * @param heldLimit how many requests of an account are held at once
 */
export function charging(on: SubmitPlatform, component: string, door: Door, heldLimit: number) {
  const catalogs = catalogsOf(on);
  const openNotes = notesOver(on, component);
  const machines = machinesOf(on);
  const noticeMachine = on.environment('NOTICE_MACHINE_ARN');
  const base = {
    outbound: on.outbound,
    outboundRules: outboundRules(on.environment),
    /** The page where a client tops up its wallet. Named in a 402. */
    topUpUrl: on.environment('TOP_UP_URL'),
    serviceCapacity: serviceCapacity(on),
    nextTurn: on.nextTurn,
  };
  return (store: Table, { log }: Pick<CommonServices, 'log'>) => {
    const { signal } = store;
    const notes = openNotes({ log });
    return {
      ...base,
      catalogs: catalogs(store),
      notes,
      charges: notedCharges(createCharges(loggingConflicts(store, log)), notes),
      uploads: createUploadReader(store),
      executions: notedStarts(createExecutions(on.states, machines, signal), notes),
      /** Where the request can wait for its creations. */
      held: createHeldPlaces(store, door, heldLimit),
      notices: createNoticeMarks(store),
      noticeExecutions: createNoticeExecutions(on.states, noticeMachine, signal),
      images: on.images(signal),
    };
  };
}

export function loggingConflicts(store: Table, log: CommonServices['log']): Table {
  return { ...store, onConflict: (creationId) => log.info('charge_conflict', { creationId }) };
}

/** @param millis the time of a request */
export function openSubmit(on: SubmitPlatform, door: Door = 'generate', millis?: number) {
  const charge = charging(on, 'api', door, Number(on.environment('HELD_LIMIT')));
  return openApiWith(on, charge, millis);
}
