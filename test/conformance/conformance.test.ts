/** Every row of docs/conformance.md has a proof, and every proof is an existing test. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parts } from './rows.ts';
import { conformancePage, conformanceTable, placeOf } from './table.ts';

const root = new URL('../../', import.meta.url);
const rows = parts.flatMap(({ part, rows: own }) => own.map((row) => ({ part, ...row })));

/**
 * A title is the title of a test, of a group, of a row in a table, or of a rule. It stands in quotes of any
 * kind.
 */
function hasTitle(source: string, title: string): boolean {
  return ["'", '"', '`'].some((quote) =>
    source.includes(`${quote}${title.replaceAll(quote, `\\${quote}`)}${quote}`),
  );
}

describe.each(rows)('$part: $states', ({ provenBy }) => {
  it.each(provenBy)('is proven by the existing test %s', async (proof) => {
    const { file, title } = placeOf(proof);
    expect(existsSync(new URL(file, root)), `${file} exists`).toBe(true);
    expect(hasTitle(await sourceOf(file), title), `${file} has "${title}"`).toBe(true);
  });
});

/**
 * The text of a test file, and of the files in its folder that it imports, also through one another: they may
 * hold tests that several files share.
 */
async function sourceOf(file: string): Promise<string> {
  const texts = new Map<string, string>();
  const read = async (place: URL): Promise<void> => {
    if (texts.has(place.href)) return;
    const text = await readFile(place, 'utf8');
    texts.set(place.href, text);
    for (const [, name = ''] of text.matchAll(/from '\.\/([\w-]+\.ts)'/g)) await read(new URL(name, place));
  };
  await read(new URL(file, root));
  return [...texts.values()].join('\n');
}

it('no statement stands in the table twice', () => {
  expect(new Set(rows.map(({ part, states }) => `${part} ${states}`)).size).toBe(rows.length);
});

it('the table names every file of test/api as a proof', async () => {
  const files = (await readdir(new URL('test/api/', root))).filter((name) => name.endsWith('.test.ts'));
  const named = new Set(rows.flatMap(({ provenBy }) => provenBy.map((proof) => placeOf(proof).file)));
  expect(files.filter((name) => !named.has(`test/api/${name}`))).toEqual([]);
});

it('docs/conformance.md has the text that `node test/conformance/write.ts` writes', async () => {
  expect(await readFile(conformancePage, 'utf8')).toBe(await conformanceTable());
});
