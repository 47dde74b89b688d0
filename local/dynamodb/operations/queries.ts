/** Query and Scan. */
import type { Attribute, Item } from '../attributes.ts';
import { keyCondition, condition, projection, type Prepared } from '../expressions/prepared.ts';
import type { Test } from '../expressions/condition.ts';
import { valuesOf, type KeyRequirement } from '../expressions/key-condition.ts';
import type { Values } from '../expressions/placeholders.ts';
import { attributesOf, idOf, scalarOf, type KeyAttribute, type KeySchema } from '../keys.ts';
import { invalid } from '../refusals.ts';
import { comparePlaces, firstIndex, sizeOfRow, type Place, type Row } from '../sorted-rows.ts';
import type { Table } from '../table.ts';
import type { Moment, TableIndex } from '../table-index.ts';
import { emptyKey } from '../validation/keys.ts';
import { maxPageBytes } from '../validation/limits.ts';
import {
  flagOf,
  numberOf,
  placeholdersOf,
  refuseLegacy,
  requireAllUsed,
  textOf,
  type Input,
} from '../validation/requests.ts';
import { checkedItem } from '../validation/values.ts';
import { memberOf, order } from '../values.ts';
import { requireScalarKeys } from './reads.ts';
import { capacityReport, consumed, readUnits } from './capacity.ts';

export type Output = Record<string, unknown>;

/** What Query and Scan have in common. */
interface Reading {
  readonly table: Table;
  readonly index: TableIndex | undefined;
  readonly key: KeySchema;
  readonly limit: number;
  readonly filter: Prepared<Test> | undefined;
  readonly project: ((item: Item) => Item) | undefined;
  readonly values: Values;
  readonly isConsistent: boolean;
  readonly isCount: boolean;
}

const users = [
  { parameter: 'KeyConditionExpression', mayUseValues: true },
  { parameter: 'FilterExpression', mayUseValues: true },
  { parameter: 'ProjectionExpression', mayUseValues: false },
] as const;

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

function readReading(
  operation: 'Query' | 'Scan',
  table: Table,
  input: Input,
): { readonly reading: Reading; readonly requirements: readonly KeyRequirement[] } {
  const index = indexOf(table, input);
  const limit = numberOf(input, 'Limit') ?? Number.POSITIVE_INFINITY;
  if (limit < 1) throw invalid('Limit must be greater than or equal to 1');
  const isConsistent = flagOf(input, 'ConsistentRead');
  refuseLegacy(input);
  const usersHere = operation === 'Query' ? users : users.slice(1);
  const placeholders = placeholdersOf(input, usersHere);
  const { names, values } = placeholders;
  const text = (parameter: string): string | undefined => textOf(input, parameter);
  const [filterText, projectionText] = [text('FilterExpression'), text('ProjectionExpression')];
  const filter =
    filterText === undefined ? undefined : condition('FilterExpression', filterText, names, values);
  const project =
    projectionText === undefined
      ? undefined
      : projection('ProjectionExpression', projectionText, names, values);
  const keyText = operation === 'Query' ? text('KeyConditionExpression') : undefined;
  if (operation === 'Query' && keyText === undefined)
    throw invalid(
      'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
    );
  const keys =
    keyText === undefined ? undefined : keyCondition('KeyConditionExpression', keyText, names, values);
  requireAllUsed(placeholders, [keys, filter, project]);
  if (index !== undefined && isConsistent)
    throw invalid(
      `Consistent read cannot be true when ${operation === 'Query' ? 'querying' : 'scanning'} a GSI`,
    );
  const key = index?.key ?? table.key;
  if (project !== undefined) requireScalarKeys(project, [...table.key.names, ...key.names]);
  const requirements = keys?.result ?? [];
  if (keys !== undefined) checkRequirements(key, requirements, values);
  const isCount = select(input, index, projectionText !== undefined);
  if (operation === 'Query' && filter !== undefined) {
    const primary = filter.heads.find((name) => key.names.includes(name));
    if (primary !== undefined)
      throw invalid(
        `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${primary}`,
      );
  }
  checkProjected(index, operation === 'Query' ? filter : undefined, project);
  return {
    requirements,
    reading: {
      table,
      index,
      key,
      limit,
      filter,
      values,
      isConsistent,
      isCount,
      project: project?.result,
    },
  };
}

