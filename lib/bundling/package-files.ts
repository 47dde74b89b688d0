/**
 * Each client of the AWS SDK imports its whole package.json, and reads only the version from it, for the user
 * agent. The bundle keeps the version and leaves out the rest: 2.7 KB a client.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { transformSync } from 'esbuild';

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
