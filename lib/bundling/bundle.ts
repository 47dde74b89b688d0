/**
 * Makes the bundle of a function. Two thirds of a cold start are spent on reading the bundle
 * and on loading modules of Node. So the bundle leaves out code that no function of the
 * service runs (docs/decisions/0019).
 */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AssetHashType } from 'aws-cdk-lib';
import { Code, Runtime } from 'aws-cdk-lib/aws-lambda';
import { buildSync } from 'esbuild';
import { withoutPackageFiles } from './package-files.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Lambda puts credentials into the environment. So the SDK never loads these other sources of credentials.
 */
const otherCredentials = [
  ...['sso', 'process', 'ini', 'web-identity', 'login', 'cognito-identity', 'http'].map(
    (name) => `@aws-sdk/credential-provider-${name}`,
  ),
  '@aws-sdk/nested-clients/*',
  '@smithy/credential-provider-imds',
];

/** Modules that only browsers need. The SDK imports them from files that Node loads, too. */
const browsers = ['bowser'];

/**
 * The SDK imports this module dynamically for answers that are streams of events, which the
 * service never asks for. If the module were in the bundle, esbuild would wrap every module
 * that the dynamic import reaches.
 */
const eventStreams = '@smithy/core/event-streams';

/**
 * Replacements for modules, one file each in stand-ins/. An ESM import of a module of Node
 * evaluates all of its exports, and some exports load more modules: node:http loads all of
 * fetch, and node:process loads the streams of the terminal.
 */
const standIns = {
  'mnemonist/lru-cache': 'lru-cache',
  'node:crypto': 'crypto',
  'node:http': 'http',
  'node:https': 'https',
  'node:process': 'process',
};

/** Files that a function reads at run time. */
export interface BundledFolder {
  readonly from: string;
  /** The name of the folder beside index.mjs. */
  readonly as: string;
}

/**
 * Bundles a file of functions/ into one `index.mjs`. The CDK asks for the bundle only when it
 * needs one: `cdk list` and tests of the template make no bundles.
 *
 * @param entry the path in functions/ without `.ts`: "operations/get-creation"
 * @param holdsEventStreams true when a client in the bundle imports the event streams of the SDK statically
 * @param files a folder that the function reads at run time
 */
export function bundle(entry: string, holdsEventStreams: boolean, files?: BundledFolder): Code {
  const tryBundle = (folder: string): boolean => {
    const { outputFiles, metafile } = buildSync({
      entryPoints: [`functions/${entry}.ts`],
      outfile: join(folder, 'index.mjs'),
      absWorkingDir: root,
      bundle: true,
      write: false,
      metafile: true,
      minify: true,
      platform: 'node',
      target: 'node24',
      format: 'esm',
      mainFields: ['module', 'main'],
      // Dependencies that are CommonJS ask for Node's own modules by require.
      banner: { js: 'const require=process.getBuiltinModule;' },
      external: [...otherCredentials, ...browsers, ...(holdsEventStreams ? [] : [eventStreams])],
      alias: Object.fromEntries(
        Object.entries(standIns).map(([module, name]) => [
          module,
          join(root, `lib/bundling/stand-ins/${name}.ts`),
        ]),
      ),
    });
    for (const { path, text } of outputFiles)
      writeFileSync(path, withoutPackageFiles(text, Object.keys(metafile.inputs), root));
    if (files) cpSync(files.from, join(folder, files.as), { recursive: true });
    return true;
  };
  return Code.fromAsset(join(root, 'functions'), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      local: { tryBundle },
      // For a container, which is asked for and never used. Its environment tells the functions apart:
      // with the same source and settings CDK would take the first one's bundle for every one.
      image: Runtime.NODEJS_24_X.bundlingImage,
      environment: { ENTRY: entry },
    },
  });
}
