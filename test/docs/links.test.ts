/** Every link of the documentation inside this repository leads somewhere. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import ts from 'typescript';
import { allPages, linksOf, readPage, root } from './pages.ts';

const pages = allPages();

/** Why a link leads nowhere; undefined when it leads somewhere, or out of the repository. */
function brokenLink(from: string, link: string): string | undefined {
  if (/^[a-z]+:/.test(link)) return undefined;
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? from : normalize(join(dirname(from), file));
  if (!existsSync(join(root, target))) return `${link}: there is no ${target}`;
  if (anchor === undefined || !target.endsWith('.md')) return undefined;
  return readPage(target).anchors.includes(anchor)
    ? undefined
    : `${link}: ${target} has no heading #${anchor}`;
}

describe('The links of the documentation', () => {
  it.each(pages)('All links of $path lead to files and headings that exist', (page) => {
    expect(linksOf(page).flatMap((link) => brokenLink(page.path, link) ?? [])).toEqual([]);
  });

  it('The test finds the links of a page', () => {
    expect(linksOf(readPage('README.md'))).toContain('docs/api.md#failures-of-a-creation');
  });

  it.each([
    ['a missing file', 'nowhere.md'],
    ['a missing heading', 'api.md#nowhere'],
    ['a missing row', 'alarms.md#nowhere'],
  ])('A link to %s is reported', (_what, link) => {
    expect(brokenLink('docs/operations.md', link)).toMatch(/nowhere/);
  });

  it('A link to a row that sets an anchor leads somewhere', () => {
    expect(brokenLink('docs/operations.md', 'alarms.md#imagesslow')).toBeUndefined();
  });
});

describe('The glossary', () => {
  it('Every file that the glossary names exists', () => {
    const cells = [...readPage('docs/glossary.md').text.matchAll(/^\|.*\|([^|]*)\|$/gm)];
    const paths = cells.flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
    );
    expect(paths.length).toBeGreaterThan(35);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe('The paths in the documentation', () => {
  /** Names in capitals are placeholders. */
  const pathsOf = (prose: string): string[] =>
    [...prose.matchAll(/`([a-z]+\/[A-Za-z0-9_./-]+\.(?:ts|mjs|json|md))`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !/[A-Z]{3}/.test(path));

  it.each(pages)('All files that $path names exist', ({ text }) => {
    const missing = pathsOf(text).filter((path) => !existsSync(join(root, path)));
    expect(missing).toEqual([]);
  });

  it('The test finds the paths of a page', () => {
    expect(pathsOf(readPage('docs/architecture.md').text)).toContain('service/api/serve.ts');
  });
});

describe('The decisions', () => {
  const decisions = pages.filter(({ path }) => /\/decisions\/\d{4}-/.test(path));

  it.each(decisions)('$path has the four parts of a decision in their order', ({ text }) => {
    const parts = [...text.matchAll(/^## (.+)$/gm)].map(([, part]) => part);
    expect(parts).toEqual(['Context', 'Decision', 'Rejected', 'Consequences']);
  });

  it.each(decisions)('$path names its number, its status and its date at the top', ({ path, text }) => {
    const number = Number(/\/decisions\/(\d{4})-/.exec(path)?.[1]);
    const top = text.slice(0, text.indexOf('\n## '));
    expect(top).toMatch(
      new RegExp(`^# ${number}\\. .+\n\nStatus: holds\\. Date: \\d{4}-\\d{2}-\\d{2}\\.\n$`),
    );
  });

  it.each(decisions)('$path has at most 600 words', ({ text }) => {
    expect(text.trim().split(/\s+/).length).toBeLessThanOrEqual(600);
  });

  it('The decisions are numbered from 1 without a gap, and the README lists each of them in this order', () => {
    const names = decisions.map(({ path }) => path.slice('docs/decisions/'.length)).sort();
    expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_name, index) => index + 1));
    expect(linksOf(readPage('docs/decisions/README.md')).filter((link) => /^\d{4}-/.test(link))).toEqual(
      names,
    );
  });
});

const architecture = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

interface Walk {
  readonly title: string;
  /** In the order of the page. */
  readonly files: readonly string[];
}

/** Every section with a numbered list; the first code text of each item is the file. */
const walks: readonly Walk[] = architecture
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
