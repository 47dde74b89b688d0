/**
 * What the AWS SDK brings into a bundle and no function needs: package files, descriptions of regions, and a class for
 * every error that a service can answer (17 KB for DynamoDB and Step Functions). The service asks nearly always for
 * the name of an error. An error without a class is thrown as the client's base class, with the same name and members.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import * as z from 'zod';

/** "n0_registry.registerError(ConflictException$, ConflictException);" as esbuild prints it without minifying. */
const registration = /^[\w$]+\.registerError\([\w$]+, ([\w$]+)\);\n/gm;
/** The class that represents every other error of its client. */
const isBaseClass = /ServiceException\d*$/;

/**
 * The text of a bundle, not minified, without the registrations of errors whose class nobody asks for by `instanceof`;
 * esbuild then removes the classes. Throws when a client of the SDK is there and no registration is found.
 */
export function withoutUnaskedErrors(bundle: string, inputs: readonly string[]): string {
  const asked = new Set([...bundle.matchAll(/instanceof ([\w$]+)/g)].map(([, name]) => name));
  const isKept = (name: string): boolean =>
    asked.has(name) || isBaseClass.test(name) || isMarkedAsPassing(bundle, name);
  let registrations = 0;
  const text = bundle.replace(registration, (statement, name: string) => {
    registrations += 1;
    return isKept(name) ? statement : '';
  });
  const hasClient = inputs.some((file) => /@aws-sdk\/client-[^/]+\/.*\/errors\.js$/.test(file));
  if (hasClient && registrations === 0) throw new Error('the bundle registers no error of the AWS SDK');
  return text;
}

/** The SDK repeats a call that failed with such an error, whatever its name. */
function isMarkedAsPassing(bundle: string, name: string): boolean {
  const start = bundle.search(
    new RegExp(`^(?:var ${name.replaceAll('$', '\\$')} = )?class (?:_)?${name.replaceAll('$', '\\$')} `, 'm'),
  );
  return start >= 0 && bundle.slice(start, bundle.indexOf('\n}', start)).includes('$retryable');
}

/**
 * Each client of the AWS SDK imports its whole package.json, and reads only the version from it, for the user
 * agent. The bundle keeps the version and leaves out the rest: 2.7 KB a client.
 */
const packageFile = z.object({ version: z.string() });

/**
 * The bundle's text with `{version:"…"}` instead of each package.json. Throws when a package.json is not
 * in the text as esbuild prints it: then this function has to follow esbuild.
 * @param inputs the bundled files of the AWS SDK, relative to `root`
 */
export function withoutPackageFiles(bundle: string, inputs: readonly string[], root: string): string {
  const packages = inputs.filter((file) => /^node_modules\/@aws-sdk\/[^/]+\/package\.json$/.test(file));
  return packages.reduce((text, file) => {
    const json = readFileSync(join(root, file), 'utf8');
    const { version } = packageFile.parse(JSON.parse(json));
    const whole = printed(json);
    if (text.split(whole).length !== 2) throw new Error(`${file} is not once in the bundle`);
    return text.replace(whole, () => printed(JSON.stringify({ version })));
  }, bundle);
}

/** A JSON value as esbuild prints it in a minified bundle. */
function printed(json: string): string {
  const { code } = transformSync(`x=${json}`, { minify: true, target: 'node24' });
  return code.trim().slice('x='.length, -1);
}

/** `"us-east-2": { "description": "US East (Ohio)" }` as esbuild prints it without minifying. */
const described = /("[a-z]+(?:-[a-z]+)+(?:-\d+)?"): \{\s*"?description"?: "[^"]*"\s*\}/g;

/**
 * The text of a bundle, not minified, with an empty object for each region. Throws when the list of regions is in the
 * bundle and has no description: then this function has to follow the SDK.
 */
export function withoutRegionNames(bundle: string, inputs: readonly string[]): string {
  const text = bundle.replace(described, '$1: {}');
  if (text === bundle && inputs.some((file) => file.endsWith('/lib/aws/partitions.js')))
    throw new Error('the AWS SDK describes no region');
  return text;
}

/**
 * The text of a bundle, not minified, without the adaptive mode of retries (3.4 KB), which no client here chooses.
 * Throws when the SDK's strategies are in the bundle and this mode is not: then this function has to follow the SDK.
 */
export function withoutAdaptiveRetries(bundle: string, inputs: readonly string[]): string {
  const text = bundle.replaceAll(/new AdaptiveRetryStrategy\(\w+, /g, 'new StandardRetryStrategy(');
  if (text === bundle && inputs.some((file) => file.endsWith('/util-retry/AdaptiveRetryStrategy.js')))
    throw new Error('the AWS SDK has no adaptive retries');
  return text;
}

/**
 * Code of the SDK that no function uses: by file, as esbuild prints it without minifying, and the
 * replacement.
 */
const unasked: readonly (readonly [file: string, made: string, instead: string])[] = [
  // Only events of a stream have such headers. The service sends none.
  ['/signature-v4/dist-es/SignatureV4.js', 'headerFormatter = new HeaderFormatter();', ''],
  // Lambda always names the region.
  ['/regionConfig/getInstanceMetadataRegion.js', 'getInstanceMetadataRegion()', 'void 0'],
];

/**
 * The text of a bundle, not minified, without the headers of signed events and without the question to EC2 for the
 * region (3.6 KB). Throws when the file is in the bundle and makes it in another form.
 */
export function withoutEventsAndEc2(bundle: string, inputs: readonly string[]): string {
  return unasked.reduce((text, [file, made, instead]) => {
    if (!inputs.some((input) => input.endsWith(file))) return text;
    if (!text.includes(made)) throw new Error(`the AWS SDK does not make "${made}"`);
    return text.replaceAll(made, instead);
  }, bundle);
}
