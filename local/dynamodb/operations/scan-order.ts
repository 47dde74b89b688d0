/** The order of a Scan, and its segments. */
import type { Item } from '../attributes.ts';
import { scalarOf } from '../keys.ts';
import { invalid } from '../refusals.ts';
import type { Row } from '../sorted-rows.ts';
import type { Moment } from '../table-index.ts';
import { numberOf, type Input } from '../validation/requests.ts';
import { inOrder, placeOf } from './pages.ts';
import type { Reading } from './query-request.ts';

interface Segment {
  readonly number: number;
  readonly total: number;
}

/** The segment that a Scan asks for. Throws ValidationException. */
export function segmentOf(input: Input): Segment {
  const [number, total] = [numberOf(input, 'Segment'), numberOf(input, 'TotalSegments')];
  if (number !== undefined && total === undefined)
    throw invalid('If segment is specified, total segment must also be specified');
  if (number === undefined && total !== undefined)
    throw invalid(
      'If total segments is specified, a particular segment must also be specified for this request',
    );
  if (number !== undefined && total !== undefined && number >= total)
    throw invalid(
      `1 validation error detected: Value '${number}' at 'segment' failed to satisfy constraint: Member must have value less than or equal to ${total - 1}`,
    );
  return { number: number ?? 0, total: total ?? 1 };
}

/**
 * All rows of a table or an index. The partitions come in the order of a hash of their names, as in DynamoDB,
 * so that no test relies on the order.
 */
export function* scanned(
  reading: Reading,
  segment: Segment,
  start: Item | undefined,
  moment: Moment | undefined,
): Iterable<Row> {
  const { table, index, key } = reading;
  const names = [...(index ?? table).partitions()]
    .map((name) => ({ name, hash: hashOf(name) }))
    .filter(({ hash }) => hash % segment.total === segment.number)
    .sort((one, other) => compareHashed(one, other));
  const startName = start && scalarOf(start[key.hash.name]);
  const from = startName === undefined ? undefined : { name: startName, hash: hashOf(startName) };
  const place = start && placeOf(start, reading);
  for (const one of names) {
    const position = from === undefined ? 1 : compareHashed(one, from);
    if (position < 0) continue;
    const rows = index === undefined ? table.partition(one.name) : index.partition(one.name, moment);
    yield* inOrder(rows, 0, rows.length, true, position === 0 ? place : undefined);
  }
}

interface Hashed {
  readonly name: string;
  readonly hash: number;
}

function compareHashed(one: Hashed, other: Hashed): number {
  return one.hash - other.hash || (one.name < other.name ? -1 : Number(one.name > other.name));
}

/** FNV-1a over the units of the text. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash;
}
