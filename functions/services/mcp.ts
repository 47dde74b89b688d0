import { mcpRequestMillis } from '../../core/limits.ts';
import type { AfterCatalog } from '../../core/sold-catalog.ts';
import { openApiWith } from './api.ts';
import { cancelling, type CancelPlatform } from './cancel.ts';
import type { ServicesOf } from './open.ts';
import { charging, loggingConflicts, type SubmitPlatform } from './submit.ts';

/** For the tools of the MCP endpoint: what all of the API's operations behind them need. */
export type McpServices = AfterCatalog<ServicesOf<typeof openMcp>>;

export function openMcp(on: SubmitPlatform & CancelPlatform) {
  const charge = charging(on, 'mcp', Number(on.environment('HELD_LIMIT')));
  const cancel = cancelling(on);
  return openApiWith(
    on,
    (store, api) => ({ ...charge(store, api), ...cancel(loggingConflicts(store, api.log), api) }),
    mcpRequestMillis,
  );
}
