/**
 * Expressions ready for use. The same text with the same names is parsed and bound once, because clients send
 * the same few expressions again and again. What depends on the values is checked for every request.
 */
import type { Attribute, Item } from '../attributes.ts';
import { invalid } from '../refusals.ts';
import { lookUp, memberOf, type Path } from '../values.ts';
import { parseCondition } from './condition-syntax.ts';
import { bindCondition, type Test } from './condition.ts';
import { headsOf, type KeyRequirement, keyRequirements } from './key-condition.ts';
import { Binding, type Names, requireApart, type ValueCheck, type Values } from './placeholders.ts';
import { parseProjection, parseUpdate, type PathNode } from './syntax.ts';
import { ExpressionFault } from './tokens.ts';
import { bindUpdate, type Update } from './update.ts';

// Picks parts of items.

/** Binds a projection to the names of a request. Throws ExpressionFault. */
function bindProjection(nodes: readonly PathNode[], binding: Binding): (item: Item) => Item {
  const paths = nodes.map((node) => binding.path(node));
  requireApart(paths);
  return (item) => pick(item, paths);
}

/**
 * The parts of the item at these places. Maps and lists around a part are kept without their other members.
 */
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

function members(record: Item, paths: readonly (readonly (string | number)[])[]): Item {
  const names = new Set(paths.flatMap(([name]) => (typeof name === 'string' ? [name] : [])));
  return Object.fromEntries(
    [...names].flatMap((name): [string, Attribute][] => {
      const value = memberOf(record, name);
      return value === undefined ? [] : [[name, part(value, below(paths, name))]];
    }),
  );
}

function below(
  paths: readonly (readonly (string | number)[])[],
  head: string | number,
): (string | number)[][] {
  return paths.filter(([first]) => first === head).map(([, ...rest]) => rest);
}

function part(value: Attribute, paths: readonly (readonly (string | number)[])[]): Attribute {
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

/** The parameters that hold an expression. */
export type Parameter =
  | 'ConditionExpression'
  | 'FilterExpression'
  | 'KeyConditionExpression'
  | 'ProjectionExpression'
  | 'UpdateExpression';

/** An expression whose placeholders are replaced and checked. */
export interface Prepared<Result> {
  readonly result: Result;
  readonly usedNames: ReadonlySet<string>;
  readonly usedValues: ReadonlySet<string>;
  /** The paths in the expression. */
  readonly paths: readonly Path[];
  /** The attributes at their beginnings. */
  readonly heads: readonly string[];
}

interface Bound<Result> extends Prepared<Result> {
  readonly names: Names;
  readonly checks: readonly ValueCheck[];
}

/**
 * Maximum number of cached texts of each kind. A client that always sends new texts must not fill the memory.
 */
const keptTexts = 1_000;

/** Makes a function that parses and binds each text once for the same names. */
function prepare<Tree, Result>(
  parse: (text: string) => Tree,
  bind: (tree: Tree, binding: Binding) => Result,
): (parameter: Parameter, text: string, names: Names, values: Values) => Prepared<Result> {
  const known = new Map<string, { readonly tree: Tree; bound?: Bound<Result> }>();
  return (parameter, text, names, values) => {
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
      entry.bound = {
        result,
        usedNames,
        usedValues,
        checks,
        names: { ...names },
        paths,
        heads: headsOf(paths),
      };
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

/** A condition or a filter. */
export const condition: (parameter: Parameter, text: string, names: Names, values: Values) => Prepared<Test> =
  prepare(parseCondition, bindCondition);

/** A key condition, with what it requires of each key attribute. */
export const keyCondition: (
  parameter: Parameter,
  text: string,
  names: Names,
  values: Values,
) => Prepared<readonly KeyRequirement[]> = prepare(parseCondition, (tree, binding) => {
  bindCondition(tree, binding);
  return keyRequirements(tree, binding);
});

export const update: (parameter: Parameter, text: string, names: Names, values: Values) => Prepared<Update> =
  prepare(parseUpdate, bindUpdate);

export const projection: (
  parameter: Parameter,
  text: string,
  names: Names,
  values: Values,
) => Prepared<(item: Item) => Item> = prepare(parseProjection, bindProjection);
