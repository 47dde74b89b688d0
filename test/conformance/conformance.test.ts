/** docs/conformance.md tells the truth: every row has a proof, every proof is a test that exists. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parts } from './rows.ts';
import { conformancePage, conformanceTable, placeOf } from './table.ts';

const root = new URL('../../', import.meta.url);
const rows = parts.flatMap(({ part, rows: own }) => own.map((row) => ({ part, ...row })));

/** Titles are texts in quotes of any kind: of a test, a group, a table's row, or a rule. */
function hasTitle(source: string, title: string): boolean {
  return ["'", '"', '`'].some((quote) =>
    source.includes(`${quote}${title.replaceAll(quote, `\\${quote}`)}${quote}`),
  );
}

describe.each(rows)('$part: $states', ({ provenBy }) => {
  it.each(provenBy)('is proven by %s', async (proof) => {
    const { file, title } = placeOf(proof);
    expect(existsSync(new URL(file, root)), `${file} exists`).toBe(true);
    expect(hasTitle(await sourceOf(file), title), `${file} has "${title}"`).toBe(true);
  });
});

/** With the shared part of a test that two files call. */
async function sourceOf(file: string): Promise<string> {
  const own = await readFile(new URL(file, root), 'utf8');
  const shared = [...own.matchAll(/from '\.\/([\w-]+\.ts)'/g)].map(
    ([, name = '']) => new URL(name, new URL(file, root)),
  );
  return [own, ...(await Promise.all(shared.map((one) => readFile(one, 'utf8'))))].join('\n');
}

it('no statement stands there twice', () => {
  expect(new Set(rows.map(({ part, states }) => `${part} ${states}`)).size).toBe(rows.length);
});

it('every file of test/api proves something', async () => {
  const files = (await readdir(new URL('test/api/', root))).filter((name) => name.endsWith('.test.ts'));
  const named = new Set(rows.flatMap(({ provenBy }) => provenBy.map((proof) => placeOf(proof).file)));
  expect(files.filter((name) => !named.has(`test/api/${name}`))).toEqual([]);
});

it('docs/conformance.md is as `node test/conformance/write.ts` writes it', async () => {
  expect(await readFile(conformancePage, 'utf8')).toBe(await conformanceTable());
});
