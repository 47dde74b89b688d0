/** Reads of single items: GetItem, and the parts that BatchGetItem and TransactGetItems share with it. */
import type { Item } from '../attributes.ts';
import { projection, type Prepared } from '../expressions/prepared.ts';
import { invalid } from '../refusals.ts';
import { idIn, type Table } from '../table.ts';
import { checkKey, checkKeyValues } from '../validation/keys.ts';
import { placeholdersOf, refuseLegacy, requireAllUsed, textOf, type Input } from '../validation/requests.ts';
import { checkedItem } from '../validation/values.ts';

const projectionOnly = [{ parameter: 'ProjectionExpression', mayUseValues: false }] as const;

/** The projection of a request; undefined when it wants whole items. Throws ValidationException. */
export function projectionOf(input: Input, { key }: Table): ((item: Item) => Item) | undefined {
  refuseLegacy(input);
  const placeholders = placeholdersOf(input, projectionOnly);
  const text = textOf(input, 'ProjectionExpression');
  if (text === undefined) return undefined;
  const prepared = projection('ProjectionExpression', text, placeholders.names, placeholders.values);
  requireAllUsed(placeholders, [prepared]);
  requireScalarKeys(prepared, key.names);
  return prepared.result;
}

/** Refuses a path into a key attribute. */
export function requireScalarKeys({ paths }: Prepared<unknown>, keys: readonly string[]): void {
  const into = paths.find(([head, ...rest]) => rest.length > 0 && keys.includes(head));
  if (into !== undefined)
    throw invalid(
      `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: ${into[0]}`,
    );
}

/** The primary key of a read, as a text. Throws ValidationException. */
export function readId(table: Table, key: unknown): string {
  if (key === undefined || key === null)
    throw invalid('Cannot have null key for GetItem, DeleteItem, or UpdateItem');
  const checked = checkedItem(key);
  checkKey(table, checked);
  checkKeyValues(table, checked);
  return idIn(table, checked);
}
