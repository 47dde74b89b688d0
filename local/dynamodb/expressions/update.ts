/** Turns a parsed update into a function that makes the new item, and changes nothing in place. */
import type { Attribute, Item } from '../attributes.ts';
import { add, compareNumbers, subtract } from '../numbers.ts';
import { invalid } from '../refusals.ts';
import { compareBytes, compareTexts, lookUp, memberOf, type Path, type TypeName, typeOf } from '../values.ts';
import {
  type Binding,
  type Getter,
  requireApart,
  requireCount,
  requireDistinct,
  requireType,
  type Values,
} from './placeholders.ts';
import type { CallNode, Clause, Operand, SumNode } from './syntax.ts';
import { ExpressionFault } from './tokens.ts';

/** Makes the item after the update. Throws ValidationException when the item does not allow the update. */
export interface Update {
  readonly apply: (item: Item, values: Values) => Item;
  readonly targets: readonly Path[];
}

/** One change. `value` computes the new value from the item as it was before the update. */
interface Change {
  readonly path: Path;
  readonly removes: boolean;
  readonly value: Getter;
}

export function bindUpdate(clauses: readonly Clause[], binding: Binding): Update {
  const targets = clauses.map(({ target }) => binding.path(target));
  requireApart(targets);
  const changes = clauses.map((clause, index): Change => {
    const path = targets[index] as Path;
    return { path, removes: clause.kind === 'remove', value: valueOf(clause, path, binding) };
  });
  // Positions are those before the update: new members come in their order, and removals from the back.
  const sets = changes.filter(({ removes }) => !removes).sort(byPosition);
  const removals = changes.filter(({ removes }) => removes).sort((one, other) => byPosition(other, one));
  const inOrder = [...sets, ...removals];
  return {
    targets,
    apply: (item, values) => {
      const computed = computeAll(inOrder, item, values);
      for (const { path } of changes) {
        if (path.length > 1) requireParent(item, path);
        if (computed.get(path) === missing) throw missingAttribute();
      }
      const after = { ...item };
      for (const { path, removes } of inOrder) {
        const value = computed.get(path);
        assign(after, path, removes || value === missing ? undefined : value);
      }
      return after;
    },
  };
}

/** Stands for a value that refers to an attribute which the item lacks. */
const missing = Symbol('missing');

/** Computes all new values. A wrong type is thrown here, because DynamoDB checks types before missing attributes. */
function computeAll(
  changes: readonly Change[],
  item: Item,
  values: Values,
): Map<Path, Attribute | undefined | typeof missing> {
  return new Map(
    changes.map(({ path, value }): [Path, Attribute | undefined | typeof missing] => {
      try {
        return [path, value(item, values)];
      } catch (error) {
        if (error instanceof MissingAttribute) return [path, missing];
        throw error;
      }
    }),
  );
}

class MissingAttribute extends Error {}

function missingAttribute(): Error {
  return invalid('The provided expression refers to an attribute that does not exist in the item');
}

function byPosition({ path: one }: Change, { path: other }: Change): number {
  const length = Math.min(one.length, other.length);
  for (let depth = 0; depth < length; depth += 1) {
    const [left, right] = [one[depth], other[depth]];
    if (left === right) continue;
    return typeof left === 'number' && typeof right === 'number' ? left - right : 0;
  }
  return 0;
}

function valueOf(clause: Clause, path: Path, binding: Binding): Getter {
  switch (clause.kind) {
    case 'set':
      return clause.value.kind === 'path'
        ? existing(bindOperand(clause.value, binding))
        : bindOperand(clause.value, binding);
    case 'remove':
      return () => undefined;
    case 'add': {
      const value = bindOperand(clause.value, binding);
      requireSetOperand(clause.value, 'ADD', ['N', 'SS', 'NS', 'BS'], binding);
      return (item, values) => added(lookUp(item, path), value(item, values));
    }
    case 'delete': {
      const value = bindOperand(clause.value, binding);
      requireSetOperand(clause.value, 'DELETE', ['SS', 'NS', 'BS'], binding);
      return (item, values) => without(lookUp(item, path), value(item, values));
    }
  }
}

/** The names of the types in DynamoDB's refusals of ADD and DELETE. */
const longNames: Readonly<Record<TypeName, string>> = {
  S: 'STRING',
  N: 'NUMBER',
  B: 'BINARY',
  BOOL: 'BOOLEAN',
  NULL: 'NULL',
  M: 'MAP',
  L: 'LIST',
  SS: 'STRING_SET',
  NS: 'NUMBER_SET',
  BS: 'BINARY_SET',
};

function requireSetOperand(
  operand: Operand,
  operator: 'ADD' | 'DELETE',
  allowed: readonly TypeName[],
  binding: Binding,
): void {
  if (operand.kind !== 'value') return;
  binding.check((values) => {
    const type = typeOf(values[operand.name] ?? { NULL: true });
    if (!allowed.includes(type))
      throw new ExpressionFault(
        `Incorrect operand type for operator or function; operator: ${operator}, operand type: ${longNames[type]}, typeSet: ALLOWED_FOR_${operator}_OPERAND`,
      );
  });
}

function bindOperand(node: Operand, binding: Binding): Getter {
  switch (node.kind) {
    case 'path':
      return binding.at(node).get;
    case 'value':
      return binding.value(node.name);
    case 'sum':
      return bindSum(node, binding);
    case 'call':
      return bindCall(node, binding);
  }
}

