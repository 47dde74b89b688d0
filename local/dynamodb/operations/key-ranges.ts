/** Key conditions of a Query: the partition, and the range of its sort keys. */
import type { Attribute } from '../attributes.ts';
import { valuesOf, type KeyRequirement } from '../expressions/key-condition.ts';
import type { Values } from '../expressions/placeholders.ts';
import { scalarOf, type KeySchema } from '../keys.ts';
import { invalid } from '../refusals.ts';
import { firstIndex, type Row } from '../sorted-rows.ts';
import { emptyKey } from '../validation/keys.ts';
import { beginsWith, order } from '../values.ts';

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
