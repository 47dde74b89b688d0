/**
 * Makes the package that runs without the repository: the programs in one folder of bundles, and the synthesized stack
 * with the bundles of its functions and its pages.
 */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { writeBundle } from '../../lib/bundling/bundle.ts';
import { modulesOf } from '../../lib/bundling/bundle-text.ts';
import manifest from '../../package.json' with { type: 'json' };
import { constructTypes } from './construct-types.ts';
import { billOfMaterials, notices, partsOf } from './contents.ts';
import { toolchainLock } from './toolchain-lock.ts';
import { synthesizedTemplate } from '../synthesized-template.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The oldest Node that has all that the bundles use, such as process.threadCpuUsage. */
const oldestNode = '22.19.0';

/** Files that the programs read at run time. In the package they lie where they lie in the repository. */
const readFiles = [
  'local/lambda/worker-boot.mjs',
  'service/catalog',
  'docs/openapi.json',
  'docs/operator-openapi.json',
  'statemachines',
];

/** The commands of the repository, as the texts of the programs name them, and those of the package. */
const commandNames = [
  [/npm run (admin|preflight|smoke|demo)(?: --)?/g, 'darkroom $1'],
  [/npm start(?: --)?/g, 'darkroom start'],
] as const;

/**
 * A module of the repository keeps its path: `import.meta.url` is the path of its source below the folder of
 * the package. A thread starts from a bundle of its own.
 */
const places: Plugin = {
  name: 'places',
  setup: (bundling) => {
    bundling.onResolve({ filter: /\/synthesized-template\.ts$/ }, () => ({
      path: join(root, 'start/packaging/shipped-template.ts'),
    }));
    bundling.onResolve({ filter: /\/bundling\/bundle\.ts$/ }, () => ({
      path: join(root, 'start/packaging/shipped-bundle.ts'),
    }));
    bundling.onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
      const place = JSON.stringify(relative(root, path));
      const text = readFileSync(path, 'utf8')
        .replaceAll(/new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g, "new URL('./$1.mjs', packageBundle)")
        .replaceAll('import.meta.url', `new URL(${place}, packageRoot).href`);
      return {
        contents: commandNames.reduce((changed, [from, to]) => changed.replaceAll(from, to), text),
        loader: path.endsWith('x') ? 'tsx' : 'ts',
      };
    });
  },
};

/** What the construct requires of its user. */
const peers = ['aws-cdk-lib', 'constructs'];

/** Returns the modules that the bundles hold. */
async function bundlePrograms(folder: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      'dist/darkroom': 'bin/packaged.ts',
      'dist/interpreter-thread': 'local/step-functions/interpreter-thread.ts',
      'cdk/index': 'lib/darkroom.ts',
      'cdk/app': 'start/packaging/shipped-app.ts',
    },
    outdir: folder,
    chunkNames: 'dist/[name]-[hash]',
    external: peers.flatMap((name) => [name, `${name}/*`]),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    minify: true,
    keepNames: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    plugins: [places],
    banner: {
      // Packages in the form CommonJS ask for `require`.
      js: "import{createRequire as makeRequire}from'node:module';const packageBundle=import.meta.url,packageRoot=new URL('../',packageBundle),require=makeRequire(packageBundle);",
    },
  });
  return modulesOf(metafile);
}

/** Plain JavaScript that every Node can read, so that an old one gets a sentence. */
const entry = `#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 19)) import('./dist/darkroom.mjs');
else {
  console.error('Darkroom needs Node ${oldestNode} or newer; this is ' + process.version + '. Install a newer one from nodejs.org.');
  process.exitCode = 1;
}
`;

/** Writes the folder of the package. The same sources and packages give the same bytes. */
export async function makePackage(folder: string, progress: (line: string) => void): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const template = await synthesizedTemplate(progress);
  progress('Bundling the programs …');
  cpSync(dirname(template), join(folder, 'cloud'), {
    recursive: true,
    filter: (path) => !/validation-report|\/compiled(\/|$)/.test(path),
  });
  // The command cdk requires this file. Its usual content has the paths of the sources on this machine.
  writeFileSync(join(folder, 'cloud/Darkroom.metadata.json'), '{}\n');
  for (const file of readFiles)
    cpSync(join(root, file), join(folder, file), {
      recursive: true,
      filter: (path) => !path.endsWith('.ts'),
    });
  // The default settings have no canary.
  mkdirSync(join(folder, 'cloud/Canary'));
  writeBundle(join(folder, 'cloud/Canary'), { entry: 'canary' });
  const modules = await bundlePrograms(folder);
  writeFileSync(join(folder, 'cdk/index.d.ts'), constructTypes());
  writeFileSync(join(folder, 'cdk/toolchain.json'), toolchainLock());
  const { version, description, license } = manifest;
  const parts = await partsOf(modules);
  const published = {
    ...{ name: 'darkroom', version, description, license, type: 'module' },
    bin: { darkroom: 'darkroom.js' },
    exports: {
      './cdk': { types: './cdk/index.d.ts', default: './cdk/index.mjs' },
      './package.json': './package.json',
    },
    engines: { node: `>=${oldestNode}` },
    // Without peers: npm asks the registry about optional ones, too, and an installation without a network waits.
  };
  writeFileSync(join(folder, 'darkroom.js'), entry);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  writeFileSync(join(folder, 'sbom.cdx.json'), billOfMaterials(version, parts));
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES'), notices(parts));
  cpSync(join(root, 'start/packaging/README.md'), join(folder, 'README.md'));
  // The umask of the builder changes nothing.
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    chmodSync(path, statSync(path).isDirectory() || name === 'darkroom.js' ? 0o755 : 0o644);
  }
}

/** Packs the folder, and gives the path of the file. npm gives each file the same time and the same owner. */
export async function packInto(out: string, folder: string): Promise<string> {
  const options = { cwd: folder, shell: process.platform === 'win32' };
  const { stdout } = await promisify(execFile)(
    'npm',
    ['pack', '--silent', '--pack-destination', out],
    options,
  );
  return join(out, stdout.trim());
}
