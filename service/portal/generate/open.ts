import type { PortalOperationName } from '../../contract/operations.ts';
import type { PortalHandle } from '../http/caller.ts';
import type { ApiKey } from '../../accounts/account.ts';
import { putKey } from '../../accounts/key-store.ts';
import { cancelling, type CancelPlatform } from '../../api/open.ts';
import { openRefusals } from '../../api/refusal-store.ts';
import { createRequestStore } from '../../api/request-store.ts';
import { heldShare } from '../../contract/limits.ts';
import { createCreationReader } from '../../creations/creation-reads.ts';
import { charging, type SubmitPlatform } from '../../generate/open.ts';
import { commonOf, resultsOf, type ServicesOf } from '../../platform/common.ts';
import type { On } from '../../platform/platform.ts';
import { createUploadStore } from '../../uploads/upload-store.ts';
import { openPortalWith, type PortalPlatform } from '../open.ts';

export type GenerateServices = ServicesOf<typeof openPortalGenerate>;
export type GenerateHandle<Name extends PortalOperationName> = PortalHandle<Name, GenerateServices>;

export function openPortalGenerate(on: PortalPlatform & SubmitPlatform & On<'uploadTargets'>) {
  const charge = charging(on, 'generate', heldShare.least);
  const base = {
    results: resultsOf(on),
    authFailureForm: 'envelope' as const,
    uploadTargets: on.uploadTargets,
  };
  const refusals = openRefusals(on, commonOf(on, 'portal'));
  return openPortalWith(on, (store, portal) => ({
    ...charge(store, portal),
    ...base,
    refusals: refusals(),
    requests: createRequestStore(store),
    creations: createCreationReader(store),
    uploads: createUploadStore(store),
    keys: { create: (key: ApiKey): Promise<unknown> => putKey(store, key) },
  }));
}

export type PortalCancelServices = ServicesOf<typeof openPortalCancel>;

export function openPortalCancel(on: PortalPlatform & CancelPlatform) {
  const cancel = cancelling(on);
  return openPortalWith(on, (store, portal) => cancel(store, portal));
}
