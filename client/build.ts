/**
 * Builds the package into client/dist: one bundle for each entry and each program that package.json names,
 * and the declarations of every source that an entry names. `client/dist/src/NAME.js` comes from
 * `client/src/NAME.ts`, and `client/dist/bin/NAME.js` from `client/bin/NAME.ts`.
 *
 *   npm run build -w darkroom-client
 */
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import manifest from './package.json' with { type: 'json' };
import { writeDeclarations } from './declarations.ts';

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
      minifySyntax: true,
      minifyWhitespace: true,
      chunkNames: 'src/[name]-[hash]',
    }),
    programs.length > 0 &&
      build({ ...shared, entryPoints: programs.map(sourceOf), platform: 'node', minifySyntax: true }),
    writeDeclarations(root, sources, outdir),
  ]);
}

if (import.meta.main) await buildClient();
