/** Random values and expressions of DynamoDB, right and wrong. */

/** Draws one of some values. */
export type Draw = <Value>(values: readonly [Value, ...Value[]]) => Value;
export type Json = Record<string, unknown>;

/** Whether something happens that happens once in so many times. */
export function once(draw: Draw, times: number): boolean {
  return draw([true, ...Array.from({ length: times - 1 }, () => false)]);
}

export const attributes = ['a', 'b', 'c', 'doc', 'many', 'tags', 'x', 'y'] as const;
const texts = ['', 'a', 'b', 'ab', 'abc', 'é', '😀', '\uffff', 'open', 'z'] as const;
const numbers = (
  '0 1 2 5 -1 10 9 0.5 -2.25 100000000000000000000 12345678901234567890123456789012345678 ' +
  '99999999999999999999999999999999999999 0.000000001 1e3 1.50 9e125 1e-130'
).split(' ') as [string, ...string[]];
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

// Random expressions of DynamoDB, right and wrong, with their placeholders.

/** The placeholders of one request. The expressions of the request add to them. */
export class Placeholders {
  readonly names: Record<string, string> = {};
  readonly values: Json = {};
  readonly draw: Draw;

  constructor(draw: Draw) {
    this.draw = draw;
  }

  name(name: string): string {
    const holder = `#${name}`;
    if (!once(this.draw, 60)) this.names[holder] = name;
    return holder;
  }

  value(value: Json): string {
    const holder = `:v${Object.keys(this.values).length}`;
    if (!once(this.draw, 80)) this.values[holder] = value;
    return holder;
  }

  /** The members of the request. Once in a while one is unused, empty or wrong. */
  members(): Json {
    const { draw } = this;
    if (once(draw, 60)) this.values[':unused'] = { S: 'x' };
    if (once(draw, 60)) this.names['#unused'] = 'x';
    if (once(draw, 120)) this.values['wrong'] = { S: 'x' };
    if (once(draw, 120)) this.names['wrong-too'] = 'x';
    if (once(draw, 120)) this.names['#empty'] = '';
    const isShown = (record: object): boolean => Object.keys(record).length > 0 || once(draw, 200);
    return {
      ...(isShown(this.names) && { ExpressionAttributeNames: this.names }),
      ...(isShown(this.values) && { ExpressionAttributeValues: this.values }),
    };
  }
}

/** A path that an expression may name. `names` are the attributes at its beginning. */
function path(holders: Placeholders, names: readonly [string, ...string[]] = attributes): string {
  const { draw } = holders;
  const head = draw(names);
  const start = once(draw, 4) ? holders.name(head) : once(draw, 80) ? draw(['status', 'name', 'ADD']) : head;
  const rest = draw(['', '', '', '', '.a', '.k', '[0]', '[1]', '.a.b', '[0].a']);
  return `${start}${rest}`;
}

function operand(holders: Placeholders): string {
  const { draw } = holders;
  switch (draw(['path', 'value', 'value', 'value', 'size'])) {
    case 'path':
      return path(holders);
    case 'size':
      return once(draw, 2) ? `size(${path(holders)})` : holders.value(anyValue(draw));
    default:
      return holders.value(anyValue(draw));
  }
}

/** A condition. */
export function condition(holders: Placeholders, depth = 0): string {
  const { draw } = holders;
  const kind = draw(
    depth > 2
      ? ['compare', 'test']
      : ['compare', 'compare', 'compare', 'test', 'test', 'between', 'in', 'and', 'or', 'not', 'group'],
  );
  switch (kind) {
    case 'and':
      return `${condition(holders, depth + 1)} ${draw(['AND', 'and'])} ${condition(holders, depth + 1)}`;
    case 'or':
      return `${condition(holders, depth + 1)} OR ${condition(holders, depth + 1)}`;
    case 'not':
      return `NOT ${condition(holders, depth + 1)}`;
    case 'group':
      return `(${condition(holders, depth + 1)})`;
    case 'between':
      return `${path(holders)} BETWEEN ${operand(holders)} AND ${operand(holders)}`;
    case 'in':
      return `${path(holders)} IN (${Array.from({ length: draw([1, 2, 3]) }, () => operand(holders)).join(', ')})`;
    case 'test':
      return test(holders);
    default:
      return `${draw([path, operand])(holders)} ${draw(['=', '<>', '<', '<=', '>', '>='])} ${operand(holders)}`;
  }
}

