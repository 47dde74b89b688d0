/** Reads the members of requests, and checks what does not depend on a table's items. */
import type { Attribute } from '../attributes.ts';
import { AwsError } from '../../aws/aws-error.ts';
import type { Names, Values } from '../expressions/placeholders.ts';
import type { Prepared } from '../expressions/prepared.ts';
import { invalid, notSerialized } from '../refusals.ts';
import { checkedValue, isRecord } from './values.ts';

/** A request in DynamoDB's own JSON, not yet looked at. */
export type Input = Readonly<Record<string, unknown>>;

/** A member that must be a text if it is there. */
export function textOf(input: Input, member: string): string | undefined {
  const value = input[member];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw wrongMember();
  return value;
}

/** A member that must be true or false if it is there. */
export function flagOf(input: Input, member: string): boolean {
  const value = input[member] ?? false;
  if (typeof value !== 'boolean') throw wrongMember();
  return value;
}

/** A member that must be a number if it is there. */
export function numberOf(input: Input, member: string): number | undefined {
  const value = input[member];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') throw wrongMember();
  return value;
}

/** A member that must be a list if it is there. */
export function listOf(input: Input, member: string): readonly unknown[] | undefined {
  const value = input[member];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw wrongMember();
  return value as readonly unknown[];
}

/** A member that must be an object if it is there. */
export function recordOf(input: Input, member: string): Input | undefined {
  const value = input[member];
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) throw wrongMember();
  return value;
}

function wrongMember(): AwsError {
  return notSerialized('Unexpected token received from parser');
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

/** The parameters from before there were expressions. The engine refuses them. */
const legacy = [
  'AttributesToGet',
  'AttributeUpdates',
  'ConditionalOperator',
  'Expected',
  'KeyConditions',
  'QueryFilter',
  'ScanFilter',
] as const;

/**
 * Refuses parameters from before there were expressions. DynamoDB still takes them, but the engine has only
 * expressions.
 */
export function refuseLegacy(input: Input): void {
  let isUsed = false;
  for (const name of legacy) if (input[name] !== undefined && input[name] !== null) isUsed = true;
  if (!isUsed) return;
  const found = legacy.filter((name) => input[name] !== undefined && input[name] !== null);
  const expressions = Object.keys(input).filter((name) => /Expression$/.test(name));
  throw invalid(
    expressions.length > 0
      ? `Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {${found.join(', ')}} Expression parameters: {${expressions.join(', ')}}`
      : `The local DynamoDB takes expressions only: ${found.join(', ')} is a parameter from before there were expressions`,
  );
}

const placeholderOfName = /^#\w+$/;
const placeholderOfValue = /^:\w+$/;

/** The placeholders of a request. */
export interface Placeholders {
  readonly names: Names;
  readonly values: Values;
}

const none: Placeholders = { names: {}, values: {} };

/**
 * Reads and checks the placeholders. `expressions` are the parameters that may use them. Throws
 * ValidationException.
 */
export function placeholdersOf(
  input: Input,
  expressions: readonly { readonly parameter: string; readonly mayUseValues: boolean }[],
): Placeholders {
  const names = recordOf(input, 'ExpressionAttributeNames');
  const values = recordOf(input, 'ExpressionAttributeValues');
  if (names === undefined && values === undefined) return none;
  const isGiven = ({ parameter }: { readonly parameter: string }): boolean =>
    input[parameter] !== undefined && input[parameter] !== null;
  if (names !== undefined && !expressions.some(isGiven))
    throw invalid('ExpressionAttributeNames can only be specified when using expressions');
  const users = expressions.filter(({ mayUseValues }) => mayUseValues);
  if (values !== undefined && !users.some(isGiven)) {
    const missing = users.map(({ parameter }) => parameter);
    throw invalid(
      `ExpressionAttributeValues can only be specified when using expressions: ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} null`,
    );
  }
  const checked = values === undefined ? none.values : checkedValues(values);
  return { names: names === undefined ? none.names : checkedNames(names), values: checked };
}

function checkedNames(names: Input): Names {
  const keys = Object.keys(names);
  if (keys.length === 0) throw invalid('ExpressionAttributeNames must not be empty');
  for (const key of keys) {
    if (!placeholderOfName.test(key))
      throw invalid(`ExpressionAttributeNames contains invalid key: Syntax error; key: "${key}"`);
    const name = names[key];
    if (typeof name !== 'string') throw wrongMember();
    if (name === '')
      throw invalid(`ExpressionAttributeNames contains invalid value: Empty attribute name for key ${key}`);
  }
  return names as Names;
}

function checkedValues(values: Input): Values {
  const keys = Object.keys(values);
  if (keys.length === 0) throw invalid('ExpressionAttributeValues must not be empty');
  let changed: Record<string, Attribute> | undefined;
  for (const key of keys) {
    if (!placeholderOfValue.test(key))
      throw invalid(`ExpressionAttributeValues contains invalid key: Syntax error; key: "${key}"`);
    const checked = checkedPlaceholder(key, values[key]);
    if (checked === values[key]) continue;
    changed ??= { ...(values as Values) };
    changed[key] = checked;
  }
  return changed ?? (values as Values);
}

function checkedPlaceholder(key: string, value: unknown): Attribute {
  try {
    return checkedValue(value);
  } catch (error) {
    if (error instanceof AwsError && error.code === 'ValidationException')
      throw invalid(`ExpressionAttributeValues contains invalid value: ${error.message} for key ${key}`);
    throw error;
  }
}

/** Refuses placeholders that no expression uses. */
export function requireAllUsed(
  { names, values }: Placeholders,
  prepared: readonly (Prepared<unknown> | undefined)[],
): void {
  if (names === none.names && values === none.values) return;
  const unusedNames = names === none.names ? [] : unusedOf(names, prepared, 'usedNames');
  if (unusedNames.length > 0)
    throw invalid(
      `Value provided in ExpressionAttributeNames unused in expressions: keys: {${unusedNames.join(', ')}}`,
    );
  const unusedValues = values === none.values ? [] : unusedOf(values, prepared, 'usedValues');
  if (unusedValues.length > 0)
    throw invalid(
      `Value provided in ExpressionAttributeValues unused in expressions: keys: {${unusedValues.join(', ')}}`,
    );
}

function unusedOf(
  given: object,
  prepared: readonly (Prepared<unknown> | undefined)[],
  used: 'usedNames' | 'usedValues',
): string[] {
  const unused: string[] = [];
  for (const name of Object.keys(given)) {
    let isUsed = false;
    for (const one of prepared) if (one?.[used].has(name) === true) isUsed = true;
    if (!isUsed) unused.push(name);
  }
  return unused;
}
