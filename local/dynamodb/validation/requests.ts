/** Reads the members of requests, and checks what does not depend on a table's items. */
import { invalid, notSerialized } from '../refusals.ts';
import { isRecord } from './values.ts';

/** A request in DynamoDB's own JSON, not yet looked at. */
export type Input = Readonly<Record<string, unknown>>;

/** Reads a member that must be of one type if it is there. */
function reader<Value>(isFit: (value: unknown) => value is Value) {
  return (input: Input, member: string): Value | undefined => {
    const value = input[member];
    if (value === undefined || value === null) return undefined;
    if (!isFit(value)) throw notSerialized();
    return value;
  };
}

export const textOf = reader((value): value is string => typeof value === 'string');
export const numberOf = reader((value): value is number => typeof value === 'number');
export const listOf = reader((value): value is readonly unknown[] => Array.isArray(value));
export const recordOf = reader<Input>(isRecord);
const booleanOf = reader((value): value is boolean => typeof value === 'boolean');

export function flagOf(input: Input, member: string): boolean {
  return booleanOf(input, member) ?? false;
}

const tableName = /^[\w.-]{3,255}$/;

/** The refusal of a name that no table can have. */
export function requireTableName(name: string | undefined): string {
  // In a name of a table stands the ARN as well: its last part is the name.
  const short = name?.startsWith('arn:') === true ? name.slice(name.lastIndexOf('/') + 1) : name;
  if (short === undefined || !tableName.test(short))
    throw invalid(
      "Invalid table/index name.  Table/index names must be between 3 and 255 characters long, and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'",
    );
  return short;
}
