/** Turns a key condition into the partition that a query reads, and the range of sort keys in it. */
import type { Attribute } from '../attributes.ts';
import { invalid } from '../refusals.ts';
import { firstIndex, type KeySchema, type Row, scalarOf } from '../rows.ts';
import { emptyKey } from '../validation/keys.ts';
import { beginsWith, order, type Path } from '../values.ts';
import type { Comparator, Condition } from './condition-syntax.ts';
import type { Binding, Values } from './placeholders.ts';
import type { Operand } from './syntax.ts';

/** What one key attribute must be. The values are placeholders. */
export interface KeyRequirement {
  readonly attribute: string;
  readonly operator: Comparator | 'BETWEEN' | 'begins_with';
  readonly values: readonly string[];
}

const mirrored: Readonly<Record<Comparator, Comparator>> = {
  '=': '=',
  '<>': '<>',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

/** The requirements of a key condition that was accepted before. Throws ValidationException. */
export function keyRequirements(node: Condition, binding: Binding): KeyRequirement[] {
  const parts = node.kind === 'and' ? node.parts : [node];
  const requirements = parts.flatMap((part) =>
    part.kind === 'and' ? keyRequirements(part, binding) : [requirement(part, binding)],
  );
  const names = requirements.map(({ attribute }) => attribute);
  if (new Set(names).size < names.length)
    throw invalid('KeyConditionExpressions must only contain one condition per key');
  return requirements;
}

function requirement(node: Condition, binding: Binding): KeyRequirement {
  switch (node.kind) {
    case 'compare': {
      if (node.comparator === '<>') throw wrongOperator('<>');
      const isTurned = node.left.kind === 'value' && node.right.kind === 'path';
      const operator = isTurned ? mirrored[node.comparator] : node.comparator;
      return of(operator, isTurned ? [node.right, node.left] : [node.left, node.right], binding);
    }
    case 'between':
      return of('BETWEEN', [node.operand, node.low, node.high], binding);
    case 'call':
      if (node.name !== 'begins_with') throw wrongOperator(node.name);
      return of('begins_with', node.args, binding);
    case 'in':
      throw wrongOperator('IN');
    case 'not':
      throw wrongOperator('NOT');
    case 'or':
      throw wrongOperator('OR');
    case 'and':
      throw new Error('a conjunction has been taken apart');
  }
}

function of(
  operator: KeyRequirement['operator'],
  [first, ...others]: readonly Operand[],
  binding: Binding,
): KeyRequirement {
  const operands = first === undefined ? others : [first, ...others];
  if (operands.some(({ kind }) => kind === 'call' || kind === 'sum'))
    throw invalid('KeyConditionExpressions cannot contain nested operations');
  if (others.some(({ kind }) => kind === 'path'))
    throw invalid(
      'Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition',
    );
  if (first?.kind !== 'path')
    throw invalid('Invalid condition in KeyConditionExpression: No key attribute specified');
  const [head, ...rest] = first.parts;
  const attribute = binding.names[head] ?? head;
  if (rest.length > 0)
    throw invalid(
      `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: ${attribute}`,
    );
  return { attribute, operator, values: others.flatMap((one) => (one.kind === 'value' ? [one.name] : [])) };
}

function wrongOperator(operator: string): Error {
  return invalid(`Invalid operator used in KeyConditionExpression: ${operator}`);
}

function valuesOf({ values: names }: KeyRequirement, values: Values): Attribute[] {
  return names.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [value];
  });
}

/** The first parts of paths, without doubles. */
export function headsOf(paths: readonly Path[]): string[] {
  return [...new Set(paths.map(([head]) => head))];
}

// Key conditions of a Query: the partition, and the range of its sort keys.

/** Refuses a key condition that does not fit the key. Throws ValidationException. */
export function checkRequirements(
  { hash, range }: KeySchema,
  requirements: readonly KeyRequirement[],
  values: Values,
): void {
  if (requirements.length > 2) throw invalid('Conditions can be of length 1 or 2 only');
  const onHash = requirements.find(({ attribute }) => attribute === hash.name);
  const others = requirements.filter((one) => one !== onHash);
  if (onHash === undefined || others.some(({ attribute }) => attribute !== range?.name))
    throw invalid('Query condition missed key schema element');
  for (const requirement of requirements) {
    const { type, name } = requirement === onHash || range === undefined ? hash : range;
    for (const value of valuesOf(requirement, values)) {
      if (value[type] === undefined)
        throw invalid(
          'One or more parameter values were invalid: Condition parameter type does not match schema type',
        );
      if (value.S === '' || value.B === '') throw invalid(emptyKey(name, value));
    }
  }
  if (onHash.operator !== '=') throw invalid('Query key condition not supported');
}

/** Where a sort key is: before the wanted range, in it, or after it. */
export type Range = (sort: Attribute | undefined) => -1 | 0 | 1;

/** The partition that a key condition names, and the range in it. */
export function partitionOf(
  { hash }: KeySchema,
  requirements: readonly KeyRequirement[],
  values: Values,
): { readonly hash: string; readonly hashValue: Attribute; readonly isInRange: Range } {
  const onHash = requirements.find(({ attribute }) => attribute === hash.name);
  const [hashValue = {}] = onHash === undefined ? [] : valuesOf(onHash, values);
  const onRange = requirements.find((one) => one !== onHash);
  return { hash: scalarOf(hashValue), hashValue, isInRange: rangeOf(onRange, values) };
}

function rangeOf(requirement: KeyRequirement | undefined, values: Values): Range {
  if (requirement === undefined) return () => 0;
  const [low, high = low] = valuesOf(requirement, values);
  const against = (sort: Attribute | undefined, bound: Attribute | undefined): number =>
    order(sort, bound) ?? 0;
  switch (requirement.operator) {
    case '=':
    case 'BETWEEN':
      return (sort) => (against(sort, low) < 0 ? -1 : against(sort, high) > 0 ? 1 : 0);
    case '<':
      return (sort) => (against(sort, low) < 0 ? 0 : 1);
    case '<=':
      return (sort) => (against(sort, low) <= 0 ? 0 : 1);
    case '>':
      return (sort) => (against(sort, low) > 0 ? 0 : -1);
    case '>=':
      return (sort) => (against(sort, low) >= 0 ? 0 : -1);
    case 'begins_with':
      return (sort) => (beginsWith(sort, low) ? 0 : against(sort, low) < 0 ? -1 : 1);
    case '<>':
      throw new Error('a key condition has no <>');
  }
}

/** The first row in the range, and the first row after it. */
export function bounds(rows: readonly Row[], range: Range): readonly [number, number] {
  return [firstIndex(rows, ({ sort }) => range(sort) >= 0), firstIndex(rows, ({ sort }) => range(sort) > 0)];
}
