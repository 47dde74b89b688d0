/** An object of JSON whose members are not known yet. */
export type JsonObject = Record<string, unknown>;

/** Whether the value is an object, and neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
