/** The log of an account's events. */
import { createHash } from 'node:crypto';
import { type CreationRecord, hasDeletedImages, resultUrls } from '../creations/creation.ts';
import type { EventEntry } from '../creations/event-items.ts';
import type { AddressOf } from '../creations/result-addresses.ts';
import type { NoticeRecord } from '../notices/notice.ts';
import { type AccountId, eventIdOfEnd, timeOfEvent } from '../values/ids.ts';
import { endedEvent, webhookBody } from '../webhooks/webhook.ts';

/** A position between two events of the log: `index` events of the page are before it. */
export interface EventPosition {
  readonly page: number;
  readonly index: number;
}

export interface PlacedEvent extends EventEntry {
  readonly next: EventPosition;
}

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
  addressOf: AddressOf,
  nowMillis: number,
): EventView {
  return {
    id: entry.id,
    event: 'type' in record ? record.type : endedEvent(record),
    created_at: new Date(timeOfEvent(entry.id)).toISOString(),
    payload: payloadOf(record, addressOf, nowMillis),
    redelivery_of: entry.again && !('type' in record) ? firstEventOf(record) : null,
  };
}

function firstEventOf({ id, completedAt = '' }: CreationRecord): string {
  return eventIdOfEnd(id, Date.parse(completedAt));
}

/**
 * The stored body, or as the first attempt makes it. An erasure changes what a reading shows. Each reading makes signed
 * addresses anew, and shows none of deleted results.
 */
function payloadOf(record: CreationRecord | NoticeRecord, addressOf: AddressOf, nowMillis: number): unknown {
  const stored = record.webhook?.body;
  if ('type' in record) {
    if (stored === undefined) throw new Error('a notice has its body from its beginning');
    return JSON.parse(stored);
  }
  const { signedMinutes } = record;
  const urls = (at: number): string[] => resultUrls(record, addressOf, at);
  if (stored === undefined)
    return JSON.parse(
      webhookBody(
        record,
        urls(signedMinutes === undefined ? Date.parse(record.completedAt ?? '') : nowMillis),
      ),
    );
  const payload = JSON.parse(stored) as Readonly<Record<string, unknown>>;
  const isAsStored = signedMinutes === undefined && !hasDeletedImages(record);
  return isAsStored || payload['result_urls'] === undefined
    ? payload
    : { ...payload, result_urls: urls(nowMillis) };
}

// The cursor of GET /events. It names a position in the log of one account, and is opaque to clients.

/** A check that binds the cursor to its account. No secret: it finds cut and mistyped cursors. */
const checkCharacters = 16;
const form = /^(0|[1-9]\d{0,11})\.(0|[1-9]\d{0,3})\.([0-9a-f]{16})$/;

export function cursorOf(account: AccountId, { page, index }: EventPosition): string {
  const position = `${page}.${index}`;
  return Buffer.from(`${position}.${checkOf(account, position)}`, 'latin1').toString('base64url');
}

/** The position of a cursor. Undefined when the text is no cursor of this account. */
export function positionOfCursor(account: AccountId, cursor: string): EventPosition | undefined {
  const [, page, index, check] = form.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (page === undefined || index === undefined || check !== checkOf(account, `${page}.${index}`))
    return undefined;
  const position = { page: Number(page), index: Number(index) };
  return cursorOf(account, position) === cursor ? position : undefined;
}

function checkOf(account: AccountId, position: string): string {
  return createHash('sha256').update(`${account} ${position}`).digest('hex').slice(0, checkCharacters);
}
