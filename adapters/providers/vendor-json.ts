/** Reads JSON of a vendor. Nothing about its shape is certain. */

/** The fields of an object. Any other value has no fields. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** One field of an object. Undefined for any other value. */
export function propertyOf(value: unknown, key: string): unknown {
  return fieldsOf(value)[key];
}

/** Looks up a vendor's word in one of our tables. A word such as `constructor` is in no table. */
export function entryOf<Value>(
  table: Readonly<Partial<Record<string, Value>>>,
  word: string,
): Value | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/** The items of an array. Any other value has no items. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
