/** Turns a parsed condition into a function over items. */
import type { Attribute, Item } from '../attributes.ts';
import { beginsWith, bytesOfBase64, equal, order, typeOf, type TypeName } from '../values.ts';
import { maxOperandsOfIn } from '../refusals.ts';
import type { Comparator, Condition } from './condition-syntax.ts';
import {
  requireCount,
  requireDistinct,
  requireType,
  type Binding,
  type Getter,
  type Values,
} from './placeholders.ts';
import type { CallNode, Operand } from './syntax.ts';
import { ExpressionFault } from './tokens.ts';

export type Test = (item: Item, values: Values) => boolean;

const ordered: readonly TypeName[] = ['S', 'N', 'B'];
const sized: readonly TypeName[] = ['S', 'B', 'SS', 'NS', 'BS', 'L', 'M'];

export function bindCondition(node: Condition, binding: Binding): Test {
  switch (node.kind) {
    case 'and': {
      const parts = node.parts.map((part) => bindCondition(part, binding));
      return (item, values) => parts.every((part) => part(item, values));
    }
    case 'or': {
      const parts = node.parts.map((part) => bindCondition(part, binding));
      return (item, values) => parts.some((part) => part(item, values));
    }
    case 'not': {
      const inner = bindCondition(node.inner, binding);
      return (item, values) => !inner(item, values);
    }
    case 'compare':
      return comparison(node.comparator, node.left, node.right, binding);
    case 'between':
      return between(node.operand, node.low, node.high, binding);
    case 'in': {
      const [getOperand, ...options] = [node.operand, ...node.options].map((one) =>
        bindOperand(one, binding),
      );
      if (options.length > maxOperandsOfIn)
        throw new ExpressionFault(
          `The IN operator is provided with too many operands; number of operands: ${options.length}`,
        );
      requireDistinct('IN', [node.operand, ...node.options], binding);
      return (item, values) => {
        const operand = getOperand?.(item, values);
        return options.some((option) => equal(operand, option(item, values)));
      };
    }
    case 'call':
      return call(node, binding);
  }
}

function comparison(comparator: Comparator, left: Operand, right: Operand, binding: Binding): Test {
  const [one, other] = [bindOperand(left, binding), bindOperand(right, binding)];
  if (comparator !== '=' && comparator !== '<>') {
    requireType(binding, left, ordered, comparator);
    requireType(binding, right, ordered, comparator);
  }
  requireDistinct(comparator, [left, right], binding);
  const holds = relations[comparator];
  return (item, values) => holds(one(item, values), other(item, values));
}

const relations: Readonly<
  Record<Comparator, (left: Attribute | undefined, right: Attribute | undefined) => boolean>
> = {
  '=': equal,
  '<>': (left, right) => !equal(left, right),
  '<': (left, right) => (order(left, right) ?? 0) < 0,
  '<=': (left, right) => (order(left, right) ?? 1) <= 0,
  '>': (left, right) => (order(left, right) ?? 0) > 0,
  '>=': (left, right) => (order(left, right) ?? -1) >= 0,
};

function between(operand: Operand, low: Operand, high: Operand, binding: Binding): Test {
  const getOperand = bindOperand(operand, binding);
  const [lower, upper] = [bindOperand(low, binding), bindOperand(high, binding)];
  for (const one of [operand, low, high]) requireType(binding, one, ordered, 'BETWEEN');
  requireDistinct('BETWEEN', [operand, low, high], binding);
  if (low.kind === 'value' && high.kind === 'value')
    binding.check((values) => requireBounds(values[low.name], values[high.name]));
  return (item, values) => {
    const value = getOperand(item, values);
    return (order(value, lower(item, values)) ?? -1) >= 0 && (order(value, upper(item, values)) ?? 1) <= 0;
  };
}

function requireBounds(low: Attribute | undefined, high: Attribute | undefined): void {
  if (low === undefined || high === undefined) return;
  const bounds = `lower bound operand: AttributeValue: ${written(low)}, upper bound operand: AttributeValue: ${written(high)}`;
  const difference = order(low, high);
  if (difference === undefined)
    throw new ExpressionFault(
      `The BETWEEN operator requires same data type for lower and upper bounds; ${bounds}`,
    );
  if (difference > 0)
    throw new ExpressionFault(
      `The BETWEEN operator requires upper bound to be greater than or equal to lower bound; ${bounds}`,
    );
}

