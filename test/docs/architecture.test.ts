/** docs/architecture.md leads a reader through the code: each walk is a path that the imports allow. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

interface Walk {
  readonly title: string;
  /** In the order of the page. */
  readonly files: readonly string[];
}

/** Every section with a numbered list; the first code text of each item is the file. */
const walks: readonly Walk[] = page
  .split(/^## /m)
  .map((section) => ({
    title: section.slice(0, section.indexOf('\n')),
    files: [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file = '']) => file),
  }))
  .filter(({ files }) => files.length > 0);

const known = new Map<string, readonly string[]>();

function importsOf(file: string): readonly string[] {
  const imports =
    known.get(file) ??
    ts
      .preProcessFile(readFileSync(join(root, file), 'utf8'))
      .importedFiles.map(({ fileName }) => fileName)
      .filter((name) => name.startsWith('.') && name.endsWith('.ts'))
      .map((name) => normalize(join(dirname(file), name)));
  known.set(file, imports);
  return imports;
}

/** Every file behind an import of this file, however far. */
function behind(file: string, seen = new Set<string>()): Set<string> {
  for (const next of importsOf(file)) {
    if (seen.has(next)) continue;
    seen.add(next);
    behind(next, seen);
  }
  return seen;
}

/** By an import, or by an opener, or for a vendor by the entry: they put together what a file is given. */
function leadsTo(from: string, to: string): boolean {
  const imports = importsOf(from);
  if (imports.includes(to)) return true;
  const composing = [from, ...imports].filter(
    (file) =>
      /\/open(-[a-z-]+)?\.ts$/.test(file) ||
      (file.startsWith('functions/') && to.startsWith('service/vendors/')),
  );
  return composing.some((file) => behind(file).has(to));
}

it('docs/architecture.md has eight walks', () => {
  expect(walks.map(({ title }) => title)).toEqual([
    'A POST, from the event to the 202',
    'A held request, from the form of OpenAI to the picture',
    "A provider's answer, from the call to the stored image",
    'A callback, from the vendor to the completed creation',
    'A refund, from the failure to the balance',
    'One webhook attempt',
    'A sign-in to the portal, from the button to the cookie',
    'The usage page of the portal, from the request to the sums',
  ]);
});

it('A POST takes at most nine files beside schemas, types and ports', () => {
  expect(walks[0]?.files.length).toBeLessThanOrEqual(9);
});

describe.each(walks)('$title', ({ files }) => {
  it('names each file once', () => {
    expect(new Set(files).size).toBe(files.length);
  });

  it.each(files)('names %s, which exists', (file) => {
    expect(existsSync(join(root, file))).toBe(true);
  });

  it.each(files.slice(1))('comes to %s from an earlier file', (file) => {
    const earlier = files.slice(0, files.indexOf(file));
    expect(earlier.filter((from) => leadsTo(from, file))).not.toEqual([]);
  });
});
