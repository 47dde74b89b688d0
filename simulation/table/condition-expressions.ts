/** DynamoDB's conditions and key conditions, as far as the adapters write them. */
import { equal, order } from './attributes.ts';
import { cached, list, operand, type Scope, type Tokens } from './expression-tokens.ts';

/** Whether an item fulfils the condition. */
type Condition = (scope: Scope) => boolean;

/** Parses a condition or a key condition. */
export const condition = cached(disjunction);

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
