import { createNoticeStore } from '../../adapters/dynamodb/notice-store.ts';
import { createOpenWorkStore } from '../../adapters/dynamodb/open-work-store.ts';
import { createExecutions, createNoticeExecutions } from '../../adapters/step-functions.ts';
import { machinesOf, tableOf } from './common.ts';
import type { On } from './platform.ts';
import { openRefund } from './refund.ts';

export type ReconcileServices = ReturnType<typeof openReconcile>;

export function openReconcile(on: On<'dynamodb' | 'states'>) {
  const table = tableOf(on);
  return {
    ...openRefund(on, 'reconcile'),
    openWork: createOpenWorkStore(table),
    executions: createExecutions(on.states, machinesOf(on)),
    notices: createNoticeStore(table),
    noticeExecutions: createNoticeExecutions(on.states, on.environment('NOTICE_MACHINE_ARN')),
    /** StartExecution calls that Step Functions allows a second, for all who start executions together. */
    startsPerSecond: Number(on.environment('STARTS_PER_SECOND')),
  };
}