function indexOf(table: Table, input: Input): TableIndex | undefined {
  const name = textOf(input, 'IndexName');
  if (name === undefined) return undefined;
  const index = table.indexes.get(name);
  if (index === undefined) throw invalid(`The table does not have the specified index: ${name}`);
  return index;
}

/** Whether only the count is wanted. Throws ValidationException for a Select that does not fit. */
function select(input: Input, index: TableIndex | undefined, hasProjection: boolean): boolean {
  const wanted = textOf(input, 'Select');
  switch (wanted) {
    case undefined:
      return false;
    case 'COUNT':
      if (hasProjection)
        throw invalid('Cannot specify the ProjectionExpression when choosing to get only the Count');
      return true;
    case 'SPECIFIC_ATTRIBUTES':
      if (!hasProjection)
        throw invalid(
          'Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES',
        );
      return false;
    case 'ALL_PROJECTED_ATTRIBUTES':
      if (index === undefined)
        throw invalid('ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName');
      if (hasProjection) throw projectionWith(wanted);
      return false;
    case 'ALL_ATTRIBUTES':
      if (hasProjection) throw projectionWith(wanted);
      if (index?.attributes !== undefined)
        throw invalid(
          `One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index ${index.definition.IndexName} because its projection type is not ALL`,
        );
      return false;
    default:
      throw invalid('Select must be ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES, COUNT, or SPECIFIC_ATTRIBUTES');
  }
}

function projectionWith(wanted: string): Error {
  return invalid(`Cannot specify the ProjectionExpression when choosing to get ${wanted}`);
}

/** Refuses attributes that the index does not hold. */
function checkProjected(
  index: TableIndex | undefined,
  filter: Prepared<unknown> | undefined,
  project: Prepared<unknown> | undefined,
): void {
  const { attributes } = index ?? {};
  if (index === undefined || attributes === undefined) return;
  const missing = (prepared: Prepared<unknown> | undefined): string[] =>
    (prepared?.heads ?? []).filter((name) => !attributes.includes(name));
  const [inProjection, inFilter] = [missing(project), missing(filter)];
  const name = index.definition.IndexName;
  if (inFilter.length > 0)
    throw invalid(
      `One or more parameter values were invalid: Secondary index ${name} does not project one or more filter attributes: [${inFilter.join(', ')}]`,
    );
  if (inProjection.length > 0)
    throw invalid(
      `One or more parameter values were invalid: Global secondary index ${name} does not project [${inProjection.join(', ')}]`,
    );
}

function checkRequirements(
  { hash, range }: KeySchema,
  requirements: readonly KeyRequirement[],
  values: Values,
): void {
  if (requirements.length > 2) throw invalid('Conditions can be of length 1 or 2 only');
  const onHash = requirements.find(({ attribute }) => attribute === hash.name);
  const others = requirements.filter((one) => one !== onHash);
  if (onHash === undefined || others.some(({ attribute }) => attribute !== range?.name))
    throw invalid('Query condition missed key schema element');
  for (const requirement of requirements) {
    const { type, name } = requirement === onHash || range === undefined ? hash : range;
    for (const value of valuesOf(requirement, values)) {
      if (value[type] === undefined)
        throw invalid(
          'One or more parameter values were invalid: Condition parameter type does not match schema type',
        );
      if (value.S === '' || value.B === '') throw invalid(emptyKey(name, value));
    }
  }
  if (onHash.operator !== '=') throw invalid('Query key condition not supported');
}

/** Where a sort key stands: before the wanted range, in it, or behind it. */
type Range = (sort: Attribute | undefined) => -1 | 0 | 1;

function partitionOf(
  { hash }: KeySchema,
  requirements: readonly KeyRequirement[],
  values: Values,
): { readonly hash: string; readonly hashValue: Attribute; readonly isInRange: Range } {
  const onHash = requirements.find(({ attribute }) => attribute === hash.name);
  const [hashValue = {}] = onHash === undefined ? [] : valuesOf(onHash, values);
  const onRange = requirements.find((one) => one !== onHash);
  return { hash: scalarOf(hashValue), hashValue, isInRange: rangeOf(onRange, values) };
}

