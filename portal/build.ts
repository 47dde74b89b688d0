/**
 * Builds the pages of the portal: one script, one stylesheet, the page and its icon (portal/README.md). The same
 * sources give the same bytes. The names of script and stylesheet hold a hash of their content.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions } from 'esbuild';

const source = fileURLToPath(new URL('src/', import.meta.url));

export const portalBuild = {
  outdir: '/',
  bundle: true,
  write: false,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: ['es2022'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
} as const satisfies BuildOptions;

/**
 * Writes the pages into the folder, and removes what was there.
 * @param base the path of the portal, with a slash at both ends
 */
export async function buildPortal(folder: string, base = '/'): Promise<void> {
  const { outputFiles } = await build({
    ...portalBuild,
    absWorkingDir: source,
    entryPoints: { script: 'main.tsx', styles: 'style/style.css' },
  });
  const page = await readFile(join(source, 'index.html'), 'utf8');
  const icon = await readFile(join(source, 'favicon.svg'));
  const files = outputFiles.map(({ path, contents }) => {
    const hash = createHash('sha256').update(contents).digest('hex').slice(0, 10);
    return { name: `app-${hash}${path.slice(path.lastIndexOf('.'))}`, contents };
  });
  const nameOf = (ending: string): string => {
    const file = files.find(({ name }) => name.endsWith(ending));
    if (file === undefined) throw new Error(`The build of the portal made no ${ending}.`);
    return file.name;
  };
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await Promise.all([
    ...files.map(({ name, contents }) => writeFile(join(folder, name), contents)),
    writeFile(join(folder, 'favicon.svg'), icon),
    writeFile(
      join(folder, 'index.html'),
      page
        .replaceAll('app.js', nameOf('.js'))
        .replaceAll('app.css', nameOf('.css'))
        .replaceAll('{base}', base),
    ),
  ]);
}
