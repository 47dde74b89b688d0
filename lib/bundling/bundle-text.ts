/** The text of a bundle: one file with everything that a function runs, and as little else as can be. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync, transformSync, type BuildOptions, type Metafile } from 'esbuild';
import { withPackedJson } from './packed-json.ts';
import {
  withoutAdaptiveRetries,
  withoutEventsAndEc2,
  withoutPackageFiles,
  withoutRegionNames,
  withoutUnaskedErrors,
} from './unread-sdk.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Lambda puts credentials into the environment. So the SDK never loads these other sources of credentials. */
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
 * The SDK imports this module dynamically for answers that are streams of events, which the service never asks for.
 * If the module were in the bundle, esbuild would wrap every module that the dynamic import reaches.
 */
const eventStreams = '@smithy/core/event-streams';

/**
 * Replacements for modules, one file each in stand-ins/. An ESM import of a module of Node evaluates all of its
 * exports, and some load more modules: node:http loads all of fetch.
 */
const standIns = {
  'node:crypto': 'crypto',
  'node:http': 'http',
  'node:https': 'https',
  'node:process': 'process',
  '@aws-sdk/credential-provider-node': 'credentials',
  '@aws-sdk/middleware-endpoint-discovery': 'endpoint-discovery',
  '@aws/lambda-invoke-store': 'invoke-store',
  '@modelcontextprotocol/server/_shims': 'mcp-validator',
};
/**
 * Modules that a function loads only when it needs them, each with the name of its file beside index.mjs. The file
 * has everything that the module needs, but for other modules on demand. It shares no class with index.mjs: nothing
 * may ask for such a class by `instanceof`.
 */
export const modulesOnDemand: Readonly<Record<string, string>> = {
  'service/generate/mask-problem.ts': 'mask-problem.mjs',
  'service/render/pixels/mask.ts': 'mask.mjs',
  'service/render/pixels/transparency.ts': 'pixels.mjs',
  'service/creations/result-signer.ts': 'result-signer.mjs',
  'service/render/thumbnails/make.ts': 'thumbnails.mjs',
  'service/render/thumbnails/webp.ts': 'webp.mjs',
  'service/vendors/bedrock.ts': 'bedrock.mjs',
};

/** The data that a file on demand reads, which lies beside it. */
export const dataOnDemand: Readonly<Record<string, readonly string[]>> = {
  'mask.mjs': ['node_modules/@cwasm/jpeg-turbo/jpeg-turbo.wasm'],
  'thumbnails.mjs': [
    'node_modules/@cwasm/jpeg-turbo/jpeg-turbo.wasm',
    'node_modules/@jsquash/webp/codec/enc/webp_enc_simd.wasm',
  ],
  'webp.mjs': ['node_modules/@jsquash/webp/codec/dec/webp_dec.wasm'],
};

/** Event streams need another checksum of the same module. */
const withoutEventStreams = { '@smithy/core/checksum': 'checksum' };

/** The options of a bundle with these entries. They decide which modules it holds. */
export function bundleOptions(entries: readonly unknown[], isOnDemand: boolean) {
  return {
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    // Dependencies that are CommonJS ask for Node's own modules by require.
    banner: { js: 'const require=process.getBuiltinModule;' },
    external: [
      ...otherCredentials,
      ...browsers,
      ...(isOnDemand ? [] : [eventStreams]),
      ...Object.keys(modulesOnDemand).flatMap((module) => (entries.includes(module) ? [] : [`.//${module}`])),
    ],
    alias: Object.fromEntries(
      Object.entries({ ...standIns, ...(isOnDemand ? {} : withoutEventStreams) }).map(([module, name]) => [
        module,
        join(root, `lib/bundling/stand-ins/${name}.ts`),
      ]),
    ),
  } as const satisfies BuildOptions;
}

/** The modules of bundles. A file that is imported and never used gives no byte. */
export function modulesOf({ outputs }: Metafile): string[] {
  return Object.values(outputs).flatMap(modulesIn);
}

function modulesIn({ inputs }: Pick<Metafile['outputs'][string], 'inputs'>): string[] {
  return Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []));
}

interface Built {
  readonly text: string;
  readonly modules: readonly string[];
}

/** By the path of the function. All are built at once, so that esbuild reads and parses each file once. */
const builtFunctions = new Map<string, Built>();

function builtFunction(path: string): Built {
  if (builtFunctions.size === 0) {
    const entryPoints = globSync('functions/*.ts', { cwd: root });
    const { outputFiles, metafile } = buildSync({
      ...bundleOptions(entryPoints, false),
      entryPoints,
      outdir: '.',
    });
    for (const [file, output] of Object.entries(metafile.outputs))
      builtFunctions.set(output.entryPoint ?? '', {
        text: outputFiles.find((one) => one.path === join(root, file))?.text ?? '',
        modules: modulesIn(output),
      });
  }
  const built = builtFunctions.get(path);
  if (built === undefined) throw new Error(`${path} is no function`);
  return built;
}

function builtAlone(entry: Pick<BuildOptions, 'entryPoints' | 'stdin'>, isOnDemand: boolean): Built {
  const options = bundleOptions([entry.entryPoints].flat(), isOnDemand);
  const { outputFiles, metafile } = buildSync({ ...options, ...entry, outfile: 'index.mjs' });
  return { text: outputFiles.map((file) => file.text).join(''), modules: modulesOf(metafile) };
}

/** Bundles a function. @param path such as "functions/get-creation.ts" */
export function functionText(path: string): string {
  return shortened(builtFunction(path), false);
}

/**
 * Bundles an entry: a file, or a text with `stdin`.
 * @param isOnDemand the entry is a module on demand. The client of Bedrock imports the event streams of the SDK
 *   statically, so its file holds them.
 */
export function bundleText(entry: Pick<BuildOptions, 'entryPoints' | 'stdin'>, isOnDemand: boolean): string {
  return shortened(builtAlone(entry, isOnDemand), isOnDemand);
}

function shortened({ text, modules: inputs }: Built, isOnDemand: boolean): string {
  const asked = withoutAdaptiveRetries(withoutUnaskedErrors(text, inputs), inputs);
  const needed = withoutRegionNames(isOnDemand ? asked : withoutEventsAndEc2(asked, inputs), inputs);
  const small = withoutPackageFiles(minified(needed), inputs, root);
  return withFilesOnDemand(withPackedJson(small, inputs, root));
}

/** esbuild names an external module by its path from the root. */
function withFilesOnDemand(text: string): string {
  return Object.entries(modulesOnDemand).reduce(
    (changed, [module, file]) => changed.replaceAll(`import("./${module}")`, `import("./${file}")`),
    text,
  );
}

/** The second pass, which also drops what nothing refers to any more. */
function minified(text: string): string {
  return transformSync(text, {
    minify: true,
    treeShaking: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
  }).code;
}
