import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { buildPortal } from '../../portal/build.ts';

/** The budget of the portal's pages (docs/decisions/0018): what a client loads, and the operator's own file. */
const mostScriptBytes = 60_000;
const mostOperatorBytes = 12_000;
const mostStyleBytes = 12_000;

const filesOf = async (name: string): Promise<Map<string, string>> => {
  const at = join(folder, name);
  const names = (await readdir(at)).sort();
  return new Map(
    await Promise.all(names.map(async (one) => [one, await readFile(join(at, one), 'utf8')] as const)),
  );
};
const ending = (files: Map<string, string>, wanted: string): string =>
  [...files].find(([name]) => name.endsWith(wanted))?.[1] ?? '';

const folder = await mkdtemp(join(tmpdir(), 'darkroom-pages-'));
await buildPortal(join(folder, 'root'));
await buildPortal(join(folder, 'below'), '/portal/');
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('The built pages of the portal', () => {
  it('are one page, its script, those of the operator and of payments, one stylesheet and an icon', async () => {
    const names = [...(await filesOf('root')).keys()];
    expect(names.map((name) => name.replace(/-[0-9a-f]{10}\./, '-HASH.')).sort()).toEqual([
      'app-HASH.css',
      'app-HASH.js',
      'favicon.svg',
      'index.html',
      'operator-HASH.js',
      'payments-HASH.js',
    ]);
  });

  it('keep to their budget of script and styles', async () => {
    const files = await filesOf('root');
    const bytesOf = (isWanted: (name: string) => boolean): number =>
      [...files]
        .filter(([name]) => name.endsWith('.js') && isWanted(name))
        .reduce((sum, [, text]) => sum + gzipSync(text).length, 0);
    const isOfOperator = (name: string): boolean => name.startsWith('operator-');
    expect(bytesOf((name) => !isOfOperator(name))).toBeLessThan(mostScriptBytes);
    expect(bytesOf(isOfOperator)).toBeLessThan(mostOperatorBytes);
    expect(gzipSync(ending(files, '.css')).length).toBeLessThan(mostStyleBytes);
  });

  it('are the same bytes below every base, but for the page', async () => {
    const root = await filesOf('root');
    const below = await filesOf('below');
    expect([...below.keys()]).toEqual([...root.keys()]);
    const served = (files: Map<string, string>) => [...files].filter(([name]) => name !== 'index.html');
    expect(served(below)).toEqual(served(root));
    expect(ending(root, '.html')).toContain('src="/app-');
    expect(ending(below, '.html')).toContain('src="/portal/app-');
  });

  it('keep what only some people see in a file that the first page does not load', async () => {
    const files = [...(await filesOf('root'))];
    const page = files.find(([name]) => name === 'index.html')?.[1] ?? '';
    for (const [file, words] of [
      ['operator', ['What fails now', 'Pause it for everybody', 'Open an account', 'Margin by']],
      ['payments', ['Payment received', 'Save this card', 'not paid yet']],
    ] as const) {
      for (const one of words)
        expect(files.filter(([, text]) => text.includes(one)).map(([name]) => name.split('-')[0])).toEqual([
          file,
        ]);
      expect(page).not.toContain(`${file}-`);
    }
    expect(page).toContain('src="/app-');
  });

  it('load nothing from elsewhere, and hold no script or style in the page', async () => {
    const files = await filesOf('root');
    const page = ending(files, '.html');
    expect(page).not.toMatch(/<style|<script>|\sstyle=|\son[a-z]+=|https?:/);
    expect(ending(files, '.css')).not.toMatch(/url\(|@import/);
  });

  it('never set HTML from text', async () => {
    const sources = join(import.meta.dirname, '../../portal/src');
    const names = (await readdir(sources, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
    expect(names.length).toBeGreaterThan(40);
    for (const name of names) {
      const text = await readFile(join(sources, name), 'utf8');
      expect(text, name).not.toMatch(
        /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc/i,
      );
    }
  });
});
