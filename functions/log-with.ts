import { executionName, type CreationRecord } from '../core/creation.ts';
import type { NoticeRecord } from '../core/notice.ts';
import type { Log } from '../core/ports/runtime.ts';

/**
 * The same services with a log that adds these ids to every line: of the request, the account or the
 * creation.
 */
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

/** The ids of a notice for its log lines. */
export function noticeIdsOf(
  { id, accountId, executions }: NoticeRecord,
  execution = executions,
): Readonly<Record<string, string>> {
  return { noticeId: id, accountId, executionId: executionName(id, execution) };
}
