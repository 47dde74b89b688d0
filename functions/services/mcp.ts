import { createChargeStore } from '../../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { mcpRequestMillis } from '../../core/limits.ts';
import type { BeforeCatalog } from '../../core/sold-catalog.ts';
import type { CancelApiServices } from './cancel.ts';
import { table } from './clients.ts';
import { stoppingProviders } from './configured.ts';
import type { OpenServices } from './open.ts';
import { submitServices, type SubmitServices } from './submit.ts';
import { tasks } from './tasks.ts';

/** For the tools of the MCP endpoint: what all of the API's operations behind them need. */
export type McpServices = Omit<SubmitServices, 'charges' | 'creations'> & CancelApiServices;

export function mcpServices(): OpenServices<BeforeCatalog<McpServices>> {
  const shared = table();
  const open = submitServices(shared, 'mcp', mcpRequestMillis);
  const providers = stoppingProviders(shared);
  return () => {
    const submit = open();
    const { signal } = submit.budget;
    const onConflict = (creationId: string | undefined): void =>
      submit.log.info('charge_conflict', { creationId });
    return {
      ...submit,
      creations: createCreationStore({ ...shared, signal }),
      charges: createChargeStore({ ...shared, signal, onConflict }),
      tasks: tasks(submit.log, signal),
      providers,
    };
  };
}
