/**
 * Expressions ready for use. The same text with the same names is parsed and bound once, because clients send
 * the same few expressions again and again. What depends on the values is checked for every request.
 */
import type { Item } from '../attributes.ts';
import { invalid } from '../refusals.ts';
import { memberOf, type Path } from '../values.ts';
import { parseCondition } from './condition-syntax.ts';
import { bindCondition, type Test } from './condition.ts';
import { headsOf, keyRequirements, type KeyRequirement } from './key-condition.ts';
import { Binding, type Names, type ValueCheck, type Values } from './placeholders.ts';
import { bindProjection } from './projection.ts';
import { ExpressionFault } from './tokens.ts';
import { parseProjection, parseUpdate } from './update-syntax.ts';
import { bindUpdate, type Update } from './update.ts';

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
