import { createChargeStore } from '../../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { createRequestStore } from '../../adapters/dynamodb/request-store.ts';
import { createNoticeMarks } from '../../adapters/dynamodb/notice-store.ts';
import { createUploadReader } from '../../adapters/dynamodb/upload-store.ts';
import { createCallingVendors } from '../../adapters/providers/calling-vendors.ts';
import { createExecutions, createNoticeExecutions } from '../../adapters/step-functions.ts';
import { callLimits } from '../../adapters/call-limits.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import { SFNClient } from '@aws-sdk/client-sfn';
import { mcpRequestMillis } from '../../core/limits.ts';
import type { ChargeStore } from '../../core/ports/charges.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import { startBudget } from '../../core/time-budget.ts';
import { catalog } from './api.ts';
import type { CancelApiServices } from './cancel.ts';
import { commonServices, imageStore, stateMachines, table } from './clients.ts';
import { environment } from './environment.ts';
import type { OpenServices } from './open.ts';
import { outbound, outboundRules } from './outbound.ts';
import type { SubmitServices } from './submit.ts';
import { tasks } from './tasks.ts';
import { vendorAccess } from './vendor-access.ts';

/** For the tools of the MCP endpoint: what all of the API's operations behind them need. */
export interface McpServices extends Omit<SubmitServices, 'charges' | 'creations'>, CancelApiServices {
  readonly charges: ChargeStore;
  readonly creations: CreationStore;
}

export function mcpServices(): OpenServices<McpServices> {
  const shared = table();
  const states = new SFNClient(callLimits());
  const noticeMachine = environment('NOTICE_MACHINE_ARN');
  const base = {
    ...commonServices('mcp'),
    catalog,
    outbound: outbound(),
    outboundRules: outboundRules(),
    resultsBaseUrl: environment('RESULTS_BASE_URL'),
    // The endpoint answers in the form of JSON-RPC, whatever the deployment has chosen for the API.
    authFailureForm: 'envelope',
    topUpUrl: environment('TOP_UP_URL'),
    providers: new Map(createCallingVendors(vendorAccess()).map((vendor) => [vendor.name, vendor])),
  } as const;
  return () => {
    const budget = startBudget(systemClock, mcpRequestMillis);
    const { signal } = budget;
    const store = { ...shared, signal };
    const onConflict = (creationId: string | undefined): void =>
      base.log.info('charge_conflict', { creationId });
    return {
      ...base,
      budget,
      requests: createRequestStore(store),
      creations: createCreationStore(store),
      charges: createChargeStore({ ...store, onConflict }),
      uploads: createUploadReader(store),
      executions: createExecutions(states, stateMachines(), signal),
      notices: createNoticeMarks(store),
      noticeExecutions: createNoticeExecutions(states, noticeMachine, signal),
      images: imageStore(signal),
      tasks: tasks(base.log, signal),
    };
  };
}
