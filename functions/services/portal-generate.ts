import { SFNClient } from '@aws-sdk/client-sfn';
import { callLimits } from '../../adapters/call-limits.ts';
import { createCharges } from '../../adapters/dynamodb/charge-store.ts';
import { createCreationReader } from '../../adapters/dynamodb/creation-reads.ts';
import { createHeldPlaces } from '../../adapters/dynamodb/held-places.ts';
import { createNoticeMarks } from '../../adapters/dynamodb/notice-store.ts';
import { putKey } from '../../adapters/dynamodb/put-key.ts';
import { createRequestStore } from '../../adapters/dynamodb/request-store.ts';
import { createUploadStore } from '../../adapters/dynamodb/upload-store.ts';
import { createUploadTargets } from '../../adapters/s3-upload-targets.ts';
import { createSignedSecret } from '../../adapters/signed-secret.ts';
import { createExecutions, createNoticeExecutions } from '../../adapters/step-functions.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import type { ApiKey } from '../../core/account.ts';
import { heldShare } from '../../core/limits.ts';
import type { UploadServices } from './upload.ts';
import type { BeforeCatalog } from '../../core/sold-catalog.ts';
import { openCatalogs } from './api.ts';
import { imageStore, stateMachines, table } from './clients.ts';
import { awsEnvironment, environment } from './environment.ts';
import type { OpenServices } from './open.ts';
import { outbound, outboundRules } from './outbound.ts';
import { openPortalBehind, type PortalServices } from './portal.ts';
import type { SubmitServices } from './submit.ts';

/** For the playground: what the API's own operations need, behind a session. */
export interface GenerateServices
  extends PortalServices, Omit<BeforeCatalog<SubmitServices>, 'uploads'>, UploadServices {
  /** Stores the key of the playground, unless it is stored already. */
  readonly keys: { readonly create: (key: ApiKey) => Promise<unknown> };
}

export function generateServices(): OpenServices<GenerateServices> {
  const shared = table();
  const catalogs = openCatalogs();
  const originSecrets = createSignedSecret({
    ...awsEnvironment(),
    secretArn: environment('ORIGIN_SECRET_ARN'),
    clock: systemClock,
  });
  const open = openPortalBehind(originSecrets, shared);
  const states = new SFNClient(callLimits());
  const noticeMachine = environment('NOTICE_MACHINE_ARN');
  const base = {
    outbound: outbound(),
    outboundRules: outboundRules(),
    resultsBaseUrl: environment('RESULTS_BASE_URL'),
    authFailureForm: 'envelope',
    topUpUrl: environment('TOP_UP_URL'),
    serviceCapacity: Number(environment('SERVICE_CAPACITY')),
    uploadTargets: createUploadTargets({ bucket: environment('IMAGES_BUCKET'), ...awsEnvironment() }),
  } as const;
  return () => {
    const portal = open();
    const { signal } = portal.budget;
    const store = { ...shared, signal };
    const onConflict = (creationId: string | undefined): void =>
      portal.log.info('charge_conflict', { creationId });
    return {
      ...portal,
      ...base,
      catalogs: catalogs(store),
      requests: createRequestStore(store),
      creations: createCreationReader(store),
      keys: { create: (key) => putKey(store, key) },
      charges: createCharges({ ...store, onConflict }),
      uploads: createUploadStore(store),
      executions: createExecutions(states, stateMachines(), signal),
      held: createHeldPlaces(store, 'generate', heldShare.least),
      notices: createNoticeMarks(store),
      noticeExecutions: createNoticeExecutions(states, noticeMachine, signal),
      images: imageStore(signal),
    };
  };
}
