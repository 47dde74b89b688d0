/**
 * The npm packages inside the package, as the bundler reports them: their list (CycloneDX 1.6) and notices.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import lock from '../../package-lock.json' with { type: 'json' };
import { bundleOptions, dataOnDemand, modulesOf, modulesOnDemand } from '../../lib/bundling/bundle-text.ts';
import { portalBuild } from '../../portal/build.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const locked = lock.packages as Readonly<
  Record<string, { readonly version?: string; readonly license?: string }>
>;

/** What is copied from packages: codecs, and the script of the reference page (service/document/reference/build.ts). */
const copied = [
  ...Object.values(dataOnDemand).flat(),
  'node_modules/@scalar/fastify-api-reference/package.json',
];

/** One package of npm, installed at this path of the repository. */
export interface Part {
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** By SPDX. */
  readonly license: string;
}

/** The packages of these modules and of all that is shipped as data, by their names. */
export async function partsOf(modules: readonly string[]): Promise<readonly Part[]> {
  const functions = globSync('functions/**/*.ts', { cwd: root });
  const onDemand = Object.keys(modulesOnDemand);
  const shared = { outdir: root, logLevel: 'error' } as const;
  const builds = await Promise.all([
    build({ ...bundleOptions(functions, false), ...shared, entryPoints: functions }),
    build({ ...bundleOptions(onDemand, true), ...shared, entryPoints: onDemand }),
    build({ ...portalBuild, metafile: true, absWorkingDir: root, entryPoints: ['portal/src/main.tsx'] }),
  ]);
  const all = [...modules, ...builds.flatMap(({ metafile }) => modulesOf(metafile)), ...copied];
  const paths = new Set(all.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  return [...paths].map(partAt).sort((a, b) => (a.path < b.path ? -1 : 1));
}

function partAt(path: string): Part {
  const { version, license } = locked[path] ?? {};
  if (version === undefined || license === undefined)
    throw new Error(`package-lock.json has no version or no licence of ${path}`);
  return {
    path,
    name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    version,
    license,
  };
}

/** A bill of materials. The same contents give the same bytes. */
export function billOfMaterials(version: string, parts: readonly Part[]): string {
  const components = parts.map(({ name, version: own, license }) => ({
    type: 'library',
    'bom-ref': `${name}@${own}`,
    name,
    version: own,
    purl: `pkg:npm/${name.replace('@', '%40')}@${own}`,
    licenses: [license.startsWith('(') ? { expression: license } : { license: { id: license } }],
  }));
  const component = { type: 'application', name: 'darkroom', version };
  const unique = [...new Map(components.map((one) => [one['bom-ref'], one])).values()];
  const bill = { bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata: { component } };
  return `${JSON.stringify({ ...bill, components: unique }, null, 1)}\n`;
}

/** The texts of the licences and notices, each text once with the packages that it belongs to. */
export function notices(parts: readonly Part[]): string {
  const texts = Map.groupBy(parts, ({ path, license }) => {
    const files = readdirSync(join(root, path)).filter((name) => /^(licen[cs]e|notice|copying)/i.test(name));
    const found = files.map((name) => readFileSync(join(root, path, name), 'utf8').trim());
    return found.join('\n\n') || `The package names its licence, ${license}, and has no text of the licence.`;
  });
  const entries = [...texts].map(([text, of]) => {
    const names = of.map(({ name, version, license }) => `${name} ${version} (${license})`);
    return `${names.join('\n')}\n\n${text}\n`;
  });
  return entries.join(`\n${'-'.repeat(78)}\n\n`);
}
