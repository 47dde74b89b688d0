/** `npm run pack`: makes the package that runs without the repository, with its checksum. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Command } from 'commander';
import { makeImage } from '../start/packaging/image.ts';
import { makePackage, packInto } from '../start/packaging/package.ts';
import manifest from '../package.json' with { type: 'json' };

const { out, image } = new Command('npm run pack --')
  .description('Make the package that runs without the repository')
  .option('--out <folder>', 'where to write it', 'release')
  .option('--image', 'make the image of a container as well (on Linux)')
  .parse()
  .opts<{ out: string; image?: true }>();

const folder = resolve(out);
mkdirSync(folder, { recursive: true });
const made = join(folder, 'package');
await makePackage(made, (line) => console.error(line));
const files = [await packInto(folder, made)];
if (image) {
  const file = join(folder, `darkroom-${manifest.version}.oci.tar`);
  console.log(`image ${makeImage(made, manifest.version, file)}`);
  files.push(file);
}
const sums = files.map((file) => {
  const bytes = readFileSync(file);
  console.log(`${file}  ${(bytes.length / 1e6).toFixed(1)} MB`);
  return `${createHash('sha256').update(bytes).digest('hex')}  ${basename(file)}\n`;
});
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
