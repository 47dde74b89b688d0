/** Query and Scan. */
import type { Attribute, Item } from '../attributes.ts';
import { bounds, partitionOf, type Range } from '../expressions/key-condition.ts';
import { invalid, maxPageBytes } from '../refusals.ts';
import {
  attributesOf,
  comparePositions,
  firstIndex,
  idOf,
  type KeyAttribute,
  type KeySchema,
  type Position,
  type Row,
  scalarOf,
  sizeOfRow,
} from '../rows.ts';
import type { Moment, Table } from '../table.ts';
import { emptyKey } from '../validation/keys.ts';
import { checkedItem, type Input, numberOf } from '../validation/values.ts';
import { memberOf } from '../values.ts';
import { type Reading, readReading } from './query-request.ts';

/** Pages of a Query or a Scan: where a page begins, and where it is cut. */
export type Output = Record<string, unknown>;

/** The key at which the reading continues. Throws ValidationException. */
function startKey(input: Input, { table, key }: Reading): Item | undefined {
  if (input['ExclusiveStartKey'] === undefined || input['ExclusiveStartKey'] === null) return undefined;
  const start = checkedItem(input['ExclusiveStartKey']);
  const attributes = keyAttributes(table.key, key);
  if (Object.keys(start).length !== attributes.size)
    throw invalid("Exclusive Start Key must have same size as table's key schema");
  for (const { name, type } of attributes.values()) {
    const value = memberOf(start, name);
    if (value === undefined) throw invalid('The provided starting key is invalid');
    if (value[type] === undefined) throw invalid('Type mismatch for attribute to update');
    if (value.S === '' || value.B === '')
      throw invalid(`The provided starting key is invalid: ${emptyKey(name, value)}`);
  }
  return start;
}

function keyAttributes(...keys: readonly KeySchema[]): Map<string, KeyAttribute> {
  return new Map(
    keys.flatMap(({ hash, range }) => [hash, ...(range ? [range] : [])].map((one) => [one.name, one])),
  );
}

function positionOf(start: Item, { table, key }: Reading): Position {
  return { sort: key.range && start[key.range.name], id: idOf(table.key, start) };
}

/** The rows of a partition from `from` up to `to`, after the end of the last page. */
function* inOrder(
  rows: readonly Row[],
  from: number,
  to: number,
  isForward: boolean,
  start: Position | undefined,
): Iterable<Row> {
  if (isForward) {
    const first = start === undefined ? from : firstIndex(rows, (row) => comparePositions(row, start) > 0);
    for (let index = Math.max(first, from); index < to; index += 1) yield rows[index] as Row;
    return;
  }
  const last = start === undefined ? to : firstIndex(rows, (row) => comparePositions(row, start) >= 0);
  for (let index = Math.min(last, to) - 1; index >= from; index -= 1) yield rows[index] as Row;
}

function page(reading: Reading, rows: Iterable<Row>): Output {
  const { table, index, key, limit, filter, project, values, isCount } = reading;
  const items: Item[] = [];
  let [matches, seen, bytes] = [0, 0, 0];
  let last: Item | undefined;
  let isCut = false;
  for (const row of rows) {
    const { item } = row;
    const size = sizeOfRow(row);
    if (bytes + size > maxPageBytes && seen > 0) {
      isCut = true;
      break;
    }
    seen += 1;
    bytes += size;
    last = item;
    if (filter === undefined || filter.result(item, values)) {
      matches += 1;
      if (!isCount) items.push(project === undefined ? item : project(item));
    }
    if (seen === limit) {
      isCut = true;
      break;
    }
  }
  const names = index === undefined ? table.key.names : [...table.key.names, ...key.names];
  return {
    ...(!isCount && { Items: items }),
    Count: matches,
    ScannedCount: seen,
    ...(isCut && last !== undefined && { LastEvaluatedKey: attributesOf(last, names) }),
  };
}

interface Segment {
  readonly number: number;
  readonly total: number;
}

function segmentOf(input: Input): Segment {
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

/** All rows of a table or an index. Partitions come by a hash of their names, so that no test relies on an order. */
function* scanned(
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
  const startPosition = start && positionOf(start, reading);
  for (const one of names) {
    const position = from === undefined ? 1 : compareHashed(one, from);
    if (position < 0) continue;
    const rows = index === undefined ? table.partition(one.name) : index.partition(one.name, moment);
    yield* inOrder(rows, 0, rows.length, true, position === 0 ? startPosition : undefined);
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
  const startPosition = start && positionOf(start, reading);
  return page(reading, inOrder(rows, from, to, isForward, startPosition));
}

/** Scan. Reads an index as it was at `moment`. */
export function scan(table: Table, input: Input, moment?: Moment): Output {
  const { reading } = readReading('Scan', table, input);
  const segment = segmentOf(input);
  const start = startKey(input, reading);
  return page(reading, scanned(reading, segment, start, moment));
}

function checkStart(start: Item, { hash, range }: KeySchema, hashValue: Attribute, inRange: Range): void {
  const isElsewhere = scalarOf(start[hash.name]) !== scalarOf(hashValue);
  if (isElsewhere || (range !== undefined && inRange(start[range.name]) !== 0))
    throw invalid('The provided starting key does not match the range key predicate');
}
