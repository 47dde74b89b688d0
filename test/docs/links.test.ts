/** Every link of the documentation inside this repository leads somewhere. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
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
