import { executionName, type CreationRecord } from '../core/creation.ts';
import type { Log } from '../core/ports/runtime.ts';

/** The same services, whose log says with each line what it belongs to: request, account, creation. */
export function logWith<Services extends { readonly log: Log }>(
  services: Services,
  ids: Readonly<Record<string, string | undefined>>,
): Services {
  const { log } = services;
  return {
    ...services,
    log: {
      info: (event, fields) => log.info(event, { ...ids, ...fields }),
      alarm: (event, fields) => log.alarm(event, { ...ids, ...fields }),
    },
  };
}

/** Of a creation; its last execution, which is nearly always the one that speaks. */
export function idsOf(
  { id, accountId, executions }: CreationRecord,
  execution = executions,
): Readonly<Record<string, string>> {
  return { creationId: id, accountId, executionId: executionName(id, execution) };
}
