/** Reads conditions, filters and key conditions into syntax trees. */
import { list, Problems, simpleOperand, tests, type CallNode, type Operand } from './syntax.ts';
import { Tokens } from './tokens.ts';

export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>=';

export type Condition =
  | {
      readonly kind: 'compare';
      readonly comparator: Comparator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | { readonly kind: 'between'; readonly operand: Operand; readonly low: Operand; readonly high: Operand }
  | { readonly kind: 'in'; readonly operand: Operand; readonly options: readonly Operand[] }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Condition[] }
  | { readonly kind: 'not'; readonly inner: Condition }
  | CallNode;

const comparators: ReadonlySet<string> = new Set<Comparator>(['=', '<>', '<', '<=', '>', '>=']);

/** A condition, or an operand instead of a condition: `(a) = :b` begins with one. */
type Found =
  | { readonly is: 'condition'; readonly node: Condition; readonly inParentheses: boolean }
  | { readonly is: 'operand'; readonly node: Operand; readonly inParentheses: boolean };

export function parseCondition(text: string): Condition {
  const tokens = new Tokens(text);
  const problems = new Problems();

  function disjunction(mayBeOperand = false): Found {
    return chain('OR', 'or', conjunction, mayBeOperand);
  }

  function conjunction(mayBeOperand = false): Found {
    return chain('AND', 'and', negation, mayBeOperand);
  }

  function chain(
    keyword: string,
    kind: 'and' | 'or',
    part: (mayBeOperand: boolean) => Found,
    mayBeOperand: boolean,
  ): Found {
    const first = part(mayBeOperand);
    if (first.is === 'operand' || tokens.keyword() !== keyword) return first;
    const parts = [first.node];
    while (tokens.takesKeyword(keyword)) parts.push(asCondition(part(false)));
    return { is: 'condition', node: { kind, parts }, inParentheses: false };
  }

  function negation(mayBeOperand: boolean): Found {
    if (!tokens.takesKeyword('NOT')) return comparison(mayBeOperand);
    const inner = asCondition(negation(false));
    return { is: 'condition', node: { kind: 'not', inner }, inParentheses: false };
  }

  function comparison(mayBeOperand: boolean): Found {
    const first = primary();
    if (first.is === 'condition') return first;
    const left = first.node;
    const node = comparedWith(left);
    if (node !== undefined) return { is: 'condition', node, inParentheses: false };
    const isLast = mayBeOperand && tokens.isSign(')');
    if (left.kind === 'call' && !first.inParentheses && !(isLast && left.name === 'size')) {
      if (left.name === 'size') misused(left.name);
      return { is: 'condition', node: left, inParentheses: false };
    }
    if (isLast) return first;
    throw tokens.fault();
  }

  function comparedWith(left: Operand): Condition | undefined {
    const { kind, text: sign } = tokens.peek();
    if (kind === 'sign' && comparators.has(sign)) {
      tokens.take();
      noTest(left);
      return { kind: 'compare', comparator: sign as Comparator, left, right: operand() };
    }
    if (tokens.takesKeyword('BETWEEN')) {
      noTest(left);
      const low = operand();
      tokens.expectKeyword('AND');
      return { kind: 'between', operand: left, low, high: operand() };
    }
    if (tokens.takesKeyword('IN')) {
      noTest(left);
      tokens.expectSign('(');
      const options = list(tokens, operand);
      tokens.expectSign(')');
      return { kind: 'in', operand: left, options };
    }
    return undefined;
  }

  /** A condition in parentheses, an operand, or a call that may turn out to be either. */
  function primary(): Found {
    if (tokens.takesSign('(')) {
      const inner = disjunction(true);
      tokens.expectSign(')');
      if (inner.inParentheses) problems.redundantParentheses();
      return { ...inner, inParentheses: true };
    }
    return { is: 'operand', node: simple(), inParentheses: false };
  }

  function operand(): Operand {
    if (tokens.takesSign('(')) {
      const isDouble = tokens.isSign('(');
      const inner = operand();
      tokens.expectSign(')');
      if (isDouble) problems.redundantParentheses();
      return inner;
    }
    const node = simple();
    noTest(node);
    return node;
  }

  function simple(): Operand {
    return simpleOperand(tokens, problems, 'a condition', operand);
  }

  /** Notes a test, such as attribute_exists, instead of a value. */
  function noTest(node: Operand): void {
    if (node.kind === 'call' && tests.has(node.name)) misused(node.name);
  }

  function misused(name: string): void {
    problems.note(
      'misuse',
      `The function is not allowed to be used this way in an expression; function: ${name}`,
    );
  }

  function asCondition(found: Found): Condition {
    if (found.is === 'operand') throw tokens.fault();
    return found.node;
  }

  const root = asCondition(disjunction());
  tokens.expectEnd();
  problems.check();
  return root;
}
