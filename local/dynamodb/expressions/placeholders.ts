/** Replaces the placeholders of an expression by names, and checks that they are defined. */
import type { Attribute, Item } from '../attributes.ts';
import { lookUp, memberOf, typeOf, type Path, type TypeName } from '../values.ts';
import type { Operand, PathNode } from './syntax.ts';
import { ExpressionFault } from './tokens.ts';

export type Names = Readonly<Record<string, string>>;
export type Values = Readonly<Record<string, Attribute>>;

/** Computes a value of an item; undefined when the item lacks the attribute. */
export type Getter = (item: Item, values: Values) => Attribute | undefined;

/** Checks the values of a request against an expression. Throws ExpressionFault. */
export type ValueCheck = (values: Values) => void;

/** The names of one request, and the checks of its values, in the order in which DynamoDB finds faults. */
export class Binding {
  readonly names: Names;
  readonly values: Values;
  readonly usedNames = new Set<string>();
  readonly usedValues = new Set<string>();
  readonly checks: ValueCheck[] = [];
  /** The paths in the expression, in their order. */
  readonly paths: Path[] = [];

  constructor(names: Names, values: Values) {
    this.names = names;
    this.values = values;
  }

  /** Adds a check, and runs it on the values of this request at once. */
  check(check: ValueCheck): void {
    check(this.values);
    this.checks.push(check);
  }

  path({ parts }: PathNode): Path {
    const [head, ...rest] = parts;
    const path: Path = [
      this.#name(head),
      ...rest.map((part) => (typeof part === 'number' ? part : this.#name(part))),
    ];
    this.paths.push(path);
    return path;
  }

  #name(text: string): string {
    if (!text.startsWith('#')) return text;
    const name = memberOf(this.names, text);
    if (name === undefined)
      throw new ExpressionFault(
        `An expression attribute name used in the document path is not defined; attribute name: ${text}`,
      );
    this.usedNames.add(text);
    return name;
  }

  value(name: string): Getter {
    this.usedValues.add(name);
    this.check((values) => {
      if (memberOf(values, name) === undefined)
        throw new ExpressionFault(
          `An expression attribute value used in expression is not defined; attribute value: ${name}`,
        );
    });
    return (_item, values) => values[name];
  }

  at(node: PathNode): { readonly path: Path; readonly get: Getter } {
    const path = this.path(node);
    const [head] = path;
    const get: Getter = path.length === 1 ? (item) => memberOf(item, head) : (item) => lookUp(item, path);
    return { path, get };
  }
}

/** The type of an operand that does not depend on the item. */
function fixedType(operand: Operand, values: Values): TypeName | undefined {
  switch (operand.kind) {
    case 'value': {
      const value = memberOf(values, operand.name);
      return value && typeOf(value);
    }
    case 'call':
      return operand.name === 'size' ? 'N' : operand.name === 'list_append' ? 'L' : undefined;
    case 'sum':
      return 'N';
    case 'path':
      return undefined;
  }
}

/** Checks the type of an operand, as far as it does not depend on the item. */
export function requireType(
  binding: Binding,
  operand: Operand,
  allowed: readonly TypeName[],
  operator: string,
): void {
  if (operand.kind === 'path') return;
  binding.check((values) => {
    const type = fixedType(operand, values);
    if (type !== undefined && !allowed.includes(type))
      throw new ExpressionFault(
        `Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${type}`,
      );
  });
}

export function requireCount(name: string, found: number, wanted: number): void {
  if (found !== wanted)
    throw new ExpressionFault(
      `Incorrect number of operands for operator or function; operator or function: ${name}, number of operands: ${found}`,
    );
}

/** Throws ExpressionFault when the first operand is a path and another one is the same path. */
export function requireDistinct(operator: string, operands: readonly Operand[], binding: Binding): void {
  const [first, ...others] = operands.map((one) =>
    one.kind === 'path' ? pathText(one, binding) : undefined,
  );
  if (first !== undefined && others.includes(first))
    throw new ExpressionFault(
      `The first operand must be distinct from the remaining operands for this operator or function; operator: ${operator}, first operand: ${first}`,
    );
}

function pathText(
  { parts: [head, ...rest] }: Extract<Operand, { kind: 'path' }>,
  { names }: Binding,
): string {
  const named = (part: string): string => names[part] ?? part;
  return writtenPath([named(head), ...rest.map((part) => (typeof part === 'number' ? part : named(part)))]);
}

/** A path as DynamoDB writes it in a refusal. */
function writtenPath(path: Path): string {
  return `[${path.map((part) => (typeof part === 'number' ? `[${part}]` : part)).join(', ')}]`;
}

/** Throws ExpressionFault when two paths overlap, or need different kinds of parents. */
export function requireApart(paths: readonly Path[]): void {
  for (const [place, one] of paths.entries()) {
    for (const other of paths.slice(place + 1)) {
      const verb = clash(one, other);
      if (verb !== undefined)
        throw new ExpressionFault(
          `Two document paths ${verb} with each other; must remove or rewrite one of these paths; path one: ${writtenPath(one)}, path two: ${writtenPath(other)}`,
        );
    }
  }
}

function clash(one: Path, other: Path): 'overlap' | 'conflict' | undefined {
  const length = Math.min(one.length, other.length);
  for (let depth = 0; depth < length; depth += 1) {
    if (one[depth] === other[depth]) continue;
    return typeof one[depth] === typeof other[depth] ? undefined : 'conflict';
  }
  return 'overlap';
}
