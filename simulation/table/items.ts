/** Reads and changes single items of the simulated table. */
import type { Item } from './attributes.ts';
import { Refused } from './aws-refusal.ts';
import type { Scope } from './expression-tokens.ts';
import type { ItemRequest } from './table-request.ts';
import { assign, InvalidUpdate, projection, update } from './update-expressions.ts';

/** The item after an update. Throws Refused when the item does not allow the update. */
export function updated(request: ItemRequest, scope: Scope, start: Item): Item {
  try {
    let item = start;
    for (const { path, value } of update(request.UpdateExpression ?? ''))
      item = assign(item, path(scope), value(scope));
    return item;
  } catch (error) {
    throw error instanceof InvalidUpdate ? invalid(error.message) : error;
  }
}

/** The attributes of the item that the request's projection names. */
export function projected(request: ItemRequest, item: Item): Item {
  if (request.ProjectionExpression === undefined) return item;
  const scope = scopeOf(request, item);
  return pickOf(
    item,
    projection(request.ProjectionExpression).map((path) => String(path(scope)[0])),
  );
}

/** The named attributes, as far as the item has them. */
export function pickOf(item: Item, names: readonly string[]): Item {
  return Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));
}

export function scopeOf(request: ItemRequest, item: Item): Scope {
  return {
    item,
    names: request.ExpressionAttributeNames ?? {},
    values: request.ExpressionAttributeValues ?? {},
  };
}

/** The primary key of an item. Throws Refused when a part of the key is absent. */
export function keyOf(key: Item | undefined): { pk: string; sk: string } {
  const pk = key?.['pk']?.S;
  const sk = key?.['sk']?.S;
  if (pk === undefined || sk === undefined)
    throw invalid('The provided key element does not match the schema');
  return { pk, sk };
}

/** A key as one string, under which a transaction holds its item. */
export function placeOf(key: { readonly pk: string; readonly sk: string }): string {
  return JSON.stringify([key.pk, key.sk]);
}

/** DynamoDB's refusal of a request that is not valid. */
export function invalid(message: string): Refused {
  return new Refused('ValidationException', message);
}
