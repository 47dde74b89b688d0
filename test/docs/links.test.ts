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
  ])('A link to %s is reported', (_what, link) => {
    expect(brokenLink('docs/operations.md', link)).toMatch(/nowhere/);
  });
});

describe('The glossary', () => {
  it('Every file that the glossary names exists', () => {
    const cells = [...readPage('docs/glossary.md').text.matchAll(/^\|.*\|([^|]*)\|$/gm)];
    const paths = cells.flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
    );
    expect(paths.length).toBeGreaterThan(50);
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
    expect(pathsOf(readPage('docs/architecture.md').text)).toContain('functions/http/serve.ts');
  });
});

describe('The decisions', () => {
  const decisions = pages.filter(({ path }) => /\/decisions\/\d{4}-/.test(path));

  it.each(decisions)('$path has the four parts of a decision in their order', ({ text }) => {
    const parts = [...text.matchAll(/^## (.+)$/gm)].map(([, part]) => part);
    expect(parts).toEqual(['Context', 'Decision', 'Rejected', 'Consequences']);
  });

  it('A decision that changes another one is named at the top of the other one', () => {
    const topOf = (text: string): string => text.slice(0, text.indexOf('\n## '));
    const linked = (text: string, verb: string): string[] =>
      topOf(text)
        .split('\n')
        .filter((line) => line.startsWith(verb))
        .flatMap((line) => [...line.matchAll(/\]\((\d{4})-/g)].map(([, number = '']) => number));
    const pairs = decisions.flatMap(({ path, text }) => {
      const own = path.slice('docs/decisions/'.length, 'docs/decisions/0000'.length);
      return [
        ...linked(text, 'Changes ').map((other) => ({ said: 'changes', by: own, of: other })),
        ...linked(text, 'Changed by ').map((other) => ({ said: 'changed', by: other, of: own })),
      ];
    });
    const saying = (word: string): string[] =>
      pairs
        .filter(({ said }) => said === word)
        .map(({ by, of }) => `${by} changes ${of}`)
        .sort();
    expect(saying('changes').length).toBeGreaterThan(3);
    expect(saying('changed')).toEqual(saying('changes'));
  });
});
