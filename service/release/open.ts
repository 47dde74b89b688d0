import { fileURLToPath } from 'node:url';
import { commonOf } from '../platform/common.ts';
import { awsEnvironment } from '../platform/environment.ts';
import type { On } from '../platform/platform.ts';
import { answerCloudFormation } from './custom-resource.ts';
import { createPageFiles, createPageStore } from './page-files.ts';
import { createSecretCalls } from './secret-calls.ts';
import { createTableProtection } from './table-protection.ts';

export type PagesServices = ReturnType<typeof openPages>;

export function openPages(on: On) {
  const { environment } = on;
  const bucket = environment('PAGES_BUCKET');
  return {
    ...commonOf(on, 'publish-pages'),
    // The bundle has the pages beside its code.
    files: createPageFiles(fileURLToPath(new URL('pages/', import.meta.url))),
    store: createPageStore({ bucket, ...awsEnvironment(), clock: on.clock }),
    bucket,
    addresses: { portalUrl: environment('PORTAL_URL'), apiUrl: environment('API_URL') },
    answer: answerCloudFormation,
  };
}

export type ProtectionServices = ReturnType<typeof openProtection>;

export function openProtection(on: On) {
  return {
    ...commonOf(on, 'protect-table'),
    protection: createTableProtection({ ...awsEnvironment(), clock: on.clock }),
    secrets: createSecretCalls({ ...awsEnvironment(), clock: on.clock, randomBytes: on.randomBytes }),
    answer: answerCloudFormation,
  };
}
