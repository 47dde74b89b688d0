/**
 * Builds the pages of the portal: scripts, one stylesheet, the page and its icon (portal/README.md). The same
 * sources give the same bytes. The names of scripts and stylesheet hold a hash of their content.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { minify } from 'terser';

const source = fileURLToPath(new URL('src/', import.meta.url));

export const portalBuild = {
  outdir: '/',
  bundle: true,
  write: false,
  minify: true,
  format: 'esm',
  splitting: true,
  platform: 'browser',
  target: ['es2022'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
} as const satisfies BuildOptions;

/**
 * A file that is loaded later loads main.tsx as well. So everything but the pages of such a file is in one chunk, which
 * the page loads by itself: of two files the first page would need one request more.
 */
const laterFiles: Plugin = {
  name: 'later-files',
  setup: (build) => {
    const isLater = /\/(operator\/pages|payments\/payments)\.tsx$/;
    build.onResolve({ filter: isLater }, ({ kind, resolveDir, path }) =>
      kind === 'dynamic-import' ? { path: join(resolveDir, path), namespace: 'later' } : undefined,
    );
    build.onLoad({ filter: /./, namespace: 'later' }, ({ path }) => ({
      contents: `import './main.tsx'; export * from ${JSON.stringify(path)};`,
      resolveDir: source,
    }));
    // The package says of itself that no file does anything by being loaded, and this one does.
    build.onResolve({ filter: /^\.\/main\.tsx$/ }, ({ resolveDir, path }) => ({
      path: join(resolveDir, path),
      sideEffects: true,
    }));
  },
};

/**
 * Members of the table of operations that only the functions need: pages read path, role, and a method but
 * GET.
 */
const unread =
  /\b(method: 'GET',|(function: '[\w-]+'|query: (\[[^\]]*\]|days)|isFresh: true|isLogged: false),?)/g;

const operationsOfPages: Plugin = {
  name: 'operations-of-pages',
  setup: (build) => {
    build.onLoad({ filter: /\/contract\/operations\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(unread, ''),
      loader: 'ts',
    }));
  },
};

/**
 * Writes the pages into the folder, and removes what was there.
 * @param base the path of the portal, with a slash at both ends
 */
export async function buildPortal(folder: string, base = '/'): Promise<void> {
  const { outputFiles } = await build({
    ...portalBuild,
    absWorkingDir: source,
    plugins: [laterFiles, operationsOfPages],
    entryPoints: { entry: 'main.tsx', styles: 'style/style.css' },
  });
  const page = await readFile(join(source, 'index.html'), 'utf8');
  const icon = await readFile(join(source, 'favicon.svg'));
  const built = await Promise.all(
    outputFiles.map(async ({ path, text }) => ({ name: path.slice(1), text: await smaller(path, text) })),
  );
  const files = hashed(built.filter(({ name }) => name !== 'entry.js'));
  if (new Set(files.map(({ name }) => name)).size < files.length)
    throw new Error(
      'Two files of the portal have one name: a file that is loaded later shares code with another.',
    );
  const nameOf = (kind: string): string => {
    const file = files.find(({ name }) => name.replace(/-[0-9a-f]{10}\./, '.') === kind);
    if (file === undefined) throw new Error(`The build of the portal made no ${kind}.`);
    return file.name;
  };
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await Promise.all([
    ...files.map(({ name, text }) => writeFile(join(folder, name), text)),
    writeFile(join(folder, 'favicon.svg'), icon),
    writeFile(
      join(folder, 'index.html'),
      page
        .replaceAll('app.js', nameOf('app.js'))
        .replaceAll('app.css', nameOf('app.css'))
        .replaceAll('{base}', base),
    ),
  ]);
}

/** Renames with terser, whose names compress better than those of esbuild: 1.3 KB of 60. */
async function smaller(path: string, text: string): Promise<string> {
  if (!path.endsWith('.js')) return text;
  const { code = text } = await minify(text, { module: true, ecma: 2020, compress: false });
  return code;
}

interface Built {
  readonly name: string;
  readonly text: string;
}

/** The names of the files, by those that esbuild gives. "entry.js" only loads the chunk. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/^pages-.*\.js$/, 'operator'],
  [/^payments-.*\.js$/, 'payments'],
  [/^chunk-.*\.js$/, 'app'],
  [/\.css$/, 'app'],
];

/** The same files under names with a hash. The scripts load each other, so all names have one common hash. */
function hashed(files: readonly Built[]): readonly Built[] {
  const kindOf = (name: string): string => kinds.find(([form]) => form.test(name))?.[1] ?? 'other';
  const isScript = ({ name }: Built): boolean => name.endsWith('.js');
  const scripts = files.filter(isScript);
  const named = (text: string, nameOf: (name: string) => string): string =>
    scripts.reduce((changed, { name }) => changed.replaceAll(name, nameOf(name)), text);
  const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 10);
  const all = hashOf(scripts.map(({ text }) => named(text, kindOf)).join(''));
  const scriptName = (name: string): string => `${kindOf(name)}-${all}.js`;
  return files.map((file) =>
    isScript(file)
      ? { name: scriptName(file.name), text: named(file.text, scriptName) }
      : { name: `${kindOf(file.name)}-${hashOf(file.text)}.css`, text: file.text },
  );
}
