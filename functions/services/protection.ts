import { answerCloudFormation } from '../../adapters/custom-resource.ts';
import { createTableProtection } from '../../adapters/table-protection.ts';
import type { TableProtection } from '../../core/ports/table-protection.ts';
import { commonServices, type CommonServices } from './common.ts';
import { awsEnvironment } from './environment.ts';

/** For the function that protects the table. */
export interface ProtectionServices extends CommonServices {
  readonly protection: TableProtection;
  readonly answer: (url: string, answer: object) => Promise<void>;
}

export function protectionServices(): ProtectionServices {
  const common = commonServices('protect-table');
  return {
    ...common,
    protection: createTableProtection({ ...awsEnvironment(), clock: common.clock }),
    answer: answerCloudFormation,
  };
}
