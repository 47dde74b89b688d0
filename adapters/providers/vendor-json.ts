/** A vendor's JSON, of which nothing is known until it was looked at. */

/** The fields of an object, none of anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** One field of an object; undefined of anything else. */
export function propertyOf(value: unknown, key: string): unknown {
  return fieldsOf(value)[key];
}

/** The items of an array, none of anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
