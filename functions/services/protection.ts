import { answerCloudFormation } from '../../adapters/custom-resource.ts';
import { createTableProtection } from '../../adapters/table-protection.ts';
import { commonOf } from './common.ts';
import { awsEnvironment } from './environment.ts';
import type { On } from './platform.ts';

/** For the function that protects the table. */
export type ProtectionServices = ReturnType<typeof openProtection>;

export function openProtection(on: On) {
  return {
    ...commonOf(on, 'protect-table'),
    protection: createTableProtection({ ...awsEnvironment(), clock: on.clock }),
    answer: answerCloudFormation,
  };
}
