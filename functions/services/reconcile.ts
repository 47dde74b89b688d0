import { SFNClient } from '@aws-sdk/client-sfn';
import { callLimits } from '../../adapters/call-limits.ts';
import { createChargeStore } from '../../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { createOpenWorkStore } from '../../adapters/dynamodb/open-work-store.ts';
import { createExecutions } from '../../adapters/step-functions.ts';
import type { ChargeStore } from '../../core/ports/charges.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { Executions, OpenWorkStore } from '../../core/ports/executions.ts';
import { commonServices, stateMachines, table, type CommonServices } from './clients.ts';
import { environment } from './environment.ts';

export interface ReconcileServices extends CommonServices {
  readonly creations: CreationStore;
  readonly charges: ChargeStore;
  readonly openWork: OpenWorkStore;
  readonly executions: Executions;
  /** StartExecution calls that Step Functions allows a second, for all who start executions together. */
  readonly startsPerSecond: number;
}

export function reconcileServices(): ReconcileServices {
  const store = table();
  return {
    ...commonServices('reconcile'),
    creations: createCreationStore(store),
    charges: createChargeStore(store),
    openWork: createOpenWorkStore(store),
    executions: createExecutions(new SFNClient(callLimits()), stateMachines()),
    startsPerSecond: Number(environment('STARTS_PER_SECOND')),
  };
}
