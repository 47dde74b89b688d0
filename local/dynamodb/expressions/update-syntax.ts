/** Reads updates and projections into syntax trees. */
import {
  list,
  path,
  Problems,
  simpleOperand,
  value,
  type CallNode,
  type Operand,
  type PathNode,
} from './syntax.ts';
import { Tokens } from './tokens.ts';

/** One change of an update, as it is written. */
export type Clause =
  | { readonly kind: 'set'; readonly target: PathNode; readonly value: Operand }
  | { readonly kind: 'remove'; readonly target: PathNode }
  | { readonly kind: 'add' | 'delete'; readonly target: PathNode; readonly value: Operand };

/** Parses an update. Throws ExpressionFault. */
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

/** Parses a projection. Throws ExpressionFault. */
export function parseProjection(text: string): PathNode[] {
  const tokens = new Tokens(text);
  const problems = new Problems();
  const paths = list(tokens, () => path(tokens, problems));
  tokens.expectEnd();
  problems.check();
  return paths;
}
