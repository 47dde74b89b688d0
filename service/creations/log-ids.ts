import { executionName } from '../values/ids.ts';
import type { CreationRecord } from './creation.ts';

/**
 * The ids of a creation for its log lines.
 * @param execution by default the last, which nearly always writes the line
 */
export function idsOf(
  { id, accountId, executions }: CreationRecord,
  execution = executions,
): Readonly<Record<string, string>> {
  return { creationId: id, accountId, executionId: executionName(id, execution) };
}
