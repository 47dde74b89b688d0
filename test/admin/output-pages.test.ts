import { describe, expect, it } from 'vitest';
import { createOutput, type Row } from '../../terminal/output.ts';

async function* pagesOf(...pages: readonly (readonly Row[])[]): AsyncGenerator<readonly Row[]> {
  for (const page of pages) yield await Promise.resolve(page);
}

const colors = { dim: String, yellow: String };

async function printedAt(columns: number, ...pages: readonly (readonly Row[])[]): Promise<string[]> {
  const lines: string[] = [];
  const output = createOutput(false, (line) => lines.push(line), colors, columns);
  await output.pages(pagesOf(...pages), 'There is none.');
  return lines;
}

async function printed(json: boolean, ...pages: readonly (readonly Row[])[]): Promise<string[]> {
  const lines: string[] = [];
  await createOutput(json, (line) => lines.push(line), colors).pages(pagesOf(...pages), 'There is none.');
  return lines;
}

describe('the output of pages', () => {
  it('A table has one header, and the columns of the first page', async () => {
    expect(await printed(false, [{ id: 'long', n: 1 }], [], [{ id: 'b', n: 2 }])).toEqual([
      'id    n',
      'long  1',
      'b     2',
    ]);
  });

  it('A table that is wider than the terminal becomes records, and no value is cut', async () => {
    const rows = [
      { id: 'a', note: 'x'.repeat(30), none: null },
      { id: 'b', note: 'y', none: null },
    ];
    const records = ['id    a', `note  ${'x'.repeat(30)}`, 'none  -', '', 'id    b', 'note  y', 'none  -'];
    expect(await printedAt(39, rows)).toEqual(records);
    expect(await printedAt(39, rows.slice(0, 1), rows.slice(1))).toEqual(records);
    expect((await printedAt(40, rows)).slice(1)).toEqual([
      `a   ${'x'.repeat(30)}  -`,
      `b   y${' '.repeat(29)}  -`,
    ]);
  });

  it('A list fits the terminal like pages do', () => {
    const lines: string[] = [];
    createOutput(false, (line) => lines.push(line), colors, 6).list([{ id: 'a', n: 1234567 }], '');
    expect(lines).toEqual(['id  a', 'n   1234567']);
  });

  it('A table without rows says so', async () => {
    expect(await printed(false, [], [])).toEqual(['There is none.']);
  });

  it('The JSON document is one document on several lines', async () => {
    const lines = await printed(true, [{ id: 'a' }], [{ id: 'b' }, { id: 'c' }]);
    expect(lines).toHaveLength(4);
    expect(JSON.parse(lines.join('\n'))).toEqual({ data: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] });
    expect(JSON.parse((await printed(true)).join('\n'))).toEqual({ data: [] });
  });
});
