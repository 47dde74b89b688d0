/** Expressions ready for use. The same text with the same names is parsed once, as clients repeat few texts. */
import { AwsError } from '../../aws/aws-error.ts';
import type { Attribute, Item } from '../attributes.ts';
import { invalid } from '../refusals.ts';
import { checkedValue, type Input, recordOf, textOf } from '../validation/values.ts';
import { lookUp, memberOf, type Path } from '../values.ts';
import { parseCondition } from './condition-syntax.ts';
import { bindCondition, type Test } from './condition.ts';
import { headsOf, type KeyRequirement, keyRequirements } from './key-condition.ts';
import { Binding, type Names, requireApart, type ValueCheck, type Values } from './placeholders.ts';
import { parseProjection, parseUpdate, type PathNode } from './syntax.ts';
import { ExpressionFault } from './tokens.ts';
import { bindUpdate, type Update } from './update.ts';

/** The parameters that hold an expression, and what each is prepared as. */
interface Results {
  readonly UpdateExpression: Update;
  readonly ConditionExpression: Test;
  /** What the condition requires of each key attribute. */
  readonly KeyConditionExpression: readonly KeyRequirement[];
  readonly FilterExpression: Test;
  readonly ProjectionExpression: (item: Item) => Item;
}
type Parameter = keyof Results;

/** An expression whose placeholders are replaced and checked. */
export interface Prepared<Result> {
  readonly result: Result;
  readonly usedNames: ReadonlySet<string>;
  readonly usedValues: ReadonlySet<string>;
  readonly paths: readonly Path[];
  /** The attributes at their beginnings. */
  readonly heads: readonly string[];
}

interface Bound<Result> extends Prepared<Result> {
  readonly names: Names;
  readonly checks: readonly ValueCheck[];
}

interface Placeholders {
  readonly names: Names;
  readonly values: Values;
}

type Prepare<Result> = (parameter: Parameter, text: string, placeholders: Placeholders) => Prepared<Result>;

/** Maximum number of cached texts of each kind. A client that always sends new texts must not fill the memory. */
const keptTexts = 1_000;

/** Makes a function that parses and binds each text once for the same names. */
function prepare<Tree, Result>(
  parse: (text: string) => Tree,
  bind: (tree: Tree, binding: Binding) => Result,
): Prepare<Result> {
  const known = new Map<string, { readonly tree: Tree; bound?: Bound<Result> }>();
  return (parameter, text, { names, values }) => {
    try {
      let entry = known.get(text);
      if (entry === undefined) {
        entry = { tree: parse(text) };
        if (known.size >= keptTexts) known.clear();
        known.set(text, entry);
      }
      const { bound } = entry;
      if (bound !== undefined && sameNames(bound, names)) {
        for (const check of bound.checks) check(values);
        return bound;
      }
      const binding = new Binding(names, values);
      const result = bind(entry.tree, binding);
      const { usedNames, usedValues, checks, paths } = binding;
      const heads = headsOf(paths);
      entry.bound = { result, usedNames, usedValues, checks, names: { ...names }, paths, heads };
      return entry.bound;
    } catch (error) {
      if (error instanceof ExpressionFault) throw invalid(`Invalid ${parameter}: ${error.message}`);
      throw error;
    }
  };
}

function sameNames({ usedNames, names: bound }: Bound<unknown>, names: Names): boolean {
  for (const name of usedNames) if (memberOf(names, name) !== bound[name]) return false;
  return true;
}

/** In the order in which DynamoDB names parameters. */
const preparers: { readonly [One in Parameter]: Prepare<Results[One]> } = {
  UpdateExpression: prepare(parseUpdate, bindUpdate),
  ConditionExpression: prepare(parseCondition, bindCondition),
  KeyConditionExpression: prepare(parseCondition, (tree, binding) => {
    bindCondition(tree, binding);
    return keyRequirements(tree, binding);
  }),
  FilterExpression: prepare(parseCondition, bindCondition),
  ProjectionExpression: prepare(parseProjection, bindProjection),
};

/** The prepared expressions of a request, under the names of their parameters. */
export type Expressions<One extends Parameter> = {
  readonly [Name in One]?: Prepared<Results[Name]>;
} & { readonly values: Values };

/** Prepares these expressions in the order of DynamoDB's refusals. A key condition must be there. */
export function readExpressions<One extends Parameter>(
  input: Input,
  parameters: readonly One[],
): Expressions<One> {
  refuseLegacy(input);
  const placeholders = placeholdersOf(input, parameters);
  const prepared: Partial<Record<Parameter, Prepared<unknown>>> = {};
  for (const parameter of parameters) {
    const text = textOf(input, parameter);
    if (text !== undefined) prepared[parameter] = preparers[parameter](parameter, text, placeholders);
    else if (parameter === 'KeyConditionExpression')
      throw invalid(
        'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
      );
  }
  requireAllUsed(placeholders, Object.values(prepared));
  return Object.assign(prepared, { values: placeholders.values }) as Expressions<One>;
}

/** The parameters from before there were expressions. */
const legacy = [
  'AttributesToGet',
  'AttributeUpdates',
  'ConditionalOperator',
  'Expected',
  'KeyConditions',
  'QueryFilter',
  'ScanFilter',
] as const;

