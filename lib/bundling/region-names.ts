/**
 * The AWS SDK knows a description of every region, such as "US East (Ohio)". No code reads a description: the SDK asks
 * only whether it knows the region. Without the descriptions every bundle is 2 KB smaller.
 */

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
