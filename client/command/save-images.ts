/** Downloads the images of a creation into files, and shows them to a person. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { checkedId, checkedImageType } from './checked.ts';
import type { Darkroom } from '../src/darkroom.ts';
import type { CompletedCreation } from '../src/types/index.ts';
import { replaceEntry } from './config/files.ts';
import { CommandError } from './exit-codes.ts';
import type { Session } from './session.ts';
import { inlineImage, protocolOf } from './terminal/inline-image.ts';

const endings: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
};
const formats: Readonly<Record<string, 'png' | 'jpeg' | 'webp'>> = {
  png: 'png',
  jpg: 'jpeg',
  jpeg: 'jpeg',
  webp: 'webp',
};

/** The output_format that the ending of a file name asks for. */
export function formatOf(file: string | undefined): 'png' | 'jpeg' | 'webp' | undefined {
  return formats[/\.(\w+)$/.exec(file ?? '')?.[1]?.toLowerCase() ?? ''];
}

/** Where the images go. Refuses a place that cannot be written, before anything is paid. */
export interface Target {
  /** The path of image number `index` (0 is the first) of a creation. */
  path(creation: CompletedCreation, index: number): string;
}

export async function targetOf({ io }: Session, output: string | undefined): Promise<Target> {
  const wanted = output === undefined ? io.folder : resolve(io.folder, output);
  const found = await stat(wanted).catch(() => undefined);
  const isFolder = found?.isDirectory() === true;
  await mustBeWritable(isFolder ? wanted : dirname(wanted));
  return {
    path: ({ id, results }, index) => {
      const number = results.length > 1 ? `-${index + 1}` : '';
      if (!isFolder) return number === '' ? wanted : wanted.replace(/(\.\w+)?$/, `${number}$1`);
      const name = checkedId(id);
      const type = checkedImageType(results[index]?.content_type);
      return join(wanted, `${name}${number}.${endings[type] ?? 'bin'}`);
    },
  };
}

/** A folder can refuse a file for many reasons, so a small folder is made in it and removed. */
async function mustBeWritable(folder: string): Promise<void> {
  try {
    await rm(await mkdtemp(join(folder, '.darkroom-')), { recursive: true });
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const fix =
      code === 'ENOENT' ? 'Make the folder, or choose another one with -o.' : 'Choose another place with -o.';
    throw new CommandError('usage', `Nothing can be written into ${folder} (${code}).`, fix, { cause });
  }
}

/** Saves every image of the creation, and gives the paths in the order of the results. */
export async function saveImages(
  { io, options }: Session,
  client: Darkroom,
  creation: CompletedCreation,
  { target, shows }: { readonly target: Target; readonly shows: boolean },
): Promise<readonly string[]> {
  const files: string[] = [];
  for (const [index, result] of creation.results.entries()) {
    const file = target.path(creation, index);
    const blob = await client.results.download(result, { signal: io.signal });
    const bytes = new Uint8Array(await blob.arrayBuffer());
    // As every program does, the person's umask decides who may read the picture.
    await replaceEntry(file, bytes, 0o666);
    files.push(file);
    const protocol = shows && options.json !== true && io.err.isTTY ? protocolOf(io) : undefined;
    const shown = protocol && inlineImage(protocol, bytes, result.content_type);
    if (shown !== undefined) io.err.write(shown);
  }
  return files;
}
