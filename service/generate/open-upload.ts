import { openApiWith } from '../api/open.ts';
import type { ServicesOf } from '../platform/opener.ts';
import type { On } from '../platform/platform.ts';
import { createUploadStore } from '../uploads/upload-store.ts';

/** For the operation that announces an upload. It signs; it never reads or writes the bucket. */
export type UploadServices = ServicesOf<typeof openUpload>;

export function openUpload(on: On<'dynamodb' | 'uploadTargets'>) {
  const { uploadTargets } = on;
  return openApiWith(on, (store) => ({ uploadTargets, uploads: createUploadStore(store) }));
}
