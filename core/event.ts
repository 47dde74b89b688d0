/** An event as its client sees it (docs/api.md, "Events"). */
import { resultUrls, type CreationRecord } from './creation.ts';
import { eventIdOfEnd, timeOfEvent } from './ids.ts';
import type { NoticeRecord } from './notice.ts';
import type { EventEntry } from './ports/events.ts';
import { endedEvent, webhookBody } from './webhook.ts';

export interface EventView {
  readonly id: string;
  readonly event: string;
  readonly created_at: string;
  /** The body of the webhook or the notice. Its JSON text is the body, byte for byte. */
  readonly payload: unknown;
  readonly redelivery_of: string | null;
}

export function eventView(
  entry: EventEntry,
  record: CreationRecord | NoticeRecord,
  resultsBaseUrl: string,
): EventView {
  return {
    id: entry.id,
    event: 'type' in record ? record.type : endedEvent(record),
    created_at: new Date(timeOfEvent(entry.id)).toISOString(),
    payload: JSON.parse(bodyOf(record, resultsBaseUrl)) as unknown,
    redelivery_of: entry.again && !('type' in record) ? firstEventOf(record) : null,
  };
}

/** The id of the event of the end. */
function firstEventOf({ id, completedAt = '' }: CreationRecord): string {
  return eventIdOfEnd(id, Date.parse(completedAt));
}

/**
 * The stored body, if an attempt was made. Otherwise the body as the first attempt makes it. The addresses of the
 * results are those at the end of the creation, so that each reading gives the same payload.
 */
function bodyOf(record: CreationRecord | NoticeRecord, resultsBaseUrl: string): string {
  const stored = record.webhook?.body;
  if (stored !== undefined) return stored;
  if ('type' in record) throw new Error('a notice has its body from its beginning');
  const endedAt = Date.parse(record.completedAt ?? '');
  return webhookBody(record, resultUrls(record, resultsBaseUrl, endedAt));
}
