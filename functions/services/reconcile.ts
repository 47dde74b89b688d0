import { SFNClient } from '@aws-sdk/client-sfn';
import { callLimits } from '../../adapters/call-limits.ts';
import { createChargeStore } from '../../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { createOpenWorkStore } from '../../adapters/dynamodb/open-work-store.ts';
import { createNoticeStore } from '../../adapters/dynamodb/notice-store.ts';
import { createExecutions, createNoticeExecutions } from '../../adapters/step-functions.ts';
import type { ChargeStore } from '../../core/ports/charges.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { Executions, OpenWorkStore } from '../../core/ports/executions.ts';
import type { NoticeExecutions, NoticeStore } from '../../core/ports/notices.ts';
import { commonServices, stateMachines, table, type CommonServices } from './clients.ts';
import { environment } from './environment.ts';

export interface ReconcileServices extends CommonServices {
  readonly creations: CreationStore;
  readonly charges: ChargeStore;
  readonly openWork: OpenWorkStore;
  readonly executions: Executions;
  readonly notices: NoticeStore;
  readonly noticeExecutions: NoticeExecutions;
  /** StartExecution calls that Step Functions allows a second, for all who start executions together. */
  readonly startsPerSecond: number;
}

export function reconcileServices(): ReconcileServices {
  const store = table();
  const states = new SFNClient(callLimits());
  const common = commonServices('reconcile');
  return {
    ...common,
    creations: createCreationStore(store),
    charges: createChargeStore(store),
    openWork: createOpenWorkStore(store),
    executions: createExecutions(states, stateMachines()),
    notices: createNoticeStore(store),
    noticeExecutions: createNoticeExecutions(states, environment('NOTICE_MACHINE_ARN')),
    startsPerSecond: Number(environment('STARTS_PER_SECOND')),
  };
}
