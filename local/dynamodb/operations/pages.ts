/** Pages of a Query or a Scan: where a page begins, and where it is cut. */
import type { Item } from '../attributes.ts';
import { attributesOf, idOf, type KeyAttribute, type KeySchema } from '../keys.ts';
import { invalid } from '../refusals.ts';
import { comparePlaces, firstIndex, sizeOfRow, type Place, type Row } from '../sorted-rows.ts';
import { emptyKey } from '../validation/keys.ts';
import { maxPageBytes } from '../validation/limits.ts';
import type { Input } from '../validation/requests.ts';
import { checkedItem } from '../validation/values.ts';
import { memberOf } from '../values.ts';
import { capacityReport, consumed, readUnits } from './capacity.ts';
import type { Reading } from './query-request.ts';

export type Output = Record<string, unknown>;

/** The key at which the reading continues. Throws ValidationException. */
export function startKey(input: Input, { table, key }: Reading): Item | undefined {
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

/** The place of a start key between the rows. */
export function placeOf(start: Item, { table, key }: Reading): Place {
  return { sort: key.range && start[key.range.name], id: idOf(table.key, start) };
}

/** The rows of a partition from `from` up to `to`, after the place where the last page ended. */
export function* inOrder(
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

/** Cuts one page of the rows. */
export function page(input: Input, reading: Reading, rows: Iterable<Row>): Output {
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
