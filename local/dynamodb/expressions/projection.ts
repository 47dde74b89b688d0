/** Picks parts of items. */
import type { Attribute, Item } from '../attributes.ts';
import { lookUp, memberOf, type Path } from '../values.ts';
import { requireApart, type Binding } from './placeholders.ts';
import type { PathNode } from './syntax.ts';

/** Binds a projection to the names of a request. Throws ExpressionFault. */
export function bindProjection(nodes: readonly PathNode[], binding: Binding): (item: Item) => Item {
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
