/** Values and items in DynamoDB's own JSON, and how DynamoDB compares them. */

/** A value in DynamoDB's own JSON. Exactly one member is set. */
export interface Attribute {
  readonly S?: string;
  readonly N?: string;
  readonly BOOL?: boolean;
  readonly NULL?: boolean;
  readonly M?: Readonly<Record<string, Attribute>>;
  readonly L?: readonly Attribute[];
}

export type Item = Readonly<Record<string, Attribute>>;

/** The way to a value inside an item: names of attributes and members, and positions in lists. */
export type Path = readonly (string | number)[];

/** The value at a place of an item; undefined when there is none. */
export function lookUp(item: Item, place: Path): Attribute | undefined {
  let found: Attribute | undefined = { M: item };
  for (const part of place) found = typeof part === 'number' ? found?.L?.[part] : found?.M?.[part];
  return found;
}

export function equal(left: Attribute | undefined, right: Attribute | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  if (left.S !== undefined || right.S !== undefined) return left.S === right.S;
  if (left.N !== undefined || right.N !== undefined)
    return left.N !== undefined && right.N !== undefined && Number(left.N) === Number(right.N);
  return JSON.stringify(left) === JSON.stringify(right);
}

/**
 * Negative, zero or positive. NaN when the two cannot be compared, and every comparison with NaN is false.
 */
export function order(left: Attribute | undefined, right: Attribute | undefined): number {
  if (left?.N !== undefined && right?.N !== undefined) return Number(left.N) - Number(right.N);
  if (left?.S !== undefined && right?.S !== undefined)
    return left.S < right.S ? -1 : Number(left.S > right.S);
  return Number.NaN;
}