function bindSum({ sign, left, right }: SumNode, binding: Binding): Getter {
  const [one, other] = [existing(bindOperand(left, binding)), existing(bindOperand(right, binding))];
  requireType(binding, left, ['N'], sign);
  requireType(binding, right, ['N'], sign);
  const compute = sign === '+' ? add : subtract;
  return (item, values) => {
    const [first, second] = [one(item, values)?.N, other(item, values)?.N];
    if (first === undefined || second === undefined) throw wrongType();
    return { N: compute(first, second) };
  };
}

function bindCall({ name, args }: CallNode, binding: Binding): Getter {
  const getters = args.map((arg) => bindOperand(arg, binding));
  requireCount(name, args.length, 2);
  const [first, second] = getters;
  if (first === undefined || second === undefined) throw new Error('both functions have two operands');
  if (name === 'if_not_exists') {
    if (args[0]?.kind !== 'path')
      throw new ExpressionFault(
        'Operator or function requires a document path; operator or function: if_not_exists',
      );
    requireDistinct(name, args, binding);
    const other = existing(second);
    // The second operand must exist even when it is not needed.
    return (item, values) => {
      const fallback = other(item, values);
      return first(item, values) ?? fallback;
    };
  }
  for (const arg of args) requireType(binding, arg, ['L'], name);
  const [front, back] = [existing(first), existing(second)];
  return (item, values) => {
    const [one, other] = [front(item, values)?.L, back(item, values)?.L];
    if (one === undefined || other === undefined) throw wrongType();
    return { L: [...one, ...other] };
  };
}

function existing(get: Getter): Getter {
  return (item, values) => {
    const found = get(item, values);
    if (found === undefined) throw new MissingAttribute();
    return found;
  };
}

function wrongType(): Error {
  return invalid('An operand in the update expression has an incorrect data type');
}

/** ADD: a sum of numbers, or the union of two sets. */
function added(before: Attribute | undefined, value: Attribute | undefined): Attribute {
  if (value === undefined) throw wrongType();
  if (before === undefined) return value;
  if (before.N !== undefined && value.N !== undefined) return { N: add(before.N, value.N) };
  if (before.SS && value.SS) return { SS: union(before.SS, value.SS).sort(compareTexts) };
  if (before.NS && value.NS) return { NS: union(before.NS, value.NS).sort(compareNumbers) };
  if (before.BS && value.BS) return { BS: union(before.BS, value.BS).sort(compareBytes) };
  throw wrongType();
}

function union(left: readonly string[], right: readonly string[]): string[] {
  return [...new Set([...left, ...right])];
}

/** DELETE: a set without some members. A set that would be empty is removed. */
function without(before: Attribute | undefined, value: Attribute | undefined): Attribute | undefined {
  if (before === undefined || value === undefined) return undefined;
  for (const type of ['SS', 'NS', 'BS'] as const) {
    const [members, gone] = [before[type], value[type]];
    if (members === undefined || gone === undefined) continue;
    const left = members.filter((member) => !gone.includes(member));
    return left.length === 0 ? undefined : { [type]: left };
  }
  throw wrongType();
}

/** Checks that the path can be changed: a map around a name, or a list around a position. */
function requireParent(item: Item, path: Path): void {
  const parent = lookUp(item, path.slice(0, -1) as [string, ...(string | number)[]]);
  const isFit = typeof path.at(-1) === 'number' ? parent?.L !== undefined : parent?.M !== undefined;
  if (!isFit) throw wrongPath();
}

/** Makes one change in a private copy of the item. undefined removes the value at the path. */
function assign(copy: Record<string, Attribute>, [name, ...rest]: Path, value: Attribute | undefined): void {
  if (rest.length > 0) {
    const inner = memberOf(copy, name);
    if (inner === undefined) throw wrongPath();
    setMember(copy, name, within(inner, rest, value));
  } else if (value !== undefined) setMember(copy, name, value);
  else Reflect.deleteProperty(copy, name);
}

function setMember(copy: Record<string, Attribute>, name: string, value: Attribute): void {
  // A plain assignment to this name would change the prototype.
  if (name === '__proto__')
    Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true });
  else copy[name] = value;
}

function within(
  parent: Attribute,
  [part, ...rest]: readonly (string | number)[],
  value: Attribute | undefined,
): Attribute {
  if (typeof part === 'number') {
    if (parent.L === undefined) throw wrongPath();
    const list = [...parent.L];
    const found = list[part];
    if (rest.length > 0) {
      if (found === undefined) throw wrongPath();
      list[part] = within(found, rest, value);
    } else if (value === undefined) list.splice(part, 1);
    else list[Math.min(part, list.length)] = value;
    return { L: list };
  }
  if (parent.M === undefined || part === undefined) throw wrongPath();
  if (rest.length === 0) return { M: withMember(parent.M, part, value) };
  const inner = memberOf(parent.M, part);
  if (inner === undefined) throw wrongPath();
  return { M: withMember(parent.M, part, within(inner, rest, value)) };
}

function withMember(record: Item, name: string, value: Attribute | undefined): Item {
  if (value !== undefined) return { ...record, [name]: value };
  if (!Object.hasOwn(record, name)) return record;
  const { [name]: _removed, ...others } = record;
  return others;
}

function wrongPath(): Error {
  return invalid('The document path provided in the update expression is invalid for update');
}
