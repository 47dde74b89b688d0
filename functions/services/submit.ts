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
}

/**
 * @param door where requests are held
 * @param millis the time of a request
 */
export function submitServices(
  shared = table(),
  door: Door = 'generate',
  millis = requestMillis,
): OpenServices<BeforeCatalog<SubmitServices>> {
  const open = openApi(shared, millis);
  const catalogs = openCatalogs();
  const states = new SFNClient(callLimits());
  const heldLimit = Number(environment('HELD_LIMIT'));
  const base = {
    outbound: outbound(),
    outboundRules: outboundRules(),
    topUpUrl: environment('TOP_UP_URL'),
    serviceCapacity: Number(environment('SERVICE_CAPACITY')),
  };
  return () => {
    const api = open();
    const { signal } = api.budget;
    const onConflict = (creationId: string | undefined): void =>
      api.log.info('charge_conflict', { creationId });
    return {
      ...api,
      ...base,
      catalogs: catalogs({ ...shared, signal }),
      charges: createCharges({ ...shared, signal, onConflict }),
      uploads: createUploadReader({ ...shared, signal }),
      executions: createExecutions(states, stateMachines(), signal),
      held: createHeldPlaces({ ...shared, signal }, door, heldLimit),
      notices: createNoticeMarks({ ...shared, signal }),
      noticeExecutions: createNoticeExecutions(states, environment('NOTICE_MACHINE_ARN'), signal),
      images: imageStore(signal),
    };
  };
}
