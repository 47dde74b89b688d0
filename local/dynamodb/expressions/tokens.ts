/** Splits an expression into tokens, and names the place of a syntax error as DynamoDB does. */
import { maxExpressionBytes } from '../validation/limits.ts';
import { byteLength } from '../values.ts';

/** A fault of an expression. The caller knows in which parameter the expression stood. */
export class ExpressionFault extends Error {}

/** `word` is a name or a keyword. `hash` and `colon` are placeholders of names and of values. */
export interface Token {
  readonly kind: 'word' | 'hash' | 'colon' | 'number' | 'sign' | 'end';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const pattern = /\s*(?:(#\w+)|(:\w+)|([A-Za-z]\w*)|(0|[1-9]\d*)|(<=|>=|<>|\S))/y;
const kinds = ['hash', 'colon', 'word', 'number', 'sign'] as const;

/** These words are no names in any expression. Upper and lower case count alike. */
const keywords: ReadonlySet<string> = new Set([
  'AND',
  'OR',
  'NOT',
  'IN',
  'BETWEEN',
  'SET',
  'REMOVE',
  'ADD',
  'DELETE',
]);

/** The tokens of one expression, read from left to right. */
export class Tokens {
  readonly #tokens: Token[] = [];
  readonly #text: string;
  #next = 0;

  /** Throws ExpressionFault for a text that is empty or too long. */
  constructor(text: string) {
    if (text === '') throw new ExpressionFault('The expression can not be empty;');
    const size = byteLength(text);
    if (size > maxExpressionBytes)
      throw new ExpressionFault(
        `Expression size has exceeded the maximum allowed size; expression size: ${size}`,
      );
    this.#text = text;
    for (let end = 0; ;) {
      pattern.lastIndex = end;
      const match = pattern.exec(text);
      if (match === null) break;
      end = pattern.lastIndex;
      const group = kinds.findIndex((_kind, index) => match[index + 1] !== undefined);
      const word = match[group + 1] ?? '';
      this.#tokens.push({ kind: kinds[group] ?? 'sign', text: word, start: end - word.length, end });
    }
    this.#tokens.push({ kind: 'end', text: '<EOF>', start: text.length, end: text.length });
  }

  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)] as Token;
  }

  take(): Token {
    const token = this.peek();
    this.#next += 1;
    return token;
  }

  /** Whether the next token is this sign. */
  isSign(sign: string): boolean {
    const { kind, text } = this.peek();
    return kind === 'sign' && text === sign;
  }

  /** Reads the sign if it comes next. */
  takesSign(sign: string): boolean {
    const isNext = this.isSign(sign);
    if (isNext) this.#next += 1;
    return isNext;
  }

  /** Reads the sign, or throws a syntax error. */
  expectSign(sign: string): void {
    if (!this.takesSign(sign)) throw this.fault();
  }

  /** The keyword that comes next, in upper case. */
  keyword(): string | undefined {
    const { kind, text } = this.peek();
    const upper = kind === 'word' ? text.toUpperCase() : '';
    return keywords.has(upper) ? upper : undefined;
  }

  /** Reads the keyword if it comes next. */
  takesKeyword(keyword: string): boolean {
    const isNext = this.keyword() === keyword;
    if (isNext) this.#next += 1;
    return isNext;
  }

  expectKeyword(keyword: string): void {
    if (!this.takesKeyword(keyword)) throw this.fault();
  }

  expectEnd(): void {
    if (this.peek().kind !== 'end') throw this.fault();
  }

  /** The syntax error at the next token. It shows the text from the previous token to the next one. */
  fault(): ExpressionFault {
    const { text } = this.peek();
    const before = this.#tokens[this.#next - 1] ?? this.peek();
    const start = this.#next === 0 && this.peek().kind === 'end' ? 0 : before.start;
    const near = this.#text.slice(start, this.peek(1).end);
    return new ExpressionFault(`Syntax error; token: "${text}", near: "${near}"`);
  }
}
