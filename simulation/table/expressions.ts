/**
 * DynamoDB's expressions as far as the adapters write them: conditions, key conditions,
 * updates and projections, parsed once for each text and then evaluated. What is not
 * understood is thrown, never guessed.
 */

/** A value in DynamoDB's own JSON; exactly one member is set. */
export interface Attribute {
  readonly S?: string;
  readonly N?: string;
  readonly BOOL?: boolean;
  readonly NULL?: boolean;
  readonly M?: Readonly<Record<string, Attribute>>;
  readonly L?: readonly Attribute[];
}

export type Item = Readonly<Record<string, Attribute>>;

/** What an expression's placeholders stand for, and the item that it looks at. */
export interface Scope {
  readonly item: Item;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, Attribute>>;
}

/** An update that the item does not allow, as DynamoDB refuses it. */
export class InvalidUpdate extends Error {}

type Path = readonly (string | number)[];
type Operand = (scope: Scope) => Attribute | undefined;
type Condition = (scope: Scope) => boolean;

export interface Assignment {
  readonly path: (scope: Scope) => Path;
  /** undefined removes the attribute. */
  readonly value: Operand;
}

const token = /\s*(#\w+|:\w+|[A-Za-z_]\w*|\d+|<=|>=|<>|[=<>(),.+\-[\]])/y;

class Tokens {
  readonly #tokens: string[] = [];
  #next = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    token.lastIndex = 0;
    for (let end = 0; text.slice(end).trim() !== ''; end = token.lastIndex) {
      token.lastIndex = end;
      const match = token.exec(text);
      if (!match?.[1]) throw this.fault();
      this.#tokens.push(match[1]);
    }
  }

  peek(ahead = 0): string {
    return this.#tokens[this.#next + ahead] ?? '';
  }

  isWord(word: string): boolean {
    return this.peek().toUpperCase() === word;
  }

  take(): string {
    const value = this.peek();
    this.#next += 1;
    return value;
  }

  takes(expected: string): boolean {
    if (!this.isWord(expected)) return false;
    this.#next += 1;
    return true;
  }

  expect(expected: string): void {
    if (!this.takes(expected)) throw this.fault();
  }

  end(): void {
    if (this.peek() !== '') throw this.fault();
  }

  fault(): Error {
    return new Error(`the simulation's table does not understand "${this.#text}" at "${this.peek()}"`);
  }
}

function cached<Parsed>(parse: (tokens: Tokens) => Parsed): (text: string) => Parsed {
  const known = new Map<string, Parsed>();
  return (text) => {
    let parsed = known.get(text);
    if (parsed === undefined) {
      const tokens = new Tokens(text);
      parsed = parse(tokens);
      tokens.end();
      known.set(text, parsed);
    }
    return parsed;
  };
}

/** A condition or key condition. */
export const condition = cached(disjunction);
/** The assignments of an update, to be evaluated against the old item. */
export const update = cached(clauses);
/** Top-level attribute names of a projection. */
export const projection = cached((tokens) => list(tokens, () => path(tokens)));

function list<Value>(tokens: Tokens, one: () => Value): Value[] {
  const values = [one()];
  while (tokens.takes(',')) values.push(one());
  return values;
}

function disjunction(tokens: Tokens): Condition {
  const parts = [conjunction(tokens)];
  while (tokens.takes('OR')) parts.push(conjunction(tokens));
  return (scope) => parts.some((part) => part(scope));
}

function conjunction(tokens: Tokens): Condition {
  const parts = [factor(tokens)];
  while (tokens.takes('AND')) parts.push(factor(tokens));
  return (scope) => parts.every((part) => part(scope));
}

function factor(tokens: Tokens): Condition {
  if (tokens.takes('NOT')) {
    const inner = factor(tokens);
    return (scope) => !inner(scope);
  }
  if (tokens.takes('(')) {
    const inner = disjunction(tokens);
    tokens.expect(')');
    return inner;
  }
  return tokens.peek(1) === '(' ? predicate(tokens) : comparison(tokens);
}

function predicate(tokens: Tokens): Condition {
  const name = tokens.take();
  tokens.expect('(');
  const args = list(tokens, () => operand(tokens));
  tokens.expect(')');
  const [first, second] = args;
  if (first && name === 'attribute_exists') return (scope) => first(scope) !== undefined;
  if (first && name === 'attribute_not_exists') return (scope) => first(scope) === undefined;
  if (first && second && name === 'begins_with')
    return (scope) => first(scope)?.S?.startsWith(second(scope)?.S ?? '\0') === true;
  throw tokens.fault();
}

function comparison(tokens: Tokens): Condition {
  const left = operand(tokens);
  const operator = tokens.take().toUpperCase();
  if (operator === 'IN') {
    tokens.expect('(');
    const among = list(tokens, () => operand(tokens));
    tokens.expect(')');
    return (scope) => among.some((one) => equal(left(scope), one(scope)));
  }
  const right = operand(tokens);
  switch (operator) {
    case '=':
      return (scope) => equal(left(scope), right(scope));
    case '<>':
      return (scope) => !equal(left(scope), right(scope));
    case '<':
      return (scope) => order(left(scope), right(scope)) < 0;
    case '<=':
      return (scope) => order(left(scope), right(scope)) <= 0;
    case '>':
      return (scope) => order(left(scope), right(scope)) > 0;
    case '>=':
      return (scope) => order(left(scope), right(scope)) >= 0;
  }
  throw tokens.fault();
}

function equal(left: Attribute | undefined, right: Attribute | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  if (left.S !== undefined || right.S !== undefined) return left.S === right.S;
  if (left.N !== undefined || right.N !== undefined)
    return left.N !== undefined && right.N !== undefined && Number(left.N) === Number(right.N);
  return JSON.stringify(left) === JSON.stringify(right);
}

/** NaN where the two cannot be compared: every comparison with it is false. */
function order(left: Attribute | undefined, right: Attribute | undefined): number {
  if (left?.N !== undefined && right?.N !== undefined) return Number(left.N) - Number(right.N);
  if (left?.S !== undefined && right?.S !== undefined)
    return left.S < right.S ? -1 : Number(left.S > right.S);
  return Number.NaN;
}

function operand(tokens: Tokens): Operand {
  if (tokens.peek().startsWith(':')) {
    const name = tokens.take();
    return ({ values }) => {
      const value = values[name];
      if (value === undefined) throw new Error(`no value is given for ${name}`);
      return value;
    };
  }
  const place = path(tokens);
  return (scope) => lookUp(scope.item, place(scope));
}

function path(tokens: Tokens): (scope: Pick<Scope, 'names'>) => Path {
  const parts: (string | number)[] = [tokens.take()];
  for (;;) {
    if (tokens.takes('.')) parts.push(tokens.take());
    else if (tokens.takes('[')) {
      parts.push(Number(tokens.take()));
      tokens.expect(']');
    } else break;
  }
  const resolve = (names: Scope['names'], part: string): string => {
    const name = part.startsWith('#') ? names[part] : part;
    if (name === undefined) throw new Error(`no name is given for ${part}`);
    return name;
  };
  return ({ names }) => parts.map((part) => (typeof part === 'number' ? part : resolve(names, part)));
}

function lookUp(item: Item, place: Path): Attribute | undefined {
  let found: Attribute | undefined = { M: item };
  for (const part of place) found = typeof part === 'number' ? found?.L?.[part] : found?.M?.[part];
  return found;
}

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

/** What SET assigns has to be there. */
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

/** The item with one assignment made; the old one is left as it is. */
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
