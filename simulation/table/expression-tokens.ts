/**
 * Splits DynamoDB's expressions into tokens, and reads the parts that all kinds of expressions share: lists,
 * paths and operands. Everything that the simulation does not understand is thrown with its text, never
 * guessed.
 */
import { lookUp, type Attribute, type Item, type Path } from './attributes.ts';

/** What the placeholders of an expression stand for, and the item that the expression looks at. */
export interface Scope {
  readonly item: Item;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, Attribute>>;
}

/** Computes a value within a scope. */
export type Operand = (scope: Scope) => Attribute | undefined;

const token = /\s*(#\w+|:\w+|[A-Za-z_]\w*|\d+|<=|>=|<>|[=<>(),.+\-[\]])/y;

/** The tokens of one expression, read from left to right. */
export class Tokens {
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

  #isNext(word: string): boolean {
    return this.peek().toUpperCase() === word;
  }

  take(): string {
    const value = this.peek();
    this.#next += 1;
    return value;
  }

  /** Reads the token if it is the expected one. */
  takes(expected: string): boolean {
    if (!this.#isNext(expected)) return false;
    this.#next += 1;
    return true;
  }

  /** Reads the token and throws if it is not the expected one. */
  expect(expected: string): void {
    if (!this.takes(expected)) throw this.fault();
  }

  /** Throws if tokens are left. */
  end(): void {
    if (this.peek() !== '') throw this.fault();
  }

  fault(): Error {
    return new Error(`the simulation's table does not understand "${this.#text}" at "${this.peek()}"`);
  }
}

/** Parses each text once and keeps the result. */
export function cached<Parsed>(parse: (tokens: Tokens) => Parsed): (text: string) => Parsed {
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

/** Reads a list with commas between its members. */
export function list<Value>(tokens: Tokens, one: () => Value): Value[] {
  const values = [one()];
  while (tokens.takes(',')) values.push(one());
  return values;
}

export function operand(tokens: Tokens): Operand {
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

/** Reads a path. The names in it are known once the scope is. */
export function path(tokens: Tokens): (scope: Pick<Scope, 'names'>) => Path {
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
