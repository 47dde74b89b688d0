/** Query and Scan. */
import type { Attribute, Item } from '../attributes.ts';
import { scalarOf, type KeySchema } from '../keys.ts';
import { invalid } from '../refusals.ts';
import type { Moment } from '../table-index.ts';
import type { Table } from '../table.ts';
import type { Input } from '../validation/requests.ts';
import { bounds, partitionOf, type Range } from './key-ranges.ts';
import { inOrder, page, placeOf, startKey, type Output } from './pages.ts';
import { readReading } from './query-request.ts';
import { scanned, segmentOf } from './scan-order.ts';

/** Query. Reads an index as it was at `moment`. */
export function query(table: Table, input: Input, moment?: Moment): Output {
  const { reading, requirements } = readReading('Query', table, input);
  const { key, index } = reading;
  const { hash, isInRange, hashValue } = partitionOf(key, requirements, reading.values);
  const start = startKey(input, reading);
  const rows = index === undefined ? table.partition(hash) : index.partition(hash, moment);
  const [from, to] = bounds(rows, isInRange);
  if (start !== undefined) checkStart(start, key, hashValue, isInRange);
  const isForward = (input['ScanIndexForward'] ?? true) !== false;
  const place = start && placeOf(start, reading);
  return page(input, reading, inOrder(rows, from, to, isForward, place));
}

/** Scan. Reads an index as it was at `moment`. */
export function scan(table: Table, input: Input, moment?: Moment): Output {
  const { reading } = readReading('Scan', table, input);
  const segment = segmentOf(input);
  const start = startKey(input, reading);
  return page(input, reading, scanned(reading, segment, start, moment));
}

function checkStart(start: Item, { hash, range }: KeySchema, hashValue: Attribute, inRange: Range): void {
  const isElsewhere = scalarOf(start[hash.name]) !== scalarOf(hashValue);
  if (isElsewhere || (range !== undefined && inRange(start[range.name]) !== 0))
    throw invalid('The provided starting key does not match the range key predicate');
}
