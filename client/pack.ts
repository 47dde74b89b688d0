/**
 * Packs the client as `npm pack` does, but without npm, for the address from which people install it. The same
 * sources give the same bytes.
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildClient } from './build.ts';

const root = fileURLToPath(new URL('.', import.meta.url));
const blockBytes = 512;
/** The time of every file, in seconds. npm takes the same. */
const packedAt = 499_162_500;

/** Writes `client/darkroom-client.tgz`, and its checksum for `sha256sum -c`, below the folder. */
export async function writePackage(folder: string): Promise<void> {
  const dist = await mkdtemp(join(tmpdir(), 'darkroom-client-'));
  try {
    await buildClient(dist);
    const built = await readdir(dist, { recursive: true, withFileTypes: true });
    const files = built.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
    const named = [
      ...['package.json', 'README.md'].map((name) => [name, join(root, name)] as const),
      ...files.map((file) => [`dist/${relative(dist, file).replaceAll(sep, '/')}`, file] as const),
    ];
    const blocks: Buffer[] = [];
    for (const [name, file] of named.toSorted(([one], [other]) => (one < other ? -1 : 1)))
      blocks.push(...entry(`package/${name}`, await readFile(file)));
    const packed = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]), { level: 9 });
    const hash = createHash('sha256').update(packed).digest('hex');
    await mkdir(join(folder, 'client'), { recursive: true });
    await writeFile(join(folder, 'client/darkroom-client.tgz'), packed);
    await writeFile(join(folder, 'client/darkroom-client.tgz.sha256'), `${hash}  darkroom-client.tgz\n`);
  } finally {
    await rm(dist, { recursive: true, force: true });
  }
}

/** A file of a tar archive in the form ustar: a header, then the bytes up to a whole block. */
function entry(name: string, bytes: Buffer): Buffer[] {
  if (name.length > 100) throw new Error(`${name}: a name in the package has up to 100 characters`);
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');
  header.write(name, 0);
  header.write(octal(0o644, 7), 100);
  header.write(octal(bytes.length, 11), 124);
  header.write(octal(packedAt, 11), 136);
  // The checksum counts its own field as blanks.
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar\0', 257);
  header.write('00', 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0`, 148);
  return [header, bytes, Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes)];
}
