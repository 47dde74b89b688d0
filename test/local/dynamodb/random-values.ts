/** Random values of DynamoDB, right and wrong. */

/** Draws one of some values. */
export type Draw = <Value>(values: readonly [Value, ...Value[]]) => Value;
export type Json = Record<string, unknown>;

/** Whether something happens that happens once in so many times. */
export function once(draw: Draw, times: number): boolean {
  return draw([true, ...Array.from({ length: times - 1 }, () => false)]);
}

export const attributes = ['a', 'b', 'c', 'doc', 'many', 'tags', 'x', 'y'] as const;
const texts = ['', 'a', 'b', 'ab', 'abc', 'é', '😀', '\uffff', 'open', 'z'] as const;
const numbers = [
  '0',
  '1',
  '2',
  '5',
  '-1',
  '10',
  '9',
  '0.5',
  '-2.25',
  '100000000000000000000',
  '12345678901234567890123456789012345678',
  '99999999999999999999999999999999999999',
  '0.000000001',
  '1e3',
  '1.50',
  '9e125',
  '1e-130',
] as const;
const wrongNumbers = [
  '',
  'abc',
  ' 1',
  '1e126',
  '-1e126',
  '1e-131',
  '1'.repeat(39),
  '0x1',
  'NaN',
  '1e',
] as const;
const bytes = ['', 'AA==', 'AAEC', '/w==', 'YWI='] as const;

/** A value without a member inside. */
function scalar(draw: Draw): Json {
  switch (draw(['S', 'S', 'N', 'N', 'N', 'B', 'BOOL', 'NULL'])) {
    case 'S':
      return { S: draw(texts) };
    case 'N':
      return { N: draw(numbers) };
    case 'B':
      return { B: draw(bytes) };
    case 'BOOL':
      return { BOOL: draw([true, false]) };
    default:
      return { NULL: true };
  }
}

/** A value that DynamoDB takes. */
export function value(draw: Draw, depth = 0): Json {
  if (depth > 2) return scalar(draw);
  switch (draw(['scalar', 'scalar', 'scalar', 'scalar', 'M', 'L', 'SS', 'NS', 'BS'])) {
    case 'M':
      return { M: members(draw, depth + 1) };
    case 'L':
      return { L: Array.from({ length: draw([0, 1, 2, 3]) }, () => value(draw, depth + 1)) };
    case 'SS':
      return { SS: draw([['a'], ['b', 'a'], ['é', 'z', 'a'], ['']]) };
    case 'NS':
      return { NS: draw([['1'], ['2', '10', '1'], ['0.5', '-1'], ['1e2', '5']]) };
    case 'BS':
      return { BS: draw([['AA=='], ['/w==', 'AA==']]) };
    default:
      return scalar(draw);
  }
}

function members(draw: Draw, depth: number): Json {
  return Object.fromEntries(
    Array.from({ length: draw([0, 1, 2, 3]) }, () => [draw(['a', 'b', 'c', 'k']), value(draw, depth)]),
  );
}

/** A value that DynamoDB refuses. */
export function wrongValue(draw: Draw): Json {
  return draw<Json>([
    {},
    { Q: 'x' },
    { S: 'x', N: '1' },
    { N: draw(wrongNumbers) },
    { NS: ['1', draw(wrongNumbers)] },
    { NS: ['1', '1.0'] },
    { SS: [] },
    { NS: [] },
    { BS: [] },
    { SS: ['a', 'b', 'a'] },
    { BS: ['AA==', 'AA=='] },
    { NULL: false },
    { L: [{ S: 'x' }, {}] },
    { M: { a: { N: draw(wrongNumbers) } } },
    { M: { a: { L: [{ SS: ['x', 'x'] }] } } },
    { S: null },
  ]);
}

/** A value, and once in a while a wrong one. */
export function anyValue(draw: Draw): Json {
  return once(draw, 60) ? wrongValue(draw) : value(draw);
}