function refuseLegacy(input: Input): void {
  if (!legacy.some((name) => isGiven(input, name))) return;
  const found = legacy.filter((name) => isGiven(input, name));
  const expressions = Object.keys(input).filter((name) => /Expression$/.test(name));
  throw invalid(
    expressions.length > 0
      ? `Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {${found.join(', ')}} Expression parameters: {${expressions.join(', ')}}`
      : `The local DynamoDB takes expressions only: ${found.join(', ')} is a parameter from before there were expressions`,
  );
}

function isGiven(input: Input, member: string): boolean {
  return input[member] !== undefined && input[member] !== null;
}

const none: Placeholders = { names: {}, values: {} };

/** Reads and checks the placeholders, which the expressions of these parameters may use. */
function placeholdersOf(input: Input, parameters: readonly Parameter[]): Placeholders {
  const names = recordOf(input, 'ExpressionAttributeNames');
  const values = recordOf(input, 'ExpressionAttributeValues');
  if (names === undefined && values === undefined) return none;
  const areGiven = (some: readonly string[]): boolean => some.some((parameter) => isGiven(input, parameter));
  if (names !== undefined && !areGiven(parameters))
    throw invalid('ExpressionAttributeNames can only be specified when using expressions');
  const users = Object.keys(preparers).filter(
    (one) => one !== 'ProjectionExpression' && parameters.some((parameter) => parameter === one),
  );
  if (values !== undefined && !areGiven(users))
    throw invalid(
      `ExpressionAttributeValues can only be specified when using expressions: ${users.join(' and ')} ${users.length === 1 ? 'is' : 'are'} null`,
    );
  const checked = values === undefined ? none.values : checkedValues(values);
  return { names: names === undefined ? none.names : checkedNames(names), values: checked };
}

/** The names of placeholders. There must be at least one, and each must match the pattern. */
function* checkedKeys(member: string, record: Input, pattern: RegExp): Iterable<string> {
  const keys = Object.keys(record);
  if (keys.length === 0) throw invalid(`${member} must not be empty`);
  for (const key of keys) {
    if (!pattern.test(key)) throw invalid(`${member} contains invalid key: Syntax error; key: "${key}"`);
    yield key;
  }
}

function checkedNames(names: Input): Names {
  for (const key of checkedKeys('ExpressionAttributeNames', names, /^#\w+$/))
    if (textOf(names, key) === '')
      throw invalid(`ExpressionAttributeNames contains invalid value: Empty attribute name for key ${key}`);
  return names as Names;
}

function checkedValues(values: Input): Values {
  let changed: Record<string, Attribute> | undefined;
  for (const key of checkedKeys('ExpressionAttributeValues', values, /^:\w+$/)) {
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

function requireAllUsed(given: Placeholders, prepared: readonly Prepared<unknown>[]): void {
  for (const [member, record, used] of [
    ['ExpressionAttributeNames', given.names, 'usedNames'],
    ['ExpressionAttributeValues', given.values, 'usedValues'],
  ] as const) {
    if (record === none.names || record === none.values) continue;
    const unused = Object.keys(record).filter((name) => !prepared.some((one) => one[used].has(name)));
    if (unused.length > 0)
      throw invalid(`Value provided in ${member} unused in expressions: keys: {${unused.join(', ')}}`);
  }
}

function bindProjection(nodes: readonly PathNode[], binding: Binding): (item: Item) => Item {
  const paths = nodes.map((node) => binding.path(node));
  requireApart(paths);
  return (item) => pick(item, paths);
}

/** The parts of the item at these paths. Maps and lists around a part are kept without their other members. */
export function pick(item: Item, paths: readonly Path[]): Item {
  if (paths.every((path) => path.length === 1))
    return Object.fromEntries(
      paths.flatMap(([name]): [string, Attribute][] => {
        const value = memberOf(item, name);
        return value === undefined ? [] : [[name, value]];
      }),
    );
  const present = paths.filter((path) => lookUp(item, path) !== undefined);
  return members(item, present);
}

type Places = readonly (readonly (string | number)[])[];

function members(record: Item, paths: Places): Item {
  const names = new Set(paths.flatMap(([name]) => (typeof name === 'string' ? [name] : [])));
  return Object.fromEntries(
    [...names].flatMap((name): [string, Attribute][] => {
      const value = memberOf(record, name);
      return value === undefined ? [] : [[name, part(value, below(paths, name))]];
    }),
  );
}

function below(paths: Places, head: string | number): Places {
  return paths.filter(([first]) => first === head).map(([, ...rest]) => rest);
}

function part(value: Attribute, paths: Places): Attribute {
  if (paths.some((path) => path.length === 0)) return value;
  if (value.M !== undefined) return { M: members(value.M, paths) };
  const positions = [...new Set(paths.flatMap(([first]) => (typeof first === 'number' ? [first] : [])))];
  const list = value.L ?? [];
  return {
    L: positions
      .sort((one, other) => one - other)
      .flatMap((position) => {
        const found = list[position];
        return found === undefined ? [] : [part(found, below(paths, position))];
      }),
  };
}
