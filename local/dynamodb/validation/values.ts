/** Checks the values of a request and brings them into the engine's form. */
import type { Attribute, Item } from '../attributes.ts';
import { compareNumbers, isNormal, normalNumber } from '../numbers.ts';
import { invalid, maxNesting, notSerialized } from '../refusals.ts';
import { compareBytes, compareTexts } from '../values.ts';

/** Checks an item or a key as DynamoDB does. Numbers get one form, and sets are sorted. */
export function checkedItem(item: unknown, depth = 0): Item {
  if (!isRecord(item)) throw notSerialized();
  let changed: Record<string, Attribute> | undefined;
  for (const name of Object.keys(item)) {
    const value = item[name];
    if (value === null || value === undefined)
      throw invalid(`The supplied Item contains a null AttributeValue: ${name} is null`);
    const checked = checkedValue(value, depth);
    if (checked === value) continue;
    changed ??= { ...(item as Item) };
    changed[name] = checked;
  }
  return changed ?? (item as Item);
}

/** Checks one value. Returns the same object when nothing had to change. */
export function checkedValue(value: unknown, depth = 0): Attribute {
  if (!isRecord(value)) throw notSerialized();
  if (depth > maxNesting)
    throw invalid(
      'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit',
    );
  if (isUsual(value)) return value;
  let type: string | undefined;
  for (const name in value) {
    if (value[name] === null || value[name] === undefined || !Object.hasOwn(checks, name)) continue;
    if (type !== undefined)
      throw invalid(
        'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
      );
    type = name;
  }
  const check = type === undefined ? undefined : checks[type];
  if (type === undefined || check === undefined)
    throw invalid('Supplied AttributeValue is empty, must contain exactly one of the supported datatypes');
  const checked = check(value[type], depth);
  return checked === value[type] && Object.keys(value).length === 1 ? value : { [type]: checked };
}

/** Whether a value is a text or a usual number: most values are, and nothing of them has to change. */
function isUsual(value: Record<string, unknown>): boolean {
  let members = 0;
  for (const _name in value) members += 1;
  if (members !== 1) return false;
  return typeof value['S'] === 'string' || (typeof value['N'] === 'string' && isNormal(value['N']));
}

const checks: Readonly<Record<string, (value: unknown, depth: number) => unknown>> = {
  S: asText,
  N: (value) => normalNumber(asText(value)),
  B: asBase64,
  BOOL: (value) => {
    if (typeof value !== 'boolean') throw notSerialized();
    return value;
  },
  NULL: (value) => {
    if (value === true) return value;
    throw value === false
      ? invalid(
          'One or more parameter values were invalid: Null attribute value types must have the value of true',
        )
      : notSerialized();
  },
  M: (value, depth) => checkedItem(value, depth + 1),
  L: (value, depth) => {
    if (!Array.isArray(value)) throw notSerialized();
    const checked = value.map((one: unknown) => checkedValue(one, depth + 1));
    return checked.every((one, index) => one === value[index]) ? (value as unknown[]) : checked;
  },
  SS: (value) => {
    const set = asSet(value, 'string').map(asText);
    if (new Set(set).size < set.length)
      throw invalid(
        `One or more parameter values were invalid: Input collection [${set.join(', ')}] contains duplicates`,
      );
    return set.sort(compareTexts);
  },
  NS: (value) => {
    const set = asSet(value, 'number').map((one) => normalNumber(asText(one)));
    if (new Set(set).size < set.length) throw invalid('Input collection contains duplicates');
    return set.sort(compareNumbers);
  },
  BS: (value) => {
    const set = asSet(value, 'binary').map(asBase64);
    if (new Set(set).size < set.length)
      throw invalid(
        'One or more parameter values were invalid: Input collection of type BS contains duplicates.',
      );
    return set.sort(compareBytes);
  },
};

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw notSerialized();
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function asBase64(value: unknown): string {
  const text = asText(value);
  if (!base64.test(text)) throw notSerialized('Invalid Base64 data received');
  return text;
}

const emptySets = {
  string: 'An string set  may not be empty',
  number: 'An number set  may not be empty',
  binary: 'Binary sets should not be empty',
} as const;

function asSet(value: unknown, kind: keyof typeof emptySets): readonly unknown[] {
  if (!Array.isArray(value)) throw notSerialized();
  if (value.length === 0) throw invalid(`One or more parameter values were invalid: ${emptySets[kind]}`);
  return value;
}

// Reads the members of requests, and checks what does not depend on a table's items.

/** A request in DynamoDB's own JSON, not yet checked. */
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

export function requireTableName(name: string | undefined): string {
  // In a name of a table stands the ARN as well: its last part is the name.
  const short = name?.startsWith('arn:') === true ? name.slice(name.lastIndexOf('/') + 1) : name;
  if (short === undefined || !tableName.test(short))
    throw invalid(
      "Invalid table/index name.  Table/index names must be between 3 and 255 characters long, and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'",
    );
  return short;
}
