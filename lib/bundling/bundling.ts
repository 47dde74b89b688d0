/**
 * How a function's file becomes its bundle. A client waits for a cold start, half of which
 * is V8 reading the bundle and Node loading modules of its own, so that what no function
 * of ours ever runs is left out (docs/decisions/0019).
 */
import { fileURLToPath } from 'node:url';
import { OutputFormat, type BundlingOptions } from 'aws-cdk-lib/aws-lambda-nodejs';

/** Lambda's credentials come from the environment: what reads them elsewhere is never loaded. */
const otherCredentials = [
  ...['sso', 'process', 'ini', 'web-identity', 'login', 'cognito-identity', 'http'].map((name) => `@aws-sdk/credential-provider-${name}`),
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
const standIns = { 'mnemonist/lru-cache': 'lru-cache', 'node:crypto': 'crypto', 'node:http': 'http', 'node:https': 'https', 'node:process': 'process' };

/** @param holdsEventStreams Whether a client of the SDK is in it that imports them whether it needs them or not. */
export function bundling(holdsEventStreams: boolean): BundlingOptions {
  return {
    format: OutputFormat.ESM,
    target: 'node24',
    mainFields: ['module', 'main'],
    minify: true,
    keepNames: false,
    // Dependencies that are CommonJS ask for Node's own modules by require.
    banner: 'const require=process.getBuiltinModule;',
    externalModules: [...otherCredentials, ...browsers, ...(holdsEventStreams ? [] : [eventStreams])],
    bundleAwsSDK: true,
    esbuildArgs: Object.fromEntries(
      Object.entries(standIns).map(([module, name]) => [`--alias:${module}`, fileURLToPath(new URL(`stand-ins/${name}.ts`, import.meta.url))]),
    ),
  };
}
