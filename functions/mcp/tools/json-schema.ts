/** The parts of JSON Schema that the tools use. */
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';

export interface Schema {
  readonly type: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly default?: number;
}

export interface ObjectSchema extends Schema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
}

/** An object with these members and no other. @param optional the members that may be absent */
export function objectOf(
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): ObjectSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

export const text = (description: string): Schema => ({ type: 'string', description });
export const number = (description: string): Schema => ({ type: 'number', description });
export const orNull = (schema: Schema): Schema => ({ ...schema, type: [schema.type, 'null'].flat() });
export const listOf = (items: Schema, description: string): Schema => ({ type: 'array', items, description });

/**
 * The schema in the form that the SDK takes. The SDK shows it to clients and checks nothing by it: the operations
 * of the API check the arguments, so that a tool refuses what the API refuses, with the same sentence.
 */
export function shown(schema: ObjectSchema): StandardSchemaWithJSON<unknown, Record<string, unknown>> {
  const json = (): Record<string, unknown> => ({ ...schema });
  return {
    '~standard': {
      version: 1,
      vendor: 'darkroom',
      validate: (value) => ({ value: value as Record<string, unknown> }),
      jsonSchema: { input: json, output: json },
    },
  };
}
