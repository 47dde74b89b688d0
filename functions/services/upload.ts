import { createUploadStore } from '../../adapters/dynamodb/upload-store.ts';
import { createUploadTargets } from '../../adapters/s3-upload-targets.ts';
import type { UploadStore, UploadTargets } from '../../core/ports/uploads.ts';
import { openApi, type ApiServices } from './api.ts';
import { table } from './clients.ts';
import { awsEnvironment, environment } from './environment.ts';
import type { OpenServices } from './open.ts';

/** For the operation that announces an upload. It signs; it never reads or writes the bucket. */
export interface UploadServices extends ApiServices {
  readonly uploads: UploadStore;
  readonly uploadTargets: UploadTargets;
}

export function uploadServices(): OpenServices<UploadServices> {
  const shared = table();
  const open = openApi(shared);
  const uploadTargets = createUploadTargets({ bucket: environment('IMAGES_BUCKET'), ...awsEnvironment() });
  return () => {
    const api = open();
    return { ...api, uploadTargets, uploads: createUploadStore({ ...shared, signal: api.budget.signal }) };
  };
}