function written(value: Attribute): string {
  return `{${typeOf(value)}:${value.S ?? value.N ?? value.B ?? ''}}`;
}

function bindOperand(node: Operand, binding: Binding): Getter {
  switch (node.kind) {
    case 'path':
      return binding.at(node).get;
    case 'value':
      return binding.value(node.name);
    case 'call': {
      const args = node.args.map((arg) => bindOperand(arg, binding));
      requireCount(node.name, args.length, 1);
      for (const arg of node.args) requireType(binding, arg, sized, node.name);
      return (item, values) => sizeOperand(args[0]?.(item, values));
    }
    case 'sum':
      throw new Error('a condition has no sums');
  }
}

function sizeOperand(value: Attribute | undefined): Attribute | undefined {
  if (value === undefined) return undefined;
  const { S, B, M } = value;
  const members = value.L ?? value.SS ?? value.NS ?? value.BS;
  const size =
    S !== undefined
      ? S.length
      : B !== undefined
        ? bytesOfBase64(B)
        : M !== undefined
          ? Object.keys(M).length
          : members?.length;
  return size === undefined ? undefined : { N: String(size) };
}

function call({ name, args }: CallNode, binding: Binding): Test {
  const getters = args.map((arg) => bindOperand(arg, binding));
  const [first, second] = getters;
  const isTestOfExistence = name === 'attribute_exists' || name === 'attribute_not_exists';
  requireCount(name, args.length, isTestOfExistence ? 1 : 2);
  if ((isTestOfExistence || name === 'attribute_type') && args[0]?.kind !== 'path')
    throw new ExpressionFault(`Operator or function requires a document path; operator or function: ${name}`);
  if (!isTestOfExistence && name !== 'attribute_type') requireDistinct(name, args, binding);
  if (first === undefined) throw new Error('a test has an operand');
  if (name === 'attribute_exists') return (item, values) => first(item, values) !== undefined;
  if (name === 'attribute_not_exists') return (item, values) => first(item, values) === undefined;
  if (second === undefined) throw new Error('this test has two operands');
  if (name === 'attribute_type') return attributeType(first, second, args[1], binding);
  if (name === 'begins_with') {
    for (const arg of args) requireType(binding, arg, ['S', 'B'], name);
    return (item, values) => beginsWith(first(item, values), second(item, values));
  }
  return (item, values) => contains(first(item, values), second(item, values));
}

const typeNames = 'N,BS,L,B,NULL,M,S,SS,NS,BOOL';
// DynamoDB lists the types inside its engine when the second operand is a path.
const innerTypeNames =
  'FS,S,BOOL,HD,DECIMAL,N,NULL,M,B,NS,INTSET,DOUBLE,L,BS,INT,FLOAT,SS,DECIMALSET,DOUBLESET,DICT,HDS';

function attributeType(first: Getter, second: Getter, wanted: Operand | undefined, binding: Binding): Test {
  if (wanted?.kind !== 'value')
    throw new ExpressionFault(
      `Incorrect operand type for operator or function; operator or function: attribute_type, operand type: {${innerTypeNames}}`,
    );
  requireType(binding, wanted, ['S'], 'attribute_type');
  binding.check((values) => {
    const type = values[wanted.name]?.S ?? '';
    if (!typeNames.split(',').includes(type))
      throw new ExpressionFault(
        `Invalid attribute type name found; type: ${type}, valid types: {${typeNames}}`,
      );
  });
  return (item, values) => {
    const value = first(item, values);
    return value !== undefined && typeOf(value) === second(item, values)?.S;
  };
}

function contains(value: Attribute | undefined, part: Attribute | undefined): boolean {
  if (value === undefined || part === undefined) return false;
  if (value.S !== undefined) return part.S !== undefined && value.S.includes(part.S);
  if (value.B !== undefined)
    return part.B !== undefined && Buffer.from(value.B, 'base64').includes(Buffer.from(part.B, 'base64'));
  if (value.L !== undefined) return value.L.some((one) => equal(one, part));
  if (value.SS !== undefined) return part.S !== undefined && value.SS.includes(part.S);
  if (value.NS !== undefined) return part.N !== undefined && value.NS.includes(part.N);
  if (value.BS !== undefined) return part.B !== undefined && value.BS.includes(part.B);
  return false;
}
