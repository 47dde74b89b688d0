import { cancelling, type CancelPlatform, openApiWith } from '../api/open.ts';
import type { AfterCatalog } from '../catalog/sold-catalog.ts';
import { mcpRequestMillis } from '../contract/limits.ts';
import { charging, loggingConflicts, type SubmitPlatform } from '../generate/open.ts';
import type { ServicesOf } from '../platform/common.ts';

/** The services of all API operations that the tools of the MCP endpoint call. */
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
