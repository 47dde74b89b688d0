import { SFNClient } from '@aws-sdk/client-sfn';
import { callLimits } from '../../adapters/call-limits.ts';
import { createCharges } from '../../adapters/dynamodb/charge-store.ts';
import { createHeldPlaces } from '../../adapters/dynamodb/held-places.ts';
import { createNoticeMarks } from '../../adapters/dynamodb/notice-store.ts';
import { createUploadReader } from '../../adapters/dynamodb/upload-store.ts';
import { createExecutions, createNoticeExecutions } from '../../adapters/step-functions.ts';
import { requestMillis } from '../../core/limits.ts';
import type { Charges } from '../../core/ports/charges.ts';
import type { Executions } from '../../core/ports/executions.ts';
import type { Door, HeldPlaces } from '../../core/ports/held.ts';
import type { NoticeExecutions, NoticeMarks } from '../../core/ports/notices.ts';
import type { ImageStore } from '../../core/ports/images.ts';
import type { Outbound } from '../../core/ports/outbound.ts';
import type { BeforeCatalog } from '../../core/sold-catalog.ts';
import { notedCharges, notedStarts, type OpenNotes } from '../../core/open-notes.ts';
import { notesOver, sampleTurns, serviceCapacity } from './admission.ts';
import { openApi, openCatalogs, type QuoteServices } from './api.ts';
import { imageStore, stateMachines, table } from './clients.ts';
import { environment } from './environment.ts';
import type { OpenServices } from './open.ts';
import { outbound, outboundRules } from './outbound.ts';

/** For the operation that charges. */
export interface SubmitServices extends QuoteServices {
  readonly charges: Charges;
  readonly executions: Executions;
  readonly notices: NoticeMarks;
  readonly noticeExecutions: NoticeExecutions;
  readonly outbound: Outbound;
  /** Where the request can wait for its creations. */
  readonly held: HeldPlaces;
  readonly images: ImageStore;
  /** The page where a client tops up its wallet. Named in a 402. */
  readonly topUpUrl: string;
  /** How many creations may be open at once in the whole service. */
  readonly serviceCapacity: number;
  /** The turn of a new creation in the sample of open creations. Each call gives the next one. */
  readonly nextTurn: () => number;
}

/**
 * @param door where requests are held
 * @param millis the time of a request
 */
export function submitServices(
  shared = table(),
  door: Door = 'generate',
  millis = requestMillis,
): OpenServices<BeforeCatalog<SubmitServices> & { readonly notes: OpenNotes }> {
  const open = openApi(shared, millis);
  const catalogs = openCatalogs();
  const states = new SFNClient(callLimits());
  const openNotes = notesOver(shared);
  const heldLimit = Number(environment('HELD_LIMIT'));
  const base = {
    outbound: outbound(),
    outboundRules: outboundRules(),
    topUpUrl: environment('TOP_UP_URL'),
    serviceCapacity: serviceCapacity(),
    nextTurn: sampleTurns(),
  };
  return () => {
    const api = open();
    const { signal } = api.budget;
    const notes = openNotes(api);
    const onConflict = (creationId: string | undefined): void =>
      api.log.info('charge_conflict', { creationId });
    return {
      ...api,
      ...base,
      catalogs: catalogs({ ...shared, signal }),
      notes,
      charges: notedCharges(createCharges({ ...shared, signal, onConflict }), notes),
      uploads: createUploadReader({ ...shared, signal }),
      executions: notedStarts(createExecutions(states, stateMachines(), signal), notes),
      held: createHeldPlaces({ ...shared, signal }, door, heldLimit),
      notices: createNoticeMarks({ ...shared, signal }),
      noticeExecutions: createNoticeExecutions(states, environment('NOTICE_MACHINE_ARN'), signal),
      images: imageStore(signal),
    };
  };
}
