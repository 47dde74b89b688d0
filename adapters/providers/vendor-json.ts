/** A vendor's JSON, of which nothing is known until it was looked at. */

/** The fields of an object, none of anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** One field of an object; undefined of anything else. */
export function propertyOf(value: unknown, key: string): unknown {
  return fieldsOf(value)[key];
}

/** What a table of ours says of a vendor's word. A word such as `constructor` stands in no table. */
export function entryOf<Value>(
  table: Readonly<Partial<Record<string, Value>>>,
  word: string,
): Value | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/** The items of an array, none of anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
