/** DynamoDB's update and projection expressions, as far as the adapters write them. */
import { lookUp, type Attribute, type Item, type Path } from './attributes.ts';
import { cached, list, operand, path, type Operand, type Scope, type Tokens } from './expression-tokens.ts';

/** An update that the item does not allow. DynamoDB refuses it with a ValidationException. */
export class InvalidUpdate extends Error {}

export interface Assignment {
  readonly path: (scope: Scope) => Path;
  /** The new value. undefined removes the attribute. */
  readonly value: Operand;
}

/** Parses an update into assignments. Their values are computed from the item as it was before the update. */
export const update = cached(clauses);
/** Parses a projection into the paths that it names. */
export const projection = cached((tokens) => list(tokens, () => path(tokens)));

function clauses(tokens: Tokens): Assignment[] {
  const assignments: Assignment[] = [];
  while (tokens.peek() !== '') {
    if (tokens.takes('SET')) assignments.push(...list(tokens, () => setting(tokens)));
    else if (tokens.takes('REMOVE'))
      assignments.push(...list(tokens, () => ({ path: path(tokens), value: () => undefined })));
    else if (tokens.takes('ADD')) assignments.push(...list(tokens, () => adding(tokens)));
    else throw tokens.fault();
  }
  return assignments;
}

function setting(tokens: Tokens): Assignment {
  const place = path(tokens);
  tokens.expect('=');
  const first = setOperand(tokens);
  const sign = tokens.takes('+') ? 1 : tokens.takes('-') ? -1 : 0;
  if (sign === 0) return { path: place, value: first };
  const second = setOperand(tokens);
  return { path: place, value: (scope) => sum(first(scope), second(scope), sign) };
}

/** An operand of SET, which must exist. */
function setOperand(tokens: Tokens): Operand {
  const isDefault = tokens.peek() === 'if_not_exists';
  const value = isDefault ? ifNotExists(tokens) : operand(tokens);
  return (scope) => {
    const found = value(scope);
    if (found === undefined)
      throw new InvalidUpdate(
        'The provided expression refers to an attribute that does not exist in the item',
      );
    return found;
  };
}

function ifNotExists(tokens: Tokens): Operand {
  tokens.take();
  tokens.expect('(');
  const first = operand(tokens);
  tokens.expect(',');
  const second = operand(tokens);
  tokens.expect(')');
  return (scope) => first(scope) ?? second(scope);
}

function adding(tokens: Tokens): Assignment {
  const place = path(tokens);
  const value = operand(tokens);
  return {
    path: place,
    value: (scope) => sum(lookUp(scope.item, place(scope)) ?? { N: '0' }, value(scope), 1),
  };
}

function sum(left: Attribute | undefined, right: Attribute | undefined, sign: number): Attribute {
  if (left?.N === undefined || right?.N === undefined) {
    throw new InvalidUpdate('An operand in the update expression has an incorrect data type');
  }
  return { N: String(Number(left.N) + sign * Number(right.N)) };
}

/** Returns a copy of the item with one assignment made. */
export function assign(item: Item, [first, ...rest]: Path, value: Attribute | undefined): Item {
  if (typeof first !== 'string') throw new Error('a path begins with a name');
  if (rest.length === 0) {
    const { [first]: _replaced, ...others } = item;
    return value === undefined ? others : { ...others, [first]: value };
  }
  const inner = item[first]?.M;
  if (inner === undefined) {
    throw new InvalidUpdate('The document path provided in the update expression is invalid for update');
  }
  return { ...item, [first]: { M: assign(inner, rest, value) } };
}
