import { createExecutions } from '../creations/executions.ts';
import { openRefund } from '../creations/open-refund.ts';
import { createOpenWorkStore } from '../creations/open-work-store.ts';
import { createNoticeExecutions } from '../notices/notice-executions.ts';
import { createNoticeStore } from '../notices/notice-store.ts';
import { machinesOf, tableOf } from '../platform/common.ts';
import type { On } from '../platform/platform.ts';

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
