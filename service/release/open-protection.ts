import { commonOf } from '../platform/common.ts';
import { awsEnvironment } from '../platform/environment.ts';
import type { On } from '../platform/platform.ts';
import { answerCloudFormation } from './custom-resource.ts';
import { createTableProtection } from './table-protection.ts';

/** For the function that protects the table. */
export type ProtectionServices = ReturnType<typeof openProtection>;

export function openProtection(on: On) {
  return {
    ...commonOf(on, 'protect-table'),
    protection: createTableProtection({ ...awsEnvironment(), clock: on.clock }),
    answer: answerCloudFormation,
  };
}
