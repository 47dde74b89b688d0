import { createUploadStore } from '../../adapters/dynamodb/upload-store.ts';
import { openApiWith } from './api.ts';
import type { ServicesOf } from './open.ts';
import type { On } from './platform.ts';

/** For the operation that announces an upload. It signs; it never reads or writes the bucket. */
export type UploadServices = ServicesOf<typeof openUpload>;

export function openUpload(on: On<'dynamodb' | 'uploadTargets'>) {
  const { uploadTargets } = on;
  return openApiWith(on, (store) => ({ uploadTargets, uploads: createUploadStore(store) }));
}
