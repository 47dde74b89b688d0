import { createTopUpState } from '../accounts/top-up-state-reads.ts';
import { createHeldSlots } from '../api/held-slots-store.ts';
import { type CatalogPlatform, catalogsOf, openApiWith } from '../api/open.ts';
import type { Door, Table } from '../aws/dynamodb/table.ts';
import type { AfterCatalog } from '../catalog/sold-catalog.ts';
import { createCharges } from '../creations/charge-store.ts';
import { createExecutions } from '../creations/executions.ts';
import { signedMinutesBy } from '../creations/result-addresses.ts';
import { createNoticeExecutions } from '../notices/notice-executions.ts';
import { createNoticeMarks } from '../notices/notice-store.ts';
import { type CommonServices, machinesOf, type ServicesOf } from '../platform/common.ts';
import { outboundRules } from '../platform/environment.ts';
import type { On } from '../platform/platform.ts';
import { createUploadReader, createUploadStore } from '../uploads/upload-store.ts';

export type SubmitPlatform = CatalogPlatform & On<'states' | 'images' | 'outbound'>;
export type SubmitServices = AfterCatalog<ServicesOf<typeof openSubmit>>;

/** The services that charge, for a key or a session. @param heldLimit how many requests an account may hold */
export function charging(on: SubmitPlatform, door: Door, heldLimit: number) {
  const catalogs = catalogsOf(on);
  const machines = machinesOf(on);
  const noticeMachine = on.environment('NOTICE_MACHINE_ARN');
  const base = {
    outbound: on.outbound,
    outboundRules: outboundRules(on.environment),
    /** The page where a client tops up its wallet. Named in a 402. */
    topUpUrl: on.environment('TOP_UP_URL'),
    serviceCapacity: Number(on.environment('SERVICE_CAPACITY')),
    signedMinutesOf: signedMinutesBy(on.environment('RESULTS')),
  };
  return (store: Table, { log }: Pick<CommonServices, 'log'>) => {
    const { signal } = store;
    return {
      ...base,
      topUpState: createTopUpState(store),
      catalogs: catalogs(store),
      charges: createCharges(loggingConflicts(store, log)),
      uploads: createUploadReader(store),
      executions: createExecutions(on.states, machines, signal),
      held: createHeldSlots(store, door, heldLimit),
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
  const charge = charging(on, door, Number(on.environment('HELD_LIMIT')));
  return openApiWith(on, charge, millis);
}

/** For the operation that announces an upload. It signs; it never reads or writes the bucket. */
export type UploadServices = ServicesOf<typeof openUpload>;

export function openUpload(on: On<'dynamodb' | 'uploadTargets'>) {
  const { uploadTargets } = on;
  return openApiWith(on, (store) => ({ uploadTargets, uploads: createUploadStore(store) }));
}
