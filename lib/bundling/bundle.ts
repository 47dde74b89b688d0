/**
 * How a function's file becomes its bundle. A client waits for a cold start, two thirds
 * of which are V8 reading the bundle and Node loading modules of its own: what no function
 * of ours ever runs is left out (docs/decisions/0019).
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AssetHashType } from 'aws-cdk-lib';
import { Code, Runtime } from 'aws-cdk-lib/aws-lambda';
import { buildSync } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Lambda's credentials come from the environment: what reads them elsewhere is never loaded. */
const otherCredentials = [
  ...['sso', 'process', 'ini', 'web-identity', 'login', 'cognito-identity', 'http'].map(
    (name) => `@aws-sdk/credential-provider-${name}`,
  ),
  '@aws-sdk/nested-clients/*',
  '@smithy/credential-provider-imds',
];

/** Of the SDK's parts for browsers, which share its files. */
const browsers = ['bowser'];

/**
 * Loaded when an answer is a stream of events, which ours are not. A dynamic import of what
 * is inside the bundle also makes esbuild wrap every module that it reaches.
 */
const eventStreams = '@smithy/core/event-streams';

/**
 * Stand-ins, one file each. An ESM import of one of Node's own modules asks for all of its
 * names, and some of them load more: node:http all of fetch, node:process the terminal's streams.
 */
const standIns = {
  'mnemonist/lru-cache': 'lru-cache',
  'node:crypto': 'crypto',
  'node:http': 'http',
  'node:https': 'https',
  'node:process': 'process',
};

/**
 * Bundles a file of functions/ into one `index.mjs`, within CDK's own frame for it: what needs no
 * bundles (`cdk list`, a test of the template) makes none.
 *
 * @param entry in functions/, without its ending: "operations/get-creation"
 * @param holdsEventStreams whether a client of the SDK is in it that imports them whether it needs them or not
 */
export function bundle(entry: string, holdsEventStreams: boolean): Code {
  const tryBundle = (folder: string): boolean => {
    buildSync({
      entryPoints: [`functions/${entry}.ts`],
      outfile: join(folder, 'index.mjs'),
      absWorkingDir: root,
      bundle: true,
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
