/**
 * Builds the package into client/dist: one bundle for each entry and each program that package.json names,
 * and the declarations of every source that an entry names. `client/dist/src/NAME.js` comes from
 * `client/src/NAME.ts`, and `client/dist/bin/NAME.js` from `client/bin/NAME.ts`.
 *
 *   npm run build -w darkroom-client
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type OutputFile } from 'esbuild';
import { minify } from 'terser';
import ts from 'typescript';
import manifest from './package.json' with { type: 'json' };

/**
 * Writes the declarations of the package, one file at a time and without a program: `isolatedDeclarations`
 * (client/tsconfig.json) makes sure that each file says all that its declaration needs.
 */
const relativeImport = /(?<=(?:from|import\() ?')(\.{1,2}\/[^']+)\.ts(?=')/g;

/** The declarations of these sources, and of every source that a declaration names. */
async function writeDeclarations(root: string, sources: readonly string[], outdir: string): Promise<void> {
  const open = [...sources];
  const seen = new Set<string>();
  for (let source = open.pop(); source !== undefined; source = open.pop()) {
    if (seen.has(source)) continue;
    seen.add(source);
    const text = declarationOf(source, await readFile(join(root, source), 'utf8'));
    for (const [, imported = ''] of text.matchAll(relativeImport)) {
      open.push(join(dirname(source), `${imported}.ts`));
    }
    const file = join(outdir, source.replace(/\.ts$/, '.d.ts'));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text.replaceAll(relativeImport, '$1.js'));
  }
}

function declarationOf(source: string, text: string): string {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(text, {
    fileName: source,
    reportDiagnostics: true,
    compilerOptions: { isolatedDeclarations: true, declaration: true, stripInternal: true },
  });
  const [first] = diagnostics;
  if (first) throw new Error(`${source}: ${ts.flattenDiagnosticMessageText(first.messageText, '\n')}`);
  return outputText;
}

const root = fileURLToPath(new URL('.', import.meta.url));

/** The oldest runtime of `engines`. */
const target = ['node20', 'es2022'];

/** The files of dist that package.json names. */
function named(): { readonly entries: readonly string[]; readonly programs: readonly string[] } {
  const exported = Object.values<string | { default: string }>(manifest.exports);
  const { bin = {} } = manifest as { bin?: Readonly<Record<string, string>> };
  return {
    entries: exported.flatMap((one) => (typeof one === 'string' ? [] : [one.default])),
    programs: Object.values(bin),
  };
}

const sourceOf = (file: string): string => file.replace(/^(?:\.\/)?dist\//, '').replace(/\.js$/, '.ts');

/**
 * Minifies with terser: its names compress better than those of esbuild, and values used once are inlined.
 */
async function writeSmaller({ path, text }: OutputFile): Promise<void> {
  const { code = text } = await minify(text, { module: true, ecma: 2020 });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, code);
}

export async function buildClient(outdir: string = `${root}dist`): Promise<void> {
  const { entries, programs } = named();
  await rm(outdir, { recursive: true, force: true });
  const shared = { absWorkingDir: root, outdir, outbase: '.', bundle: true, format: 'esm', target } as const;
  const sources = entries.map(sourceOf);
  await Promise.all([
    // The library runs on every runtime, so an import of a module of Node is an error here.
    build({
      ...shared,
      entryPoints: sources,
      platform: 'neutral',
      splitting: true,
      minify: true,
      write: false,
      chunkNames: 'src/[name]-[hash]',
    }).then(async ({ outputFiles }) => Promise.all(outputFiles.map(writeSmaller))),
    programs.length > 0 &&
      build({
        ...shared,
        entryPoints: programs.map(sourceOf),
        platform: 'node',
        minifySyntax: true,
        minifyWhitespace: true,
      }),
    writeDeclarations(root, sources, outdir),
  ]);
}

if (import.meta.main) await buildClient();
