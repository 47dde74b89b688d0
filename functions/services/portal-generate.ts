import { createCreationReader } from '../../adapters/dynamodb/creation-reads.ts';
import { putKey } from '../../adapters/dynamodb/put-key.ts';
import { createRequestStore } from '../../adapters/dynamodb/request-store.ts';
import { createUploadStore } from '../../adapters/dynamodb/upload-store.ts';
import type { ApiKey } from '../../core/account.ts';
import { heldShare } from '../../core/limits.ts';
import type { ServicesOf } from './open.ts';
import type { On } from './platform.ts';
import { openPortalWith, type PortalPlatform } from './portal.ts';
import { charging, type SubmitPlatform } from './submit.ts';

/** For the playground: what the API's own operations need, behind a session. */
export type GenerateServices = ServicesOf<typeof openPortalGenerate>;

export function openPortalGenerate(on: PortalPlatform & SubmitPlatform & On<'uploadTargets'>) {
  const charge = charging(on, 'generate', heldShare.least);
  const base = {
    resultsBaseUrl: on.environment('RESULTS_BASE_URL'),
    authFailureForm: 'envelope' as const,
    uploadTargets: on.uploadTargets,
  };
  return openPortalWith(on, (store, portal) => ({
    ...charge(store, portal),
    ...base,
    requests: createRequestStore(store),
    creations: createCreationReader(store),
    uploads: createUploadStore(store),
    /** Stores the key of the playground, unless it is stored already. */
    keys: { create: (key: ApiKey): Promise<unknown> => putKey(store, key) },
  }));
}