function test(holders: Placeholders): string {
  const { draw } = holders;
  const place = path(holders);
  switch (draw(['exists', 'not', 'type', 'begins', 'contains', 'wrong'])) {
    case 'exists':
      return `attribute_exists(${draw(['pk', place])})`;
    case 'not':
      return `attribute_not_exists(${draw(['pk', place])})`;
    case 'type':
      return `attribute_type(${place}, ${holders.value({ S: draw(['S', 'N', 'M', 'L', 'SS', 'NULL', 'X']) })})`;
    case 'begins':
      return `begins_with(${place}, ${holders.value(draw([{ S: 'a' }, { S: '' }, { B: 'AA==' }, { N: '1' }]))})`;
    case 'contains':
      return `contains(${place}, ${operand(holders)})`;
    default:
      return once(draw, 6)
        ? draw([
            'foo(a)',
            'size(a)',
            'attribute_exists(a, b)',
            'contains(a)',
            'attribute_exists(a) = b',
            'if_not_exists(a, b)',
            'attribute_type(a, b)',
            'begins_with(a)',
            'a = a',
            '((a = b))',
            '(a) = (b)',
            'attribute_exists(size(a))',
          ])
        : `attribute_exists(${place})`;
  }
}

/** An update. Once in a while it changes a key or an attribute twice. */
export function update(holders: Placeholders): string {
  const { draw } = holders;
  const names: [string, ...string[]] = once(draw, 60) ? ['pk', 'sk'] : [...attributes];
  const place = (): string => path(holders, names);
  const sections: string[] = [];
  if (!once(draw, 4))
    sections.push(
      `SET ${Array.from({ length: draw([1, 1, 2, 3]) }, () => `${place()} = ${newValue(holders)}`).join(', ')}`,
    );
  if (once(draw, 3))
    sections.push(`REMOVE ${Array.from({ length: draw([1, 2]) }, () => place()).join(', ')}`);
  if (once(draw, 4))
    sections.push(
      `ADD ${place()} ${holders.value(draw<Json>([{ N: '1' }, { N: '-2.5' }, { NS: ['3'] }, { SS: ['q'] }, { S: 'x' }]))}`,
    );
  if (once(draw, 6))
    sections.push(`DELETE tags ${holders.value(draw<Json>([{ SS: ['a'] }, { NS: ['1'] }, { N: '1' }]))}`);
  if (once(draw, 80)) sections.push('SET b = a');
  return sections.join(' ');
}

function newValue(holders: Placeholders): string {
  const { draw } = holders;
  const simple = (): string =>
    once(draw, 3) ? path(holders) : holders.value(draw([anyValue(draw), { N: '1' }, { N: '2.5' }]));
  switch (draw(['simple', 'simple', 'simple', 'sum', 'default', 'append', 'wrong'])) {
    case 'sum':
      return `${simple()} ${draw(['+', '-'])} ${simple()}`;
    case 'default':
      return `if_not_exists(${path(holders)}, ${simple()})`;
    case 'append':
      return `list_append(${draw(['many', path(holders)])}, ${holders.value({ L: [anyValue(draw)] })})`;
    case 'wrong':
      return once(draw, 6)
        ? draw(['size(a)', 'foo(a)', 'if_not_exists(a)', 'list_append(a)', '((a))', 'attribute_exists(a)'])
        : simple();
    default:
      return simple();
  }
}

export function projection(holders: Placeholders): string {
  const { draw } = holders;
  return Array.from({ length: draw([1, 1, 2, 3]) }, () => path(holders, ['pk', ...attributes])).join(', ');
}

/** The expression, and once in a while the expression with a mistake. */
export function mistyped(draw: Draw, text: string): string {
  if (!once(draw, 25)) return text;
  const at = Math.floor(draw([0.1, 0.3, 0.5, 0.7, 0.9, 1]) * text.length);
  const junk = draw(['', '', '(', ')', ',', '=', '.', ' AND ', ' $ ', '1', '#', ':', ' x ', '[', ']', '-']);
  return once(draw, 20) ? '' : text.slice(0, at) + junk + text.slice(at + (junk === '' ? 1 : 0));
}
