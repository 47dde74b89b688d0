/**
 * Makes the bundle of a function. Two thirds of a cold start are spent on reading the bundle and on loading modules
 * of Node. So the bundle leaves out code that no function of the service runs (docs/decisions/0021).
 */
import { cpSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AssetHashType } from 'aws-cdk-lib';
import { Code, Runtime } from 'aws-cdk-lib/aws-lambda';
import { bundleText, dataOnDemand, functionText, modulesOnDemand } from './bundle-text.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Files that a function reads at run time. */
export interface BundledFolder {
  readonly from: string;
  /** The name of the folder beside index.mjs. */
  readonly as: string;
}

/** A function to bundle. */
export interface Bundled {
  /** The id of its construct, by which the package finds the bundle (start/packaging/shipped-bundle.ts). */
  readonly id: string;
  /** The path in functions/ without `.ts`: "get-creation". */
  readonly entry: string;
  readonly folder?: BundledFolder | undefined;
}

/**
 * Bundles a file of functions/ into one `index.mjs`, with a file beside it for each module that the function loads
 * only when it needs the module.
 */
export function writeBundle(folder: string, { entry, folder: files }: Omit<Bundled, 'id'>): void {
  const text = functionText(`functions/${entry}.ts`);
  writeFileSync(join(folder, 'index.mjs'), text);
  writeFilesOnDemand(folder, text);
  if (files) cpSync(files.from, join(folder, files.as), { recursive: true });
}

/** The CDK makes a bundle only when it needs one: `cdk list` and tests of the template make no bundles. */
export function bundle(bundled: Bundled): Code {
  const tryBundle = (folder: string): boolean => {
    writeBundle(folder, bundled);
    return true;
  };
  return Code.fromAsset(join(root, 'functions'), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      local: { tryBundle },
      // CDK requires an image, which is never used. The environment makes each function's options different:
      // with equal source and options CDK would use the first function's bundle for all.
      image: Runtime.NODEJS_24_X.bundlingImage,
      environment: { ENTRY: bundled.entry },
    },
  });
}

/** A module on demand may load others. */
function writeFilesOnDemand(folder: string, text: string): void {
  for (const [module, file] of Object.entries(modulesOnDemand))
    if (text.includes(`import("./${file}")`)) {
      const loaded = bundleOnDemand(module);
      writeFileSync(join(folder, file), loaded);
      for (const data of dataOnDemand[file] ?? []) cpSync(join(root, data), join(folder, basename(data)));
      writeFilesOnDemand(folder, loaded);
    }
}

/** Three functions hold the same file. */
const bundledBefore = new Map<string, string>();

function bundleOnDemand(module: string): string {
  const text = bundledBefore.get(module) ?? bundleText({ entryPoints: [module] }, true);
  bundledBefore.set(module, text);
  return text;
}