function rangeOf(requirement: KeyRequirement | undefined, values: Values): Range {
  if (requirement === undefined) return () => 0;
  const [low, high = low] = valuesOf(requirement, values);
  const against = (sort: Attribute | undefined, bound: Attribute | undefined): number =>
    order(sort, bound) ?? 0;
  switch (requirement.operator) {
    case '=':
    case 'BETWEEN':
      return (sort) => (against(sort, low) < 0 ? -1 : against(sort, high) > 0 ? 1 : 0);
    case '<':
      return (sort) => (against(sort, low) < 0 ? 0 : 1);
    case '<=':
      return (sort) => (against(sort, low) <= 0 ? 0 : 1);
    case '>':
      return (sort) => (against(sort, low) > 0 ? 0 : -1);
    case '>=':
      return (sort) => (against(sort, low) >= 0 ? 0 : -1);
    case 'begins_with':
      return (sort) => (beginsWith(sort, low) ? 0 : against(sort, low) < 0 ? -1 : 1);
    case '<>':
      throw new Error('a key condition has no <>');
  }
}

function beginsWith(sort: Attribute | undefined, start: Attribute | undefined): boolean {
  if (start?.S !== undefined) return sort?.S?.startsWith(start.S) === true;
  const bytes = Buffer.from(start?.B ?? '', 'base64');
  return Buffer.from(sort?.B ?? '', 'base64')
    .subarray(0, bytes.length)
    .equals(bytes);
}

/** The first row in the range, and the first row behind it. */
function bounds(rows: readonly Row[], range: Range): readonly [number, number] {
  return [firstIndex(rows, ({ sort }) => range(sort) >= 0), firstIndex(rows, ({ sort }) => range(sort) > 0)];
}

/** The key at which the reading goes on. Throws ValidationException. */
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

function checkStart(start: Item, { hash, range }: KeySchema, hashValue: Attribute, inRange: Range): void {
  const isElsewhere = scalarOf(start[hash.name]) !== scalarOf(hashValue);
  if (isElsewhere || (range !== undefined && inRange(start[range.name]) !== 0))
    throw invalid('The provided starting key does not match the range key predicate');
}

function placeOf(start: Item, { table, key }: Reading): Place {
  return { sort: key.range && start[key.range.name], id: idOf(table.key, start) };
}

/** The rows of a partition from `from` up to `to`, after the place where the last page ended. */
function* inOrder(
  rows: readonly Row[],
  from: number,
  to: number,
  isForward: boolean,
  start: Place | undefined,
): Iterable<Row> {
  if (isForward) {
    const first = start === undefined ? from : firstIndex(rows, (row) => comparePlaces(row, start) > 0);
    for (let index = Math.max(first, from); index < to; index += 1) yield rows[index] as Row;
    return;
  }
  const last = start === undefined ? to : firstIndex(rows, (row) => comparePlaces(row, start) >= 0);
  for (let index = Math.min(last, to) - 1; index >= from; index -= 1) yield rows[index] as Row;
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

/**
 * All rows of a table or an index. The partitions come in the order of a hash of their names, as in DynamoDB,
 * so that nobody takes the order for a promise.
 */
function* scanned(
  { table, index, key }: Reading,
  segment: Segment,
  start: Item | undefined,
  moment: Moment | undefined,
): Iterable<Row> {
  const names = [...(index ?? table).partitions()]
    .map((name) => ({ name, hash: hashOf(name) }))
    .filter(({ hash }) => hash % segment.total === segment.number)
    .sort((one, other) => compareHashed(one, other));
  const startName = start && scalarOf(start[key.hash.name]);
  const from = startName === undefined ? undefined : { name: startName, hash: hashOf(startName) };
  const place = start && { sort: key.range && start[key.range.name], id: idOf(table.key, start) };
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

/** Cuts one page of the rows. */
function page(input: Input, reading: Reading, rows: Iterable<Row>): Output {
  const { table, index, key, limit, filter, project, values, isConsistent, isCount } = reading;
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
  const units = readUnits(bytes, isConsistent);
  const report = capacityReport(input);
  const { TableName } = table.definition;
  return {
    ...(!isCount && { Items: items }),
    Count: matches,
    ScannedCount: seen,
    ...(isCut && last !== undefined && { LastEvaluatedKey: attributesOf(last, names) }),
    ...(index === undefined
      ? consumed(report, TableName, units)
      : consumed(report, TableName, 0, { [index.definition.IndexName]: units })),
  };
}
