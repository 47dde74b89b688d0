/** `npm run pack`: makes the package that runs without the repository, with its checksum. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Command } from 'commander';
import { makePackage, packInto } from '../start/packaging/package.ts';

const { out } = new Command('npm run pack --')
  .description('Make the package that runs without the repository')
  .option('--out <folder>', 'where to write it', 'release')
  .parse()
  .opts<{ out: string }>();

const folder = resolve(out);
mkdirSync(folder, { recursive: true });
await makePackage(join(folder, 'package'), (line) => console.error(line));
const file = await packInto(folder, join(folder, 'package'));
const bytes = readFileSync(file);
const sum = createHash('sha256').update(bytes).digest('hex');
writeFileSync(join(folder, 'SHA256SUMS'), `${sum}  ${basename(file)}\n`);
console.log(`${file}  ${(bytes.length / 1e6).toFixed(1)} MB  sha256 ${sum}`);
