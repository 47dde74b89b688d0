/** The syntax trees of DynamoDB's expressions, and the parts that all of them share. */
import { ExpressionFault, isReserved, Tokens } from './tokens.ts';

/** A path as it is written: names, placeholders of names, and positions in lists. */
export interface PathNode {
  readonly kind: 'path';
  readonly parts: readonly [string, ...(string | number)[]];
}

export interface ValueNode {
  readonly kind: 'value';
  readonly name: string;
}

export interface CallNode {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly Operand[];
}

/** A sum or a difference in a SET clause. */
export interface SumNode {
  readonly kind: 'sum';
  readonly sign: '+' | '-';
  readonly left: Operand;
  readonly right: Operand;
}

export type Operand = PathNode | ValueNode | CallNode | SumNode;

const problemKinds = ['parentheses', 'function', 'misuse', 'reserved', 'section', 'index'] as const;

/** Faults that DynamoDB reports only for an expression without a syntax error. The first kind counts first. */
export class Problems {
  readonly #first = new Map<string, string>();

  note(kind: (typeof problemKinds)[number], message: string): void {
    if (!this.#first.has(kind)) this.#first.set(kind, message);
  }

  redundantParentheses(): void {
    this.note('parentheses', 'The expression has redundant parentheses;');
  }

  check(): void {
    for (const kind of problemKinds) {
      const message = this.#first.get(kind);
      if (message !== undefined) throw new ExpressionFault(message);
    }
  }
}

const maxIndex = 2 ** 31 - 1;

function path(tokens: Tokens, problems: Problems): PathNode {
  const parts: [string, ...(string | number)[]] = [namePart(tokens, problems)];
  for (;;) {
    if (tokens.takesSign('.')) parts.push(namePart(tokens, problems));
    else if (tokens.takesSign('[')) {
      if (tokens.peek().kind !== 'number') throw tokens.fault();
      const { text } = tokens.take();
      if (Number(text) > maxIndex)
        problems.note('index', `List index is not within the allowable range; index: [${text}]`);
      parts.push(Number(text));
      tokens.expectSign(']');
    } else return { kind: 'path', parts };
  }
}

function namePart(tokens: Tokens, problems: Problems): string {
  const { kind } = tokens.peek();
  if (kind !== 'hash' && (kind !== 'word' || tokens.keyword() !== undefined)) throw tokens.fault();
  const { text } = tokens.take();
  if (kind === 'word' && isReserved(text))
    problems.note('reserved', `Attribute name is a reserved keyword; reserved keyword: ${text}`);
  return text;
}

function value(tokens: Tokens): ValueNode {
  if (tokens.peek().kind !== 'colon') throw tokens.fault();
  return { kind: 'value', name: tokens.take().text };
}

/** The functions that test an item. They stand only in conditions. */
export const tests: ReadonlySet<string> = new Set([
  'attribute_exists',
  'attribute_not_exists',
  'attribute_type',
  'begins_with',
  'contains',
]);

type Expression = 'a condition' | 'an update';

/** The expression in which each function may stand. */
const places: ReadonlyMap<string, Expression> = new Map([
  ...[...tests, 'size'].map((name) => [name, 'a condition'] as const),
  ...['if_not_exists', 'list_append'].map((name) => [name, 'an update'] as const),
]);

/** Reads a call, a placeholder of a value, or a path. `operand` reads an argument of the call. */
export function simpleOperand(
  tokens: Tokens,
  problems: Problems,
  expression: Expression,
  operand: () => Operand,
): Operand {
  if (isCall(tokens)) return call(tokens, problems, expression, operand);
  return tokens.peek().kind === 'colon' ? value(tokens) : path(tokens, problems);
}

function call(tokens: Tokens, problems: Problems, expression: Expression, operand: () => Operand): CallNode {
  const name = tokens.take().text;
  const place = places.get(name);
  if (place === undefined) problems.note('function', `Invalid function name; function: ${name}`);
  else if (place !== expression)
    problems.note('misuse', `The function is not allowed in ${expression} expression; function: ${name}`);
  tokens.expectSign('(');
  const args = list(tokens, operand);
  tokens.expectSign(')');
  return { kind: 'call', name, args };
}

function isCall(tokens: Tokens): boolean {
  const behind = tokens.peek(1);
  return (
    tokens.peek().kind === 'word' &&
    tokens.keyword() === undefined &&
    behind.kind === 'sign' &&
    behind.text === '('
  );
}

/** Reads a list with commas between its members. */
export function list<Value>(tokens: Tokens, one: () => Value): Value[] {
  const values = [one()];
  while (tokens.takesSign(',')) values.push(one());
  return values;
}

// Reads updates and projections into syntax trees.

/** One change of an update, as it is written. */
export type Clause =
  | { readonly kind: 'set'; readonly target: PathNode; readonly value: Operand }
  | { readonly kind: 'remove'; readonly target: PathNode }
  | { readonly kind: 'add' | 'delete'; readonly target: PathNode; readonly value: Operand };

export function parseUpdate(text: string): Clause[] {
  const tokens = new Tokens(text);
  const problems = new Problems();
  const sections = new Set<string>();
  const clauses: Clause[] = [];

  function clause(section: string): Clause {
    const target = path(tokens, problems);
    if (section === 'REMOVE') return { kind: 'remove', target };
    if (section !== 'SET')
      return { kind: section === 'ADD' ? 'add' : 'delete', target, value: value(tokens) };
    tokens.expectSign('=');
    return { kind: 'set', target, value: sum() };
  }

  function sum(): Operand {
    const left = operand(true);
    const sign = tokens.takesSign('+') ? '+' : tokens.takesSign('-') ? '-' : undefined;
    return sign === undefined ? left : { kind: 'sum', sign, left, right: operand(false) };
  }

  function operand(isWhole: boolean): Operand {
    if (tokens.takesSign('(')) {
      const startsDouble = tokens.isSign('(');
      const inner = isWhole ? sum() : operand(false);
      tokens.expectSign(')');
      if (startsDouble && inner.kind !== 'sum') problems.redundantParentheses();
      return inner;
    }
    const node = simpleOperand(tokens, problems, 'an update', argument);
    if (node.kind === 'call') noListAppendIn(node);
    return node;
  }

  function argument(): Operand {
    return operand(false);
  }

  /** Notes list_append instead of an argument. */
  function noListAppendIn({ args }: CallNode): void {
    if (args.some((arg) => arg.kind === 'call' && arg.name === 'list_append'))
      problems.note(
        'misuse',
        'The function is not allowed to be used this way in an expression; function: list_append',
      );
  }

  do {
    const section = tokens.keyword();
    if (section !== 'SET' && section !== 'REMOVE' && section !== 'ADD' && section !== 'DELETE')
      throw tokens.fault();
    tokens.take();
    if (sections.has(section))
      problems.note('section', `The "${section}" section can only be used once in an update expression;`);
    sections.add(section);
    clauses.push(...list(tokens, () => clause(section)));
  } while (tokens.peek().kind !== 'end');
  problems.check();
  return clauses;
}

export function parseProjection(text: string): PathNode[] {
  const tokens = new Tokens(text);
  const problems = new Problems();
  const paths = list(tokens, () => path(tokens, problems));
  tokens.expectEnd();
  problems.check();
  return paths;
}
