/**
 * The row of an attempt in the delivery log. A delivered attempt is the usual one, and must cost one write unit:
 * its row gets as much of the answer as fits into the last started KB. A failed attempt keeps all of it.
 */
import { type Item, keys, ttlAttribute } from '../aws/dynamodb/table.ts';
import { keptDays } from '../creations/creation-items.ts';
import type { Delivery } from './delivery.ts';
import { firstBytes, firstHeaders } from './webhook.ts';

const unitBytes = 1_024;
/** The largest part of the stored size that the headers get. */
const headerBytes = 256;

export function logRow(delivery: Delivery): Item {
  const startedSeconds = Math.floor(Date.parse(delivery.startedAt) / 1000);
  return {
    ...keys.delivery(delivery.accountId, delivery.startedAt, delivery.id),
    ...(delivery.outcome === 'delivered' ? withShortAnswer(delivery) : delivery),
    [ttlAttribute]: startedSeconds + keptDays * 86_400,
  };
}

function withShortAnswer(delivery: Delivery): Delivery {
  const { responseExcerpt, responseHeaders, ...rest } = delivery;
  if (responseExcerpt === undefined || responseHeaders === undefined) return delivery;
  const key = keys.delivery(delivery.accountId, delivery.startedAt, delivery.id);
  const empty = { ...key, ...rest, responseExcerpt: '', responseHeaders: {}, [ttlAttribute]: 1_800_000_000 };
  const used = sizeOf(empty);
  const room = Math.ceil(used / unitBytes) * unitBytes - used;
  // A map takes one byte for each of its entries.
  const most = Math.min(headerBytes, room) - Object.keys(responseHeaders).length;
  const headers = firstHeaders(responseHeaders, most);
  const left = room - (sizeOf(headers) - sizeOf({}));
  return { ...rest, responseExcerpt: firstBytes(responseExcerpt, left), responseHeaders: headers };
}

/** At least the size of an item of texts, numbers, lists and maps, as DynamoDB counts it. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 1;
  if (Array.isArray(value)) return 3 + value.reduce((sum: number, one) => sum + sizeOf(one) + 1, 0);
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : 1;
  return Object.entries(value).reduce(
    (sum, [name, one]) => (one === undefined ? sum : sum + Buffer.byteLength(name) + sizeOf(one) + 1),
    3,
  );
}
