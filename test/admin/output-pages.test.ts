import { describe, expect, it } from 'vitest';
import { createOutput, type Row } from '../../terminal/output.ts';

async function* pagesOf(...pages: readonly (readonly Row[])[]): AsyncGenerator<readonly Row[]> {
  for (const page of pages) yield await Promise.resolve(page);
}

async function printed(json: boolean, ...pages: readonly (readonly Row[])[]): Promise<string[]> {
  const lines: string[] = [];
  const colors = { dim: String, yellow: String };
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
